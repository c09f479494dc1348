package fleet

import (
	"fmt"
	"testing"
)

// TestOlderReport: a version that is reported while a worker has the job takes the place of none that is newer and not
// here yet.
func TestOlderReport(t *testing.T) {
	dated := func(day int) Job {
		j := job(fmt.Sprint(day))
		j.Modified = t0.AddDate(0, 0, day)
		return j
	}
	undated := job("undated")
	release := func(r *Record) { r.Release("a", r.Lease.Fence, t0) }
	ends := func(k Kind) func(*Record) { return func(r *Record) { end(r, k) } }
	for _, tt := range []struct {
		name    string
		runs    Job
		reports []Job
		news    []News
		end     func(*Record)
		want    string
		state   State
	}{
		{"older than the next one", dated(1), []Job{dated(3), dated(2)}, []News{Later, Duplicate}, ends(Right), "3", Queued},
		{"the running one after the next one", dated(1), []Job{dated(3), dated(1)}, []News{Later, Duplicate},
			ends(Wrong), "3", Queued},
		{"newer than the next one", dated(1), []Job{dated(2), dated(3)}, []News{Later, Later}, ends(Right), "3", Queued},
		{"older than the running one, which is right", dated(2), []Job{dated(1)}, []News{Later}, ends(Right), "1", Queued},
		{"older than the running one, which is wrong", dated(2), []Job{dated(1)}, []News{Later}, ends(Wrong), "2", Waiting},
		{"older than the running one, which failed", dated(2), []Job{dated(1)}, []News{Later}, ends(Failed), "2", Waiting},
		{"older than the running one, which is dead", dated(2), []Job{dated(1)}, []News{Later}, ends(Useless), "1", Queued},
		{"older than the running one, which is given back", dated(2), []Job{dated(1)}, []News{Later}, release, "2", Queued},
		{"newer than the running one, which is given back", dated(2), []Job{dated(3)}, []News{Later}, release, "3", Queued},
		{"without a date", dated(1), []Job{dated(3), undated}, []News{Later, Later}, ends(Wrong), "undated", Queued},
		{"where nothing has a date", job("1"), []Job{job("2"), undated}, []News{Later, Later}, ends(Right), "undated", Queued},
	} {
		r := &Record{}
		r.Report(tt.runs, t0)
		if err := r.Take("a", t0, UsualLease); err != nil {
			t.Fatal(err)
		}
		for i, j := range tt.reports {
			if news, err := r.Report(j, t0); news != tt.news[i] || err != nil {
				t.Errorf("%s: report %d is %s, %v, want %s", tt.name, i, news, err, tt.news[i])
			}
		}
		tt.end(r)
		if r.Job.Version != tt.want || r.State != tt.state || r.Newer != nil {
			t.Errorf("%s: version %s is %s, then %+v; want %s, %s", tt.name, r.Job.Version, r.State, r.Newer, tt.want, tt.state)
		}
	}
}
