package antenna

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/release"
)

// TestNoneFits checks that it is reported once if no URL of a feed matches a glob, and shown in the status until one
// does, also in a later run.
func TestNoneFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Watches = []Watch{{Name: "g", URL: "https://files.example/other/*.iso", Glob: true},
			{Name: "deaf", URL: "https://files.example/*", Glob: true, Feeds: []string{"silent"}}}
		a.Feeds = append(a.Feeds, Feed{Name: "silent", URL: "https://feeds.example/silent.lirs"})
		w.sites["feeds.example"] = func(req *http.Request) *http.Response {
			if req.URL.Path == "/antenna.lirs" {
				return p.answer(req)
			}
			return says(200, "# nothing\n")
		}
		p.set(lirsLine(strings.Replace(fileURL, "https://", "https://user:secret@", 1), time.Now(), time.Now(),
			1) + lirsLine(fileURL+".2", time.Now(), time.Now(), 1))
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			closed(t, a.Store)
			if err != nil || len(s.Watches) != 1 || s.Watches[0].Name != "g" || s.Watches[0].Reason != Unfit ||
				!strings.Contains(s.Watches[0].Words,
					"the feed f reports 2 URLs, but none that matches; for example https://") ||
				strings.Contains(s.Watches[0].Words, "secret") {
				t.Errorf("%+v, %v", s.Watches, err)
			}
		}
		if told := eventsOf[NoneFits](j); len(told) != 1 || told[0].Feed != "f" || told[0].Watch != "g" ||
			told[0].URLs != 2 || strings.Contains(told[0].Example, "secret") {
			t.Errorf("%+v", told)
		}
		p.set(lirsLine("https://files.example/other/a.iso", time.Now(), time.Now(), 1))
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		watchFor(t, a, j, time.Hour)
		if s, err := a.Status(t.Context()); err != nil || len(s.Watches) != 1 || s.Watches[0].Reason == Unfit {
			t.Errorf("%+v, %v", s.Watches, err)
		}
	})
}

// TestExcluded checks the status of a watch whose settings exclude all versions of its feed.
func TestExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		a.Watches[0].Releases.Choice = release.Choice{Versions: rangeOf(t, ">=3")}
		p.tag("v1.0", 0)
		p.tag("v1.1", 0)
		watchFor(t, a, j, time.Hour)
		s, err := a.Status(t.Context())
		if err != nil || len(s.Watches) != 1 || s.Watches[0].Reason != Excluded ||
			s.Watches[0].Words != "the feeds report 2 versions, but the settings of the watch exclude all of them" {
			t.Errorf("%+v, %v", s.Watches, err)
		}
		p.tag("v3.0", 0)
		watchFor(t, a, j, time.Hour)
		if got := stages(t, a); got != "3.0 in-place" {
			t.Errorf("stages: %s", got)
		}
	})
}

// TestStatusOfAttempts checks that the status has the time of the last attempt of a release that is not ready, also in a
// later run, and says while the handler runs.
func TestStatusOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		running := 0
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			s, err := a.Status(ctx)
			if err == nil && len(s.Watches) == 1 && s.Watches[0].Running {
				running++
			}
			return p.handle(ctx, u)
		}
		p.tag("v1.0", -1)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		s, err := a.Status(t.Context())
		if err != nil || len(s.Watches) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if w := &s.Watches[0]; w.Running || !w.Last.At.IsZero() || w.Asked().IsZero() || !w.Asked().Before(time.Now()) {
			t.Errorf("%+v", w)
		}
		if running == 0 || running != len(j.got()) {
			t.Errorf("%d of %d updates were shown as running", running, len(j.got()))
		}
	})
}

// TestSilentReleases checks that each watch that follows releases has a row in the status that says why it has no version,
// and that a row says so, too, if a version is in place.
func TestSilentReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		index := func(names ...string) string {
			text := "<html><title>Index of /</title><pre><a href=\"../\">../</a>\n"
			for _, name := range names {
				text += `<a href="` + name + `">` + name + "</a>  01-Dec-1999 12:00  9\n"
			}
			return text + "</pre></html>"
		}
		pages := map[string]string{
			"/one/": index("SHA256SUMS", "tool-1.0.tar.gz"), "/folders/": index("v1.0/", "v1.1/"),
			"/renamed/":   index("SHA256SUMS", "tool-1.0.tar.gz"),
			"/empty.lirs": "# nothing\n", "/single/": index("tool-1.0.tar.gz"),
		}
		w.sites["files.example"] = func(req *http.Request) *http.Response {
			if text, ok := pages[req.URL.Path]; ok {
				return says(200, text)
			}
			return says(404, "")
		}
		a := w.antenna(j)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		add := func(name, path, template string) {
			a.Feeds = append(a.Feeds, Feed{Name: name, URL: "https://files.example/" + path, Every: time.Hour})
			follow := &Releases{Template: templateOf(t, "https://files.example/"+path+template)}
			a.Watches = append(a.Watches, Watch{Name: name, Feeds: []string{name}, Releases: follow})
		}
		add("one", "one/", "tol-{version}.tar.gz")
		add("folders", "folders/", "tool-{version}.tar.gz")
		add("down", "down/", "tool-{version}.tar.gz")
		add("empty", "empty.lirs", "/tool-{version}.tar.gz")
		add("renamed", "renamed/", "tool-{version}.tar.gz")
		add("single", "single/", "tool-{version}.tar.gz")
		a.Watches[5].Releases.Choice.Versions = rangeOf(t, ">=3")
		rows := func(want map[string]string) {
			t.Helper()
			s, err := a.Status(t.Context())
			if err != nil || len(s.Watches) != len(a.Watches) {
				t.Errorf("%d rows: %+v, %v", len(s.Watches), s.Watches, err)
			}
			for _, w := range s.Watches {
				words := w.Words
				if w.Release != nil {
					words = w.Release.Unreported
				}
				if words != want[w.Name] || strings.Contains(w.URL, "%7B") {
					t.Errorf("%s, %s: %q, want %q", w.Name, w.URL, words, want[w.Name])
				}
			}
			for _, f := range s.Follows {
				if f.Current == "" && f.Words != want[f.Name] {
					t.Errorf("%s: %q, want %q", f.Name, f.Words, want[f.Name])
				}
			}
		}
		const unread = "the feeds of the watch were not read yet"
		rows(map[string]string{
			"one": unread, "folders": unread, "down": unread, "empty": unread, "renamed": unread, "single": unread,
		})
		watchFor(t, a, j, 2*time.Hour)
		want := map[string]string{
			"one": "the feed one reports 2 URLs, but none that matches; for example " +
				"https://files.example/one/tool-1.0.tar.gz",
			"folders": "the feed folders reports 2 URLs, but none that matches; for example https://files.example/folders/v1.0/",
			"down":    "the feed down could not be read: status 404 Not Found", "empty": "the feed empty reports no files",
			"single": "the feeds report 1 version, but the settings of the watch exclude all of them", "renamed": "",
		}
		rows(want)
		pages["/renamed/"] = index("SHA256SUMS", "newtool-1.1.tar.gz")
		watchFor(t, a, j, 2*time.Hour)
		want["renamed"] = "the feed renamed reports 2 URLs, but none that matches; for example " +
			"https://files.example/renamed/newtool-1.1.tar.gz"
		rows(want)
	})
}

// TestOtherFiles checks that the reason why a release is not ready says that a release API lists other files, but not if it
// lists the file itself, or files of another host.
func TestOtherFiles(t *testing.T) {
	for name, want := range map[string]string{
		"https://forge.example/tool/download/v1.0/tool-linux_1.0.tar.gz": errMissing.Error() +
			"; the feed lists other files, for example https://forge.example/tool/download/v1.0/tool-linux_1.0.tar.gz",
		"https://forge.example/tool/download/v1.0/tool_1.0.tar.gz":       errMissing.Error(),
		"https://other.example/tool/download/v1.0/tool-linux_1.0.tar.gz": errMissing.Error(),
		"": errMissing.Error(), // no files
	} {
		synctest.Test(t, func(t *testing.T) {
			w, _, a, j := follower(t)
			a.Store = storeIn(t, t.TempDir())
			defer func() { closed(t, a.Store) }()
			w.sites["forge.example"] = func(*http.Request) *http.Response {
				assets := ""
				if name != "" {
					const asset = `{"name":"a","size":5,"browser_download_url":%q}`
					assets = fmt.Sprintf(asset+","+asset, name[:strings.LastIndexByte(name, '/')]+"/SHA256SUMS", name)
				}
				return says(200, `[{"tag_name":"v1.0","draft":false,"prerelease":false,"published_at":"1999-12-01T00:00:00Z",`+
					`"html_url":"https://forge.example/tool/releases/v1.0","assets":[`+assets+`]}]`)
			}
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			if err != nil || len(s.Watches) != 1 || s.Watches[0].Release == nil || s.Watches[0].Release.Why != want {
				t.Errorf("%s: %+v, %v", name, s.Watches, err)
			}
		})
	}
}

// TestWithdrawnSameDate checks that a release is withdrawn if its feed keeps only an earlier version with the same date.
func TestWithdrawnSameDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		p.tag("v1.0", 0)
		p.tag("v1.1", -1)
		w.later(time.Hour, func() { p.remove("v1.1") })
		watchFor(t, a, j, 2*time.Hour)
		if list := eventsOf[Withdrawn](j); len(list) != 1 || list[0].Release.Tag != "v1.1" {
			t.Errorf("%+v", list)
		}
	})
}

// TestNotWithdrawn checks that a release is not withdrawn because its feed fails, or is empty for a moment.
func TestNotWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		p.tag("v1.1", -1)
		watchFor(t, a, j, time.Hour)
		feed := w.sites["forge.example"]
		w.sites["forge.example"] = func(*http.Request) *http.Response { return says(500, "") }
		watchFor(t, a, j, time.Hour)
		if list := eventsOf[Withdrawn](j); len(list) != 0 {
			t.Errorf("while the feed fails: %+v", list)
		}
		w.sites["forge.example"] = feed
		p.remove("v1.1")
		watchFor(t, a, j, 3*time.Hour)
		if list := eventsOf[Withdrawn](j); len(list) != 0 {
			t.Errorf("while the feed is empty: %+v", list)
		}
	})
}

// TestWithdrawnExcluded checks that a release is withdrawn once the settings exclude it, also if its file may be in place.
func TestWithdrawnExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		a.Watches[0].Releases.Choice.PreReleases = true
		p.tag("v1.0", 0)
		p.tag("v1.1-rc1", -1)
		watchFor(t, a, j, time.Hour)
		if list := eventsOf[Withdrawn](j); len(list) != 0 {
			t.Errorf("before: %+v", list)
		}
		a.Watches[0].Releases.Choice.PreReleases = false
		watchFor(t, a, j, time.Hour)
		if list := eventsOf[Withdrawn](j); len(list) != 1 || list[0].Release.Tag != "v1.1-rc1" {
			t.Errorf("%+v", list)
		}
	})
}

// TestFollowed checks the events about the newest version and the waiting releases, and about a release that its feed no
// longer reports.
func TestFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		p.tag("v1.0", 0)
		w.later(time.Hour, func() { p.tag("v1.1", -1) })
		w.later(2*time.Hour, func() { p.remove("v1.1") })
		watchFor(t, a, j, 3*time.Hour)
		got := fmt.Sprint(eventsOf[Followed](j))
		if want := "[{tool 1.0 0} {tool 1.1 0} {tool 1.1 1} {tool 1.0 0}]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if list := eventsOf[Withdrawn](j); len(list) != 1 || list[0].Watch != "tool" || list[0].Release.Tag != "v1.1" {
			t.Errorf("%+v", list)
		}
	})
}

// TestUnorderedStatus checks the status of a watch whose project changes its scheme of versions: the newest version is one
// that can be compared with the version in place, and the status has the number of the others. A version in place that the
// feeds no longer report remains the newest, and an unwanted one counts no more.
func TestUnorderedStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		check := func(want FollowStatus) {
			t.Helper()
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			if err != nil || len(s.Follows) != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			want.Name, want.Template, want.Words = "tool", s.Follows[0].Template, s.Follows[0].Words
			if s.Follows[0] != want {
				t.Errorf("%+v\nwant %+v", s.Follows[0], want)
			}
			if r := s.Watches[0].Release; r.Stage == "in-place" && r.Newest != want.Newest {
				t.Errorf("the newest is %s, want %s", r.Newest, want.Newest)
			}
		}
		const url = "https://forge.example/tool/download/"
		p.tag("v1.0.0", 0)
		first := FollowStatus{Current: "1.0.0", Versions: 1, Newest: "1.0.0", URL: url + "v1.0.0/tool_1.0.0.tar.gz"}
		check(first)
		for _, tag := range []string{"r2026a", "r2026c", "r2026b"} {
			p.tag(tag, 0)
		}
		first.Versions, first.Unordered, first.Example = 4, 3, "r2026c"
		check(first)
		p.remove("v1.0.0")
		first.Versions = 3
		check(first)
		if err := a.ForgetRelease(t.Context(), "tool", "1.0.0"); err != nil {
			t.Fatal(err)
		}
		check(FollowStatus{Current: "r2026c", Versions: 3, Newest: "r2026c", URL: url + "r2026c/tool_r2026c.tar.gz"})
	})
}

// TestInvalidTags_Rule80 checks that the status counts the tags that cannot be part of a URL, and has the beginning of
// one of them, escaped. A tag that an API lists with each file of the release counts once, and that of a draft does not
// count. The status is the same in a later run, and after a poll without news.
func TestInvalidTags_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		const long = "long/\u202e"
		tags := []string{"v1.0", long + strings.Repeat("x", 200), "@scope/tool@2.0", "cli/v3.0"}
		w.sites["api.example"] = func(*http.Request) *http.Response {
			var list []string
			for _, tag := range tags {
				const asset = `{"browser_download_url":"https://forge.example/other"}`
				list = append(list, fmt.Sprintf(`{"tag_name":%q,"assets":[%s,%[2]s]}`, tag, asset))
			}
			list = append(list,
				`{"tag_name":"cli/v4.0","draft":true,"assets":[{"browser_download_url":"https://forge.example/other"}]}`)
			return says(200, "["+strings.Join(list, ",")+"]", `ETag: "1"`)
		}
		a := w.antenna(j)
		dir := t.TempDir()
		a.Feeds = []Feed{{Name: "api", URL: "https://api.example/releases"}}
		a.Watches = []Watch{
			{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}},
			{Name: "other", URL: "https://forge.example/*", Glob: true},
		}
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			closed(t, a.Store)
			if err != nil || len(s.Follows) != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			f := &s.Follows[0]
			want := `long/\u202e` + strings.Repeat("x", 64-len(long))
			if f.Versions != 1 || f.Invalid != 3 || f.InvalidTag != want {
				t.Errorf("%+v, want %s", f, want)
			}
		}
	})
}
