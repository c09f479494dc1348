package watch

import (
	"errors"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/release"
	"braid/download"
	"braid/fleet"
	"braid/internal/web"
)

// TestJobNotYet_Rule80 checks that the watcher learns from the job of a release that is not ready how long the server asked
// to wait, and how many requests the worker has sent.
func TestJobNotYet_Rule80(t *testing.T) {
	t.Parallel()
	c := &Command{Kind: func(int) download.Kind { return download.Refused }}
	u := &antenna.Update{Release: &release.Release{Version: "1.0"}}
	var sent web.Tally
	e := &fleet.Ending{Why: "404", Missing: true, After: 30 * time.Minute, Requests: map[string]int{"a.example:443": 5}}
	err := c.errorOf(sent.Context(t.Context()), &Rule{}, u, &fleet.Job{Name: "tool"}, e)
	late, ok := errors.AsType[*antenna.NotYet](err)
	if !ok || late.After != 30*time.Minute {
		t.Errorf("%+v", err)
	}
	if got := sent.Sent(); got["a.example:443"] != 5 {
		t.Errorf("counted are %v", got)
	}
}
