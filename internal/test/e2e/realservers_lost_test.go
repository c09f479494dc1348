//go:build realservers

package e2e

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// TestRealWatchLost: without its database, or with a damaged one, a watcher begins with antenna.lirs: it asks for
// nothing that it has, and does not miss what comes next.
func TestRealWatchLost(t *testing.T) {
	t.Parallel()
	losses := map[string]func(path string) error{
		"gone":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("no database"), 0o600) },
	}
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWatchSet(t, hookLine)
			s.guard()
			s.agent.begin()
			s.agent.logs(`msg="new version" watch=disk`)
			s.agent.signal(syscall.SIGTERM)
			s.agent.ends(0)
			asked := s.requests(`disk\.iso`)

			if err := lose(s.agent.in("state/antenna.db")); err != nil {
				t.Fatal(err)
			}
			s.agent.begin()
			s.agent.logs(`msg="the store of known updates was lost" .*restored=1`)
			s.quiet(0)
			if more := s.requests(`disk\.iso`) - asked; more != 0 {
				t.Errorf("%d requests for a file that is here\n%s", more, s.agent.readFile(s.log))
			}

			s.publish(1)
			s.agent.logs(`msg="new version" watch=disk .*size=6291457`)
			s.agent.signal(syscall.SIGTERM)
			s.agent.ends(0)
			if got, want := s.hookRuns(), []string{s.runOf(0), s.runOf(1)}; !slices.Equal(got, want) {
				t.Errorf("programs were told %q, want %q", got, want)
			}
		})
	}
}
