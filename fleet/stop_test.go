package fleet

import (
	"errors"
	"testing"
	"time"
)

// TestStop_Rule80 checks that a watch stops a job only when no other worker can take it at the moment.
func TestStop_Rule80(t *testing.T) {
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		kind  Kind
		later time.Duration
		stops bool
	}{{Wrong, 0, true}, {Failed, 0, false}, {Failed, chance, true}, {Lacks, time.Second, false}, {Lacks, chance, true}} {
		var r Record
		r.Report(Job{Name: "a", Watch: "w", URIs: []string{"https://example.org/a"}}, now)
		if r.Stop(now) {
			t.Error("a queued job was stopped")
		}
		if err := errors.Join(r.Take("1", now, time.Minute), r.Finish("1", r.Lease.Fence, Ending{Kind: test.kind},
			now)); err != nil {
			t.Fatal(err)
		}
		if got := r.Stop(now.Add(test.later)); got != test.stops || got != (r.State == Dead) {
			t.Errorf("%s after %v: %v, %s", test.kind, test.later, got, r.State)
		}
		if news, err := r.Report(r.Job, now); test.stops != (news == Fresh) || err != nil {
			t.Errorf("%s: a report is %s, %v", test.kind, news, err)
		}
	}
}
