package watch

import (
	"log/slog"
	"slices"
	"testing"

	"braid/internal/job"
)

// TestForgeToken_Rule27: the token of GITHUB_TOKEN goes to feeds of GitHub's API and to nothing else, is never printed, and
// a daemon sends none.
func TestForgeToken_Rule27(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "ghp_token")
	t.Setenv("HOME", t.TempDir())
	const text = "[feed.api]\nurl = 'https://api.github.com/repos/a/b/releases'\n[feed.atom]\nurl = " +
		"'https://github.com/a/b/releases.atom'\n" +
		"[watch.w]\nurl = 'https://api.github.com/x'\ndir = 'd'\n"
	for _, by := range []*Delegate{nil, {}} {
		c := &Loaded{Config: parse(t, text), Folder: t.TempDir()}
		at := job.NewSites(&job.Settings{})
		s, err := newSetup(c, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s.of.by = by
		s.antenna.Feeds = slices.Clone(c.Feeds)
		if err := s.identify(at); err != nil {
			t.Fatal(err)
		}
		if got := s.antenna.Feeds[0].Token; (got == "ghp_token") != (by == nil) {
			t.Errorf("the API gets %q", got)
		}
		if s.antenna.Feeds[1].Token+s.antenna.Feeds[1].Header.Get("Authorization")+
			s.antenna.Watches[0].Header.Get("Authorization") != "" {
			t.Error("another request has the token")
		}
		if !slices.Contains(c.Secrets, "ghp_token") {
			t.Error("the token may be printed")
		}
	}
}
