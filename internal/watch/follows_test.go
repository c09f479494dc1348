package watch

import (
	"path/filepath"
	"strings"
	"testing"

	"braid/antenna"
	"braid/antenna/feed"
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
		return strings.Join([]string{f.Link, strings.Repeat("k", f.Keep)}, " "), nil
	}
	for more, want := range map[string]string{
		"": "d/tool_1.2.tar.gz", "link = 'latest'": "d/latest ", "keep = 2": " kk", "link = 'latest'\nkeep = 2": "d/latest kk",
	} {
		if got, err := jobOf(more); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", more, got, err, want)
		}
	}
	if _, err := jobOf("name = 'tool'\nkeep = 2"); err == nil || !strings.Contains(err.Error(), "workers keep no old versions of one name") {
		t.Errorf("old versions of one name: %v", err)
	}
}

// TestFleetNames checks that a watch makes no job of a name that each worker refuses, which would be dead at once.
func TestFleetNames(t *testing.T) {
	for _, tt := range []struct{ dir, more, want string }{
		{".braid-work", "", "begins with a dot"},
		{"d", "name = '" + strings.Repeat("n", 250) + "'", "no more than"},
		{"d", "name = '{version}.evidence.json'", "reserved for the evidence"},
	} {
		c := &Loaded{Config: parse(t, releasesOf+tt.more), File: filepath.Join(t.TempDir(), "w.toml")}
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
