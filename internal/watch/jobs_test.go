package watch

import (
	"errors"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/release"
	"braid/download"
	"braid/fleet"
)

// TestJobNotYet_Rule80 checks that the watcher learns from the job of a release that is not ready how long the server asked
// to wait.
func TestJobNotYet_Rule80(t *testing.T) {
	t.Parallel()
	c := &Command{Kind: func(int) download.Kind { return download.Refused }}
	u := &antenna.Update{Release: &release.Release{Version: "1.0"}}
	err := c.errorOf(&Rule{}, u, &fleet.Job{Name: "tool"}, &fleet.Ending{Why: "404", Missing: true, After: 30 * time.Minute})
	late, ok := errors.AsType[*antenna.NotYet](err)
	if !ok || late.After != 30*time.Minute {
		t.Errorf("%+v", err)
	}
}
