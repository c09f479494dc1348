package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/daemon/page"
	"braid/daemon/queue"
)

func get(t *testing.T, ctx context.Context, url string, fields ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestFiles checks that the files of the page refer to no other server and use nothing that the Content-Security-Policy
// forbids, and that the server sends this policy with each of them.
func TestFiles(t *testing.T) {
	s := site(t, newEngine())
	foreign := regexp.MustCompile(`(?:src|href|import|from|url\()\s*[=(]?\s*["']?(?:https?:)?//|innerHTML|insertAdjacentHTML|document\.write|\beval\(|setAttribute\("style|\son[a-z]+="|\sstyle="|<style|@import`)
	names, err := os.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/", "/page/picture.css"}
	for _, name := range names {
		if name.Name() != "index.html" {
			paths = append(paths, "/page/"+name.Name())
		}
		data, err := os.ReadFile("files/" + name.Name())
		if err != nil {
			t.Fatal(err)
		}
		if found := foreign.FindString(string(data)); found != "" {
			t.Errorf("%s has %q", name.Name(), found)
		}
		if n := strings.Count(string(data), "\n"); n > 400 {
			t.Errorf("%s has %d lines", name.Name(), n)
		}
	}
	for _, path := range paths {
		resp := get(t, t.Context(), s.URL+path)
		policy, tag := resp.Header.Get("Content-Security-Policy"), resp.Header.Get("ETag")
		kind := resp.Header.Get("Content-Type")
		if resp.StatusCode != 200 || !strings.HasPrefix(policy, "default-src 'none'; ") ||
			strings.Contains(policy, "unsafe") || !strings.HasSuffix(kind, "; charset=utf-8") || len(kind) < 20 ||
			resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %s %v", path, resp.Status, resp.Header)
		}
		if again := get(t, t.Context(), s.URL+path, "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %s where nothing has changed", path, again.Status)
		}
	}
	for _, path := range []string{"/x", "/page/", "/page/page.go", "/files/main.js"} {
		if resp := get(t, t.Context(), s.URL+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestAdmitted checks that a request without the token gets nothing about the queue.
func TestAdmitted(t *testing.T) {
	e := newEngine()
	g := e.add(t, "https://example.org/secret.iso", nil)
	s := site(t, e)
	for _, path := range []string{"/events", "/picture/" + g.String(), "/picture/x"} {
		for _, fields := range [][]string{nil, {"Authorization", "Bearer x"}, {"Authorization", token},
			{"Cookie", "token=" + token}} {
			if resp := get(t, t.Context(), s.URL+path+"?token="+token, fields...); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with %q: %s", path, fields, resp.Status)
			}
		}
	}
}

// An event holds the fields of a server-sent event that these tests read.
type event struct {
	id   string
	All  bool
	More bool
	Rows []struct {
		GID, Name, URL, Status, Verified, Message string
		Size, Done                                int64
	}
	Gone []string
	Live []struct {
		GID         string
		Done, Speed int64
	}
}

// listen opens the stream of events, with last as its Last-Event-ID. The function that it returns reads the next event.
func listen(t *testing.T, url, last string) (next func() event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	resp := get(t, ctx, url+"/events", "Authorization", "Bearer "+token, "Last-Event-ID", last)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" ||
		resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	lines := bufio.NewReader(resp.Body)
	return func() (ev event) {
		t.Helper()
		defer time.AfterFunc(time.Minute, cancel).Stop()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				ev.id = strings.TrimSpace(id)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &ev); err != nil {
					t.Fatal(err)
				}
				return ev
			}
		}
	}
}

// TestEvents checks that the first event has every entry and that later ones have only changes. A client that
// reconnects gets the changes since its last event or, if its ID is unknown, every entry again.
func TestEvents(t *testing.T) {
	e := newEngine()
	a, b := e.add(t, "https://example.org/a", nil), e.add(t, "https://example.org/b", nil)
	s := site(t, e)
	next := listen(t, s.URL, "")
	first := next()
	if !first.All || len(first.Rows) != 2 || first.Rows[0].Name != "a" || first.id == "" || len(first.Live) != 0 {
		t.Fatalf("first %+v", first)
	}
	e.do(func(q *queue.Queue) { q.Start(time.Now()) })
	ev := next()
	if ev.All || len(ev.Rows) != 1 || ev.Rows[0].GID != a.String() || ev.Rows[0].Status != "active" || len(ev.Live) != 1 {
		t.Errorf("a began: %+v", ev)
	}
	e.do(func(q *queue.Queue) { q.Progress(a, queue.Live{Done: 3, Size: 9, Speed: 2}) })
	if ev = next(); len(ev.Rows) != 0 || len(ev.Live) != 1 || ev.Live[0].Speed != 2 || ev.Live[0].Done != 3 {
		t.Errorf("a goes on: %+v", ev)
	}
	e.do(func(q *queue.Queue) { q.Ended(time.Now(), a, queue.Outcome{Verified: "sha-256"}) })
	if ev = next(); len(ev.Rows) != 1 || ev.Rows[0].Status != "complete" || ev.Rows[0].Verified != "sha-256" ||
		ev.Rows[0].Done != 9 || len(ev.Live) != 0 {
		t.Errorf("a is complete: %+v", ev)
	}
	e.do(func(q *queue.Queue) { q.Forget(a) })
	if ev = next(); !slices.Equal(ev.Gone, []string{a.String()}) {
		t.Errorf("a is forgotten: %+v", ev)
	}
	if ev = listen(t, s.URL, first.id)(); ev.All || len(ev.Rows) != 0 || !slices.Equal(ev.Gone, []string{a.String()}) {
		t.Errorf("since the first: %+v", ev)
	}
	for _, id := range []string{"x", "0-1", "-", strings.Repeat("9", 99), "ABCDEFGHIJ-3"} {
		if ev = listen(t, s.URL, id)(); !ev.All || len(ev.Rows) != 1 || ev.Rows[0].GID != b.String() {
			t.Errorf("after %q: %+v", id, ev)
		}
	}
}

// TestManyEvents checks that 10,000 entries come in several events, of which only the last has an ID, so that a client
// can resume only after all of them.
func TestManyEvents(t *testing.T) {
	e := newEngine()
	e.do(func(q *queue.Queue) {
		for i := range 10_000 {
			q.Add(time.Now(), queue.Entry{URIs: []string{fmt.Sprintf("https://example.org/%d", i)}}, -1)
		}
	})
	next := listen(t, site(t, e).URL, "")
	seen := map[string]bool{}
	for i := 0; ; i++ {
		ev := next()
		for _, r := range ev.Rows {
			seen[r.GID] = true
		}
		if ev.All != (i == 0) || ev.More == (ev.id != "") {
			t.Fatalf("event %d: all %t, more %t, id %q", i, ev.All, ev.More, ev.id)
		}
		if !ev.More {
			break
		}
	}
	if len(seen) != 10_000 {
		t.Errorf("%d came", len(seen))
	}
}

// TestMostStreams checks that a stream beyond MostStreams is refused until another stream ends.
func TestMostStreams(t *testing.T) {
	e := newEngine()
	h := page.New(e, page.Options{Admit: newControl(t, e).Admit, MostStreams: 1})
	s := serve(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	get(t, ctx, s.URL+"/events", "Authorization", "Bearer "+token)
	if resp := get(t, t.Context(), s.URL+"/events", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a second stream: %s", resp.Status)
	}
	cancel()
	for end := time.Now().Add(time.Minute); ; {
		resp := get(t, t.Context(), s.URL+"/events", "Authorization", "Bearer "+token)
		if resp.Body.Close(); resp.StatusCode == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("there is no room again")
		}
	}
}

// TestEngineEnds checks that a stream ends when the engine returns an error.
func TestEngineEnds(t *testing.T) {
	e := newEngine()
	s := site(t, e)
	resp := get(t, t.Context(), s.URL+"/events", "Authorization", "Bearer "+token)
	e.mu.Lock()
	e.down = true
	e.mu.Unlock()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
	}
	if resp := get(t, t.Context(), s.URL+"/events", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new one: %s", resp.Status)
	}
}

// TestPicture checks that the drawing of a download is HTML without scripts.
func TestPicture(t *testing.T) {
	e := newEngine()
	g := e.add(t, "https://example.org/a", nil)
	s := site(t, e)
	url := s.URL + "/picture/" + g.String()
	if resp := get(t, t.Context(), url, "Authorization", "Bearer "+token); resp.StatusCode != http.StatusNoContent {
		t.Errorf("of what was not begun: %s", resp.Status)
	}
	e.do(func(q *queue.Queue) { q.Start(time.Now()) })
	e.play(t, g, 100*mib, 5*time.Second)
	resp := get(t, t.Context(), url, "Authorization", "Bearer "+token)
	html, err := bufio.NewReader(resp.Body).ReadString(0)
	if resp.StatusCode != 200 || !strings.Contains(html, "mirror.uni.example") ||
		!strings.Contains(html, `class="strip"`) || strings.Contains(html, "<script") {
		t.Errorf("%s, %v: %s", resp.Status, err, html)
	}
	if resp := get(t, t.Context(), s.URL+"/picture/zz", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusNotFound {
		t.Errorf("of no GID: %s", resp.Status)
	}
}

// TestDoor checks that the form for the token names the command that prints it.
func TestDoor(t *testing.T) {
	e := newEngine()
	for given, want := range map[string]string{"": "<code>braid daemon token</code> gives it.",
		"--<secret>": "<code>--&lt;secret&gt;</code> gives it."} {
		resp := get(t, t.Context(), serve(t, page.New(e, page.Options{Admit: newControl(t, e).Admit, Token: given})).URL)
		if html, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(html), want) {
			t.Errorf("%q: %v\n%s", given, err, html)
		}
	}
}
