//go:build realservers

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealFleetCutOff: a watcher that reaches no feed leaves them to one that stands by.
func TestRealFleetCutOff(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.publish(30_000, false, "a.iso")
	args := f.watch("cut-off")
	config := filepath.Join(f.dir, "cut-off", "isos.toml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, []byte(strings.Replace(string(text), f.server.URL+"/feed.lirs",
			"http://127.0.0.1:1/feed.lirs", 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cut := f.start(args...)
	f.await("it polls", func() bool { return strings.Contains(cut.log.String(), "polling for the fleet") })
	f.watcher("other")
	f.await("the other one polls", func() bool { return len(f.jobs()) == 1 })
	f.await("it says why", func() bool {
		return strings.Contains(cut.log.String(), "no feed could be reached: another watcher takes over")
	})
	f.await("it stands by", func() bool { return strings.Contains(cut.log.String(), "standing by") })
}
