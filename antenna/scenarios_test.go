package antenna_test

import (
	"path/filepath"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// A scenario is a sequence of polls of one feed.
type scenario struct {
	Name      string `json:"scenario"`
	About     string `json:"about"`
	WatchURL  string `json:"watch_url"`
	LocalCopy bool   `json:"local_copy"`
	ClockSkew int    `json:"clock_skew_seconds"`
	Expires   int    `json:"lirs_expires_count"`
	Note      string `json:"note"`
	Steps     []step `json:"steps"`
}

type step struct {
	Now      feed.Time `json:"now"`
	Format   string    `json:"format"`
	Feed     string    `json:"feed"`
	Decision string    `json:"decision"`
	Reason   string    `json:"reason"`
}

func TestScenarios(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(folder, "scenario-*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			var s scenario
			readJSON(t, name, &s)
			if s.Name+".json" != filepath.Base(name) || len(s.Steps) == 0 {
				t.Fatalf("this is scenario %q with %d steps", s.Name, len(s.Steps))
			}
			if s.ClockSkew != feed.Skew || s.Expires != feed.Validity {
				t.Fatalf("the scenario is for a skew of %d and an expiresCount of %d", s.ClockSkew, s.Expires)
			}
			play(t, s)
		})
	}
}

// play makes the decision of each step with the state from the steps before.
func play(t *testing.T, s scenario) {
	var watches feed.Index[string]
	watches.Add(s.WatchURL, s.WatchURL)
	state := feed.State{HaveCopy: s.LocalCopy}
	for i, step := range s.Steps {
		reports := []feed.Record{}
		for _, r := range decodeStep(t, step) {
			if len(watches.Find(r)) > 0 {
				r.Received = step.Now
				reports = append(reports, r)
			}
		}
		v := feed.Decide(state, reports, step.Now)
		if v.Action.String() != step.Decision || string(v.Reason) != step.Reason {
			t.Errorf("step %d: %v, %v (%s), want %s, %s", i+1, v.Action, v.Reason, v.Words, step.Decision, step.Reason)
		}
		if v.Words == "" {
			t.Errorf("step %d: %v is not said in words", i+1, v.Reason)
		}
		state = v.Next
		state.HaveCopy = state.HaveCopy || v.Action == feed.Download
	}
}

// decodeStep decodes the feed of a step. A hina-di feed in a scenario has LF instead of CRLF and is in UTF-8 without a
// declaration.
func decodeStep(t *testing.T, s step) []feed.Record {
	t.Helper()
	for _, f := range formats {
		if f.name != s.Format {
			continue
		}
		text := s.Feed
		if f.name == "hina-di" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		list, rejected := collect(t, f.decode(strings.NewReader(text), feed.Options{}))
		if rejected != "" {
			t.Fatalf("rejected: %s", rejected)
		}
		return list
	}
	t.Fatalf("no format is called %q", s.Format)
	return nil
}
