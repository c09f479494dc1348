package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
	"braid/antenna/formats"
)

// publishing collects the published snapshots.
type publishing struct{ list []feed.Snapshot }

func (p *publishing) take(_ context.Context, s feed.Snapshot) error {
	p.list = append(p.list, s)
	return nil
}

// known returns a short text for the records of a snapshot.
func known(s feed.Snapshot) string {
	var lines []string
	for _, k := range s.Records {
		line := fmt.Sprintf("%s %v", strings.TrimPrefix(k.URL, "https://files.example"), formats.Name(k.Format))
		if k.Failed {
			line += " failed"
		}
		if k.Own {
			line += " own"
		}
		if k.Trusted {
			line += " trusted"
		}
		lines = append(lines, line+" "+k.Feed)
	}
	return strings.Join(lines, ", ")
}

func TestPublish(t *testing.T) {
	for _, stored := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			if stored {
				a.Store = storeIn(t, t.TempDir())
				defer closed(t, a.Store)
			}
			p.text += lirsLine("https://files.example/relayed", time.Now(), time.Now(), 7) +
				strings.Replace(lirsLine("https://files.example/stranger", time.Now(), time.Now(), 7), "agent", "stranger", 1)
			w.sites["files.example"] = (&page{text: "x", modified: time.Now()}).answer
			a.Feeds[0].Relay, a.Feeds[0].Trust = true, []string{"HTTP://agent.example:80"}
			a.UserAgent, a.AgentURL = "me/1", "https://me.example/"
			a.Watches = append(a.Watches,
				Watch{URL: "https://files.example/checked", CheckEvery: time.Hour, Title: "T", Author: "A", Zone: 32400},
				Watch{URL: "https://files.example/secret?x=1", CheckEvery: time.Hour},
				Watch{URL: "https://gone.example/x", CheckEvery: time.Hour})
			var got publishing
			a.Publish = got.take
			watchFor(t, a, j, 10*time.Minute)
			if len(got.list) < 1 || len(got.list) > 4 {
				t.Fatalf("published %d times", len(got.list))
			}
			last := got.list[len(got.list)-1]
			want := "/checked own own , https://gone.example/x own failed own , /dist/a.tar.xz own own , " +
				"/dist/a.tar.xz lirs trusted f, /relayed lirs trusted f, /stranger lirs f"
			if s := known(last); s != want {
				t.Errorf("stored %v: %s\nwant %s", stored, s, want)
			}
			own := last.Records[0]
			if last.Agent != "me/1" || own.AgentURL != "https://me.example/" || own.Title != "T" || own.Author != "A" ||
				own.Zone != 32400 ||
				own.TimeDetected != own.Detected || own.Method[0] != "HEAD" || own.Result != "200" {
				t.Errorf("%+v", own)
			}
			if e := eventsOf[Published](j); len(e) != len(got.list) || e[len(e)-1].Records != 6 || e[len(e)-1].Err != nil {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestFailureAfterDownload checks that a file that was downloaded before is published as failed while it cannot be
// reached.
func TestFailureAfterDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := onePage(t, nil)
		file, status := &page{text: "x", modified: time.Now()}, 200
		w.sites["files.example"] = func(req *http.Request) *http.Response {
			if status != 200 {
				return says(status, "")
			}
			return file.answer(req)
		}
		var got publishing
		a.Publish = got.take
		for _, s := range []int{200, 404, 200} {
			status = s
			if err := a.Once(t.Context(), j.take, "a"); (err == nil) != (s == 200) {
				t.Error(err)
			}
			last := got.list[len(got.list)-1].Records
			if len(last) != 1 || last[0].Failed == (s == 200) {
				t.Errorf("status %d: %+v", s, last)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestTimeDetected checks that a check that finds no modification time does not update the detection time of the last
// known one (LIRS).
func TestTimeDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w, a, j := onePage(t, nil)
		size := int64(5)
		w.sites["files.example"] = siteOf(func() []string {
			if time.Since(start) < 90*time.Minute {
				return []string{"Last-Modified: " + start.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")}
			}
			return nil
		}, &size)
		w.later(90*time.Minute, func() { size = 6 })
		var got publishing
		a.Publish = got.take
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("down") }
		watchFor(t, a, j, 4*time.Hour)
		last := got.list[len(got.list)-1].Records[0]
		if last.Size != 6 || last.Detected.UTC().Sub(start) < 3*time.Hour || last.TimeDetected.UTC().Sub(start) > 90*time.Minute {
			t.Errorf("%+v", last)
		}
	})
}

// TestCache checks that the cache in LIRS is written without Publish, and that only its owner can read it.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		detected := time.Now().Unix()
		p.text += lirsLine("https://files.example/b", time.Now(), time.Now(), 7)
		a.Watches[0].Title = "Title"
		a.Watches = append(a.Watches, Watch{Name: "b", URL: "https://files.example/b"},
			Watch{URL: "https://files.example/unheard"})
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.Watch == "b" {
				return Outcome{}, errors.New("down")
			}
			return Outcome{Changed: true}, nil
		}
		path := filepath.Join(dir, "antenna.lirs")
		time.AfterFunc(2*time.Minute, func() {
			data, err := os.ReadFile(path)
			want := fmt.Sprintf("LIRS,%d,%d,0,100,%s,Title,0,0,,,,,,have-copy,\n", detected-3600, detected, fileURL)
			if err != nil || string(data) != want {
				t.Errorf("%s, %v, want %s", data, err, want)
			}
		})
		watchFor(t, a, j, 3*time.Minute)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

func TestPublishFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		failed := errors.New("disk full")
		a.Publish = func(context.Context, feed.Snapshot) error { return failed }
		if err := a.Once(t.Context(), j.take); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
		a.Publish = func(ctx context.Context, _ feed.Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		time.Sleep(time.Second)
		watchFor(t, a, j, time.Second)
		if e := eventsOf[Published](j); len(e) != 2 || !errors.Is(e[1].Err, context.DeadlineExceeded) {
			t.Errorf("%+v", e)
		}
	})
}

func TestTrusts(t *testing.T) {
	f := Feed{Trust: []string{"https://Agent.example", "gatherer.example:8500"}}
	for _, tt := range []struct {
		format feed.FormatID
		agent  string
		want   bool
	}{
		{feed.HinaDI, "https://agent.example/", true}, {feed.HinaDI, "https://agent.example/x", false}, {feed.HinaDI, "", false},
		{feed.LIRS, "https://AGENT.example/", true}, {feed.SOIF, "Gatherer.example:8500", true},
		{feed.SOIF, "gatherer.example", false},
	} {
		if got := f.trusts(feed.Record{Format: tt.format, AgentURL: tt.agent}); got != tt.want {
			t.Errorf("%v %q: %v", tt.format, tt.agent, got)
		}
	}
	if (&Feed{}).trusts(feed.Record{AgentURL: "https://agent.example/"}) {
		t.Error("somebody is trusted whom nobody named")
	}
}

// TestSlowPublish checks that nothing waits for a running Publish and that there is no second one at the same time.
func TestSlowPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Feeds[0].Every = time.Minute
		running, calls := 0, 0
		a.Publish = func(context.Context, feed.Snapshot) error {
			if running++; running > 1 {
				t.Error("published twice at once")
			}
			calls++
			time.Sleep(20 * time.Minute)
			running--
			return nil
		}
		for i := range 90 {
			w.later(time.Duration(i)*time.Minute, func() { p.set(lirsLine(fileURL, time.Now(), time.Now(), i+1)) })
		}
		watchFor(t, a, j, 90*time.Minute)
		if calls < 4 || calls > 6 || len(w.to(feedURL)) < 80 || len(j.got()) < 75 {
			t.Errorf("published %d times, %d polls, %d updates", calls, len(w.to(feedURL)), len(j.got()))
		}
	})
}

// TestCacheFails checks that an error of the cache is reported and ends nothing.
func TestCacheFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		if err := os.Mkdir(filepath.Join(dir, "antenna.lirs"), 0o700); err != nil {
			t.Fatal(err)
		}
		watchFor(t, a, j, 3*time.Minute)
		if e := eventsOf[Published](j); len(e) == 0 || e[0].Err == nil || len(j.got()) != 1 {
			t.Errorf("%+v", e)
		}
	})
}

// TestObservations checks that the latest observation of a URL counts, and that only one with a modification time has a
// detection time.
func TestObservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, a, j := onePage(t, (&page{text: "file", modified: start}).answer)
		j.handle = func(context.Context, Update) (Outcome, error) {
			time.Sleep(30 * time.Minute)
			return Outcome{Changed: true, Size: 9}, nil
		}
		var got publishing
		a.Publish = got.take
		watchFor(t, a, j, 100*time.Minute)
		methods := map[string]bool{}
		for _, s := range got.list {
			for _, k := range s.Records {
				methods[k.Method[0]] = true
				if k.Method[0] == "GET" && (k.Size != 9 || k.TimeDetected != 0 || k.Detected.UTC().Sub(start) < 30*time.Minute) {
					t.Errorf("%+v", k)
				}
			}
		}
		last := got.list[len(got.list)-1].Records
		if len(last) != 1 || last[0].Method[0] != "HEAD" || last[0].Detected.UTC().Sub(start) < time.Hour || !methods["GET"] {
			t.Errorf("%v, %+v", methods, last)
		}
	})
}

// TestObservationsOfOneVersion checks that the media type found by a check is kept for the same version of the file and
// not for another one, because an update does not have it.
func TestObservationsOfOneVersion(t *testing.T) {
	seen := feed.Record{LastModified: 5, Size: 9, ContentType: "text/plain", Server: "s"}
	same, other := feed.Record{LastModified: 5, Size: 9, Server: "own"}, feed.Record{LastModified: 6, Size: 9}
	describe(&same, &seen)
	describe(&other, &seen)
	if same.ContentType != "text/plain" || same.Server != "own" || other.ContentType != "" || other.Server != "" {
		t.Errorf("%+v, %+v", same, other)
	}
}

// TestExpiredIsPublishedNoLonger checks that a relayed record is removed when it expires, even if its feed does not
// change or if it expires between two runs.
func TestExpiredIsPublishedNoLonger(t *testing.T) {
	const block = "URL: https://files.example/relayed\r\nAuthorized: x/1\r\nAuthorized-url: http://agent.example/\r\n" +
		"Last-Modified: Thu, 30 Dec 1999 00:00:00 GMT\r\nExpires: "
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		start := time.Now()
		p.set("HINA/2.2beta\r\nUser-Agent: x/1\r\n\r\n" + block +
			start.Add(90*time.Minute).UTC().Format(http.TimeFormat) + "\r\n\r\n" +
			strings.Replace(block, "relayed", "later", 1) + start.Add(5*time.Hour).UTC().Format(http.TimeFormat) + "\r\n\r\n")
		a.Feeds[0].Relay, a.Feeds[0].Trust = true, []string{"http://agent.example/"}
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		type round struct {
			at   time.Duration
			list string
		}
		var got []round
		a.Publish = func(_ context.Context, s feed.Snapshot) error {
			var urls []string
			relay := feed.Relay{}
			for _, k := range s.Records {
				if _, why := relay.Pass(feed.HinaDI, k.Record, feed.At(s.Now)); why == "" {
					urls = append(urls, k.URL[len("https://files.example/"):])
				}
			}
			got = append(got, round{s.Now.Sub(start), strings.Join(urls, " ")})
			return nil
		}
		watchFor(t, a, j, 3*time.Hour)
		i := slices.IndexFunc(got, func(r round) bool { return r.at >= 90*time.Minute })
		if i < 1 || got[i-1].list != "relayed later" || got[i].list != "later" || got[i].at > 92*time.Minute {
			t.Errorf("published: %v", got)
		}
		time.Sleep(4 * time.Hour)
		got = nil
		if err := a.Once(t.Context(), j.take); err != nil || len(got) != 1 || got[0].list != "" {
			t.Errorf("between two runs: published: %v, %v", got, err)
		}
	})
}

// TestPublishReported checks that the files that an index page or a release API reports are published in each format
// once a watch with a glob and a watch that follows releases have them.
func TestPublishReported(t *testing.T) {
	const at = "https://forge.example/tool/download/v1.0/"
	for name, text := range map[string]string{
		"index": `<title>Index of /</title><a href="../">../</a><a href="tool_1.0.tar.gz">t</a><a href="tool_1.0.zip">t</a>`,
		"releases": `[{"tag_name":"v1.0","assets":[{"browser_download_url":"` + at + `tool_1.0.tar.gz"},
			{"browser_download_url":"` + at + `tool_1.0.zip"}]}]`,
	} {
		synctest.Test(t, func(t *testing.T) {
			w, j, dir := newWorld(t), &journal{}, t.TempDir()
			w.sites["forge.example"] = func(*http.Request) *http.Response { return says(200, text) }
			a := w.antenna(j)
			a.Feeds = []Feed{{Name: name, URL: at}}
			a.Watches = []Watch{
				{Name: "newest", Releases: &Releases{Template: templateOf(t, toolURL)}},
				{Name: "all", URL: at + "*.zip", Glob: true},
			}
			j.handle = func(context.Context, Update) (Outcome, error) {
				return Outcome{Changed: true, Size: 7, LastModified: time.Now()}, nil
			}
			a.AgentURL = "https://antenna.example/"
			a.Publish = func(_ context.Context, s feed.Snapshot) error {
				_, err := WriteFolder(dir, s, FolderOptions{})
				return err
			}
			if err := a.Once(t.Context(), j.take); err != nil {
				t.Fatal(err)
			}
			for _, f := range formats.All() {
				if f.Writing == nil {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, f.Writing.File))
				if err != nil || !strings.Contains(string(text), at+"tool_1.0.tar.gz") ||
					!strings.Contains(string(text), at+"tool_1.0.zip") {
					t.Errorf("%s: %s is %s (%v)", name, f.Writing.File, text, err)
				}
			}
		})
	}
}
