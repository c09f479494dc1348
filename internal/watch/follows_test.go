package watch

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/fleet"
)

// TestFleetFollows checks that the job of a release says what its place makes of link and keep, and that a queue accepts
// them.
func TestFleetFollows(t *testing.T) {
	jobOf := func(more string) (string, error) {
		c := &Loaded{Config: parse(t, releasesOf+more), File: filepath.Join(t.TempDir(), "w.toml")}
		c.Watches[0].Dir = "d"
		if err := c.CheckForFleet(); err != nil {
			return "", err
		}
		w := &c.Watches[0]
		r, _ := w.Releases.Template.Of(feed.Record{Tag: "v1.2"})
		j, err := c.jobOf(&Rule{Watch: w}, antenna.Update{Watch: "w", URL: r.URL, Release: &r})
		if err != nil || j.Name != "d/tool_1.2.tar.gz" || j.Follows == nil {
			return j.Name, err
		}
		f := j.Follows
		if len(f.Of) != 24 || f.Version != "1.2" || strings.Contains(f.Of, "example") {
			t.Errorf("%+v", f)
		}
		if f.Keep == nil {
			return f.Link + " all", nil
		}
		return fmt.Sprint(f.Link, " ", *f.Keep), nil
	}
	for more, want := range map[string]string{
		"": "d/tool_1.2.tar.gz", "link = 'latest'": "d/latest all", "keep = 2": " 2", "link = 'latest'\nkeep = 2": "d/latest 2",
		"keep = 0": " 0", "link = 'latest'\nkeep = 0": "d/latest 0",
	} {
		if got, err := jobOf(more); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", more, got, err, want)
		}
	}
	// The date of a release may be that of its announcement, and another file must not replace the one in place.
	c := &Loaded{Config: parse(t, releasesOf), File: filepath.Join(t.TempDir(), "w.toml")}
	c.Watches[0].Dir = "d"
	r, _ := c.Watches[0].Releases.Template.Of(feed.Record{Tag: "v1.2"})
	u := antenna.Update{Watch: "w", URL: r.URL, Release: &r, Record: feed.Record{LastModified: 1e9}}
	u.Last = antenna.Outcome{At: date(1), Digest: strings.Repeat("0a", 32)}
	j, err := c.jobOf(&Rule{Watch: &c.Watches[0]}, u)
	if err != nil || !j.Modified.IsZero() || !slices.Contains(j.Options, fleet.Option{Name: "sha256", Value: u.Last.Digest}) {
		t.Errorf("the job for the version in place is %+v, %v", j, err)
	}
	u.Previous = "1.1"
	if j, err = c.jobOf(&Rule{Watch: &c.Watches[0]}, u); err != nil || strings.Contains(fmt.Sprint(j), u.Last.Digest) {
		t.Errorf("the job for another version is %+v, %v", j, err)
	}
	// Until it is in place, a release is one job, whenever it was reported.
	u.Record = feed.Record{Detected: 7}
	first, _ := c.jobOf(&Rule{Watch: &c.Watches[0]}, u)
	u.Record.Detected = 8
	if j, _ = c.jobOf(&Rule{Watch: &c.Watches[0]}, u); j.ID() != first.ID() {
		t.Errorf("a release that is reported again is the job %s, not %s", j.Version, first.Version)
	}
	// The file of a moving tag may be another one by then.
	c.Watches[0].Releases.Moving = true
	moved, _ := c.jobOf(&Rule{Watch: &c.Watches[0]}, u)
	u.Record.Detected = 9
	if j, _ = c.jobOf(&Rule{Watch: &c.Watches[0]}, u); j.ID() == moved.ID() {
		t.Errorf("a moved release is the job %s, as before", j.Version)
	}
	c.Watches[0].Releases.Moving = false
	u.Previous = ""
	if j, _ = c.jobOf(&Rule{Watch: &c.Watches[0]}, u); j.ID() == first.ID() {
		t.Errorf("a changed file of the version in place is the job %s, too", j.Version)
	}
	if _, err := jobOf("name = 'tool'\nkeep = 2"); err == nil ||
		!strings.Contains(err.Error(), "does not apply with --queue, unless each version has its own file name") {
		t.Errorf("old versions of one name: %v", err)
	}
}

// TestFleetEvidence checks that the job for an update has the size or the change of the MD5, if that shows the update.
// The size in an index page does not count.
func TestFleetEvidence(t *testing.T) {
	c := &Loaded{Config: parse(t, "[watch.w]\nurl = 'http://a.example/f'\ncheck-every = '1h'\ndir = 'd'\n"),
		File: filepath.Join(t.TempDir(), "w.toml")}
	c.Watches[0].Dir = "d"
	for _, tt := range []struct {
		action feed.Action
		reason feed.Reason
		size   int64
		md5    bool
	}{
		{feed.Download, feed.SizeChanged, 7, false}, {feed.Download, feed.MD5Changed, 0, true},
		{feed.Download, feed.Modified, 0, false}, {feed.Recheck, feed.SizeChanged, 0, false},
	} {
		u := antenna.Update{Watch: "w", URL: "http://a.example/f", Action: tt.action, Reason: tt.reason}
		u.Record = feed.Record{Size: 7, MD5: "1"}
		j, err := c.jobOf(&Rule{Watch: &c.Watches[0]}, u)
		if err != nil || j.Size != tt.size || j.OtherMD5 != tt.md5 {
			t.Errorf("%+v: %+v, %v", tt, j, err)
		}
	}
}

// TestForgetInCopy checks that nothing is forgotten in a store that the next watcher for the queue replaces.
func TestForgetInCopy(t *testing.T) {
	c := &Loaded{Config: parse(t, releasesOf), Folder: t.TempDir()}
	w := &Watcher{Err: io.Discard}
	for _, isCopy := range []bool{true, true, false, false} {
		if err := markStore(c.Folder, isCopy); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			w.ForgetStored(t.Context(), c, "w"), w.ForgetStoredVersion(t.Context(), c, "w", "1.2"),
		} {
			if got := err != nil && strings.Contains(err.Error(), "a copy of that in the queue"); got != isCopy {
				t.Errorf("copy %v: %v", isCopy, err)
			}
		}
	}
}

// TestFleetNames checks that a watch makes no job of a name that each worker refuses, which would be dead at once.
func TestFleetNames(t *testing.T) {
	for _, tt := range []struct{ dir, more, want string }{
		{".braid-work", "", "begins with a dot"},
		{"d", "name = '" + strings.Repeat("n", 250) + "'", "at most"},
		{"d", "name = '{version}.evidence.json'", "reserved for the evidence"},
		{"d", "max-size = '1K'", "braid work --max-size"},
		{"d", "[top]", "braid work --max-size"},
	} {
		text := releasesOf + tt.more
		if tt.more == "[top]" {
			text = "max-size = '1K'\n" + releasesOf
		}
		c := &Loaded{Config: parse(t, text), File: filepath.Join(t.TempDir(), "w.toml")}
		w := &c.Watches[0]
		w.Dir = tt.dir
		err := c.CheckForFleet()
		if err == nil {
			r, _ := w.Releases.Template.Of(feed.Record{Tag: "v1.2"})
			_, err = c.jobOf(&Rule{Watch: w}, antenna.Update{Watch: "w", URL: r.URL, Release: &r})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40s: %v, want %s", tt.dir, tt.more, err, tt.want)
		}
	}
}

// TestIdlePatterns checks the warnings about patterns that have no effect on an index page.
func TestIdlePatterns(t *testing.T) {
	const version, token = "version-pattern = '^r[0-9]_(.*)$'\n", "token-pattern = 'r[0-9]_(.*)'\n"
	for _, tt := range []struct{ feed, kind, url, more, want string }{
		{"pub/", "", "pub/tool-{version}", version, "watch.w.version-pattern: has no effect on the names that feed.f lists"},
		{"pub/", "", "pub/tool-{version}", token,
			"watch.w.token-pattern: has no effect on the names that feed.f lists and that match url"},
		{"pub/", "", "pub/{version}/tool-{version}", version, "watch.w.version-pattern: has no effect"},
		{"pub/", "", "pub/{version}/tool-{version}", token, ""},
		{"pub?x", "index", "pub/tool-{version}", version, "watch.w.version-pattern: has no effect"},
		{"pub/", "news", "pub/tool-{version}", version + token, ""},
		{"pub/", "", "pub/tool-{tag}", version, ""},
		{"pub/", "", "pub/tool-{version}", "", ""},
		{"feed/", "", "pub/tool-{version}", version + token, ""},
		{"pub.atom", "", "pub/tool-{version}", version + token, ""},
	} {
		kind := ""
		if tt.kind != "" {
			kind = "kind = '" + tt.kind + "'\n"
		}
		text := "[feed.f]\nurl = 'http://a.example/" + tt.feed + "'\n" + kind + "[watch.w]\nurl = 'http://a.example/" +
			tt.url + "'\ndir = 'd'\n" + tt.more
		list := (&Loaded{Config: parse(t, text)}).Warnings()
		if got := strings.Join(list, "; "); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) || len(list) > 1 {
			t.Errorf("%s\nwarnings: %s, want %s", text, got, tt.want)
		}
	}
}

// TestRoundUnread checks that a round does not say again that the feed of a watch could not be read.
func TestRoundUnread(t *testing.T) {
	var b bytes.Buffer
	l := NewServiceLog(&b, "text")
	l.round(&roundTally{}, antenna.Status{Watches: []antenna.WatchStatus{{Name: "tool", Reason: antenna.Unread}}})
	if text := b.String(); !strings.Contains(text, "checked once") || strings.Contains(text, "tool") {
		t.Error(text)
	}
}
