package antenna

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// A world has all web servers of a test instead of the network.
type world struct {
	t *testing.T

	mu      sync.Mutex
	sites   map[string]site // by host
	pages   map[string]map[string]func() string
	visits  []visit
	busy    map[string]bool
	ended   map[string]time.Time
	gap     time.Duration
	latency time.Duration
}

// texts serves pages by their paths at a host.
func (w *world) texts(host string, pages map[string]func() string) {
	if w.pages == nil {
		w.pages = map[string]map[string]func() string{}
	}
	w.pages[host] = pages
}

// A site handles the requests to a host.
type site func(req *http.Request) *http.Response

// A visit is a request that was made.
type visit struct {
	at     time.Time
	method string
	url    string
	header http.Header
	status int
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, sites: map[string]site{}, busy: map[string]bool{}, ended: map[string]time.Time{}, gap: time.Second,
		latency: 50 * time.Millisecond,
	}
}

// RoundTrip handles a request. It also checks that a host gets one request at a time, with a gap between them.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	w.mu.Lock()
	s := w.sites[host]
	if w.busy[host] {
		w.t.Errorf("%s is asked twice at once", host)
	}
	if last, ok := w.ended[host]; ok && time.Since(last) < w.gap {
		w.t.Errorf("%s is asked again after %v", host, time.Since(last))
	}
	if req.Header.Get("Referer") != "" || req.URL.User != nil {
		w.t.Errorf("%s is told %q, %v", host, req.Header.Get("Referer"), req.URL.User)
	}
	w.busy[host] = true
	w.mu.Unlock()
	select {
	case <-time.After(w.latency):
	case <-req.Context().Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if req.Context().Err() != nil || s == nil {
		w.leave(host)
		return nil, errors.Join(req.Context().Err(), fmt.Errorf("%s: no such host", host))
	}
	resp := s(req)
	w.visits = append(w.visits, visit{time.Now(), req.Method, req.URL.String(), req.Header, resp.StatusCode})
	resp.Body = &leaver{Reader: resp.Body, leave: sync.OnceFunc(func() { w.mu.Lock(); w.leave(host); w.mu.Unlock() })}
	return resp, nil
}

// later calls change after d, while no request is being handled.
func (w *world) later(d time.Duration, change func()) {
	time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		change()
	})
}

func (w *world) leave(host string) { w.busy[host], w.ended[host] = false, time.Now() }

// A leaver marks its host as free when the body is closed.
type leaver struct {
	io.Reader
	leave func()
}

func (l *leaver) Close() error { l.leave(); return nil }

// to returns the visits of a URL.
func (w *world) to(u string) (list []visit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.visits {
		if v.url == u {
			list = append(list, v)
		}
	}
	return list
}

// reply returns a response with a status, a body, and header fields of the form "Name: value".
func reply(status int, body io.Reader, fields ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1,
		ProtoMajor: 1, ProtoMinor: 1}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		resp.Header.Add(name, value)
	}
	return resp
}

func says(status int, body string, fields ...string) *http.Response {
	return reply(status, strings.NewReader(body), fields...)
}

// A page is a text with validators that can change.
type page struct {
	text     string
	modified time.Time
	// plain means that the page has no validators.
	plain bool
}

func (p *page) set(text string) { p.text, p.modified = text, time.Now() }

// answer handles a request for the page, which may be conditional.
func (p *page) answer(req *http.Request) *http.Response {
	etag := fmt.Sprintf(`"%x"`, p.modified.UnixNano())
	if p.plain {
		return says(200, p.text)
	}
	fields := []string{"ETag: " + etag, "Last-Modified: " + p.modified.UTC().Format(http.TimeFormat)}
	if req.Header.Get("If-None-Match") == etag {
		return says(304, "", fields...)
	}
	resp := says(200, p.text, fields...)
	if req.Method == http.MethodHead {
		resp.Body, resp.ContentLength = http.NoBody, int64(len(p.text))
	}
	return resp
}

// lirsLine returns a record of LIRS.
func lirsLine(url string, modified, detected time.Time, size int) string {
	return fmt.Sprintf("LIRS,%d,%d,0,%d,%s,t,a,http://agent.example/,\n", modified.Unix(), detected.Unix(), size, url)
}

// seconds truncates a time to the precision of feeds.
func seconds(t time.Time) time.Time { return time.Unix(t.Unix(), 0) }

// A journal records the events of an antenna and the updates that its handler got.
type journal struct {
	mu      sync.Mutex
	events  []Event
	updates []Update
	// handle handles updates. If nil, each update succeeds with a change.
	handle Handler
}

func (j *journal) observe(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

func (j *journal) take(ctx context.Context, u Update) (Outcome, error) {
	j.mu.Lock()
	j.updates = append(j.updates, u)
	j.mu.Unlock()
	if j.handle != nil {
		return j.handle(ctx, u)
	}
	return Outcome{Changed: true, LastModified: u.Record.LastModified.UTC(), Size: u.Record.Size}, nil
}

func (j *journal) got() []Update {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Update(nil), j.updates...)
}

// eventsOf returns the events of one type.
func eventsOf[E Event](j *journal) (list []E) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e, ok := e.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

// reasons returns the reasons of updates.
func reasons(list []Update) string {
	var words []string
	for _, u := range list {
		words = append(words, string(u.Reason))
	}
	return strings.Join(words, " ")
}

// watchFor runs an antenna for the time d and waits until it has ended.
func watchFor(t *testing.T, a *Antenna, j *journal, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := a.Watch(ctx, j.take); !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
		t.Errorf("watch: %v", err)
	}
	time.Sleep(time.Second) // the next run does not know about the last requests of this one
}

// antenna returns an antenna in this world.
func (w *world) antenna(j *journal) *Antenna {
	return &Antenna{Transport: w, Observe: j.observe, HostGap: w.gap}
}

// storeIn opens a store in a folder.
func storeIn(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := OpenStore(filepath.Join(dir, "antenna.db"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed closes a store and checks that it is in order.
func closed(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

const fileURL = "https://files.example/dist/a.tar.xz"

// oneFeed returns a world with one LIRS feed about one file.
func oneFeed(t *testing.T) (w *world, feedPage *page, a *Antenna, j *journal) {
	w, j = newWorld(t), &journal{}
	feedPage = &page{}
	feedPage.set(lirsLine(fileURL, time.Now().Add(-time.Hour), time.Now(), 100))
	w.sites["feeds.example"] = feedPage.answer
	a = w.antenna(j)
	a.Feeds = []Feed{{Name: "f", URL: "https://feeds.example/antenna.lirs", Every: 10 * time.Minute}}
	a.Watches = []Watch{{Name: "a", URL: fileURL}}
	return w, feedPage, a, j
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		w.later(3*time.Hour, func() {
			p.set(lirsLine(fileURL, time.Now().Add(-time.Minute), time.Now(), 120))
		})
		watchFor(t, a, j, 6*time.Hour)
		got := j.got()
		if reasons(got) != "first-sight modified" {
			t.Fatalf("updates: %s", reasons(got))
		}
		first, second := got[0], got[1]
		if first.URL != fileURL || first.Watch != "a" || first.Feed != "f" || first.Action != feed.Download || first.Try != 1 {
			t.Errorf("%+v", first)
		}
		if second.Record.Size != 120 || second.Last.Size != 100 ||
			!second.Last.LastModified.Equal(first.Record.LastModified.UTC()) {
			t.Errorf("%+v", second)
		}
		visits := w.to("https://feeds.example/antenna.lirs")
		if n := len(visits); n < 32 || n > 36 {
			t.Errorf("%d polls in six hours, ten minutes apart", n)
		}
		if visits[0].header.Get("If-None-Match") != "" || visits[1].header.Get("If-None-Match") == "" || visits[1].status != 304 {
			t.Errorf("not conditional: %+v", visits[:2])
		}
		u, _ := url.Parse(visits[0].url)
		if h := visits[0].header; u.Host == "" || h.Get("Accept-Encoding") != "gzip" || h.Get("User-Agent") != "braid" {
			t.Errorf("asked with %v", h)
		}
	})
}
