//go:build !nofleet

package worker

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/listen"
	"braid/internal/problem"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// TestRun: a worker puts the file of one job in place, and stores of another one why its file is not there. When it
// is told to end it has no job any more.
func TestRun(t *testing.T) {
	host, err := jetstream.NewHost(t.TempDir(), jetstream.Socket{Listen: listen.Socket, Dial: listen.Dial}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	defer end()
	queue, err := jetstream.Open(ctx, jetstream.Options{Host: host, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	dir := t.TempDir()
	place, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer place.Close()
	ended := make(chan fleet.Record, 16)
	queue.Follow(func(_ string, r *fleet.Record) {
		if r != nil && r.Last != nil {
			ended <- *r
		}
	})
	right := mirrortest.New(t, []byte("abc"))
	gone := mirrortest.New(t, []byte("abc"), mirrortest.Status(404), mirrortest.RetryAfter("1800"))
	for name, place := range map[string]string{"right": right.URL, "gone": gone.URL} {
		if _, err := queue.Report(ctx, fleet.Job{Name: name, URIs: []string{place}}); err != nil {
			t.Fatal(err)
		}
	}

	w := New(queue, place, slog.New(slog.DiscardHandler))
	w.AtOnce = 2
	w.Request = func(j *fleet.Job) (r download.Request, err error) {
		r.URL, err = url.Parse(j.URIs[0])
		return r, err
	}
	w.ExitCode = func(p *problem.Problem) int { return 100 + int(p.Kind) }
	stopping := false
	w.Stopping = func() { stopping = true }
	running, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		client := &download.Client{
			HTTP:       &httpsource.Client{HostRate: func(*url.URL) float64 { return 0 }},
			HostLimits: &limit.Hosts{Rate: func(*url.URL) int64 { return 0 }},
		}
		defer client.HTTP.CloseIdle()
		w.Run(running, client)
	}()
	came := map[string]fleet.Record{}
	for len(came) < 2 {
		select {
		case r := <-ended:
			came[r.Job.Name] = r
		case <-ctx.Done():
			t.Fatalf("only %d have ended", len(came))
		}
	}
	stop()
	<-over

	if data, err := os.ReadFile(filepath.Join(dir, "right")); string(data) != "abc" || came["right"].State != fleet.Done {
		t.Errorf("the file is %q, %v; its job %s", data, err, came["right"].State)
	}
	e := came["gone"].Last
	if came["gone"].State != fleet.Waiting || e.Kind != fleet.Wrong || e.Code != 100+int(download.Refused) || e.Aria2 != 3 ||
		!e.Missing || e.After != 30*time.Minute || e.Requests[gone.Addr] == 0 {
		t.Errorf("what is gone is %s: %+v", came["gone"].State, e)
	}
	if jobs, counts := w.Counts(); jobs != 0 || counts[string(fleet.Done)] != 1 || counts[string(fleet.Waiting)] != 1 ||
		!stopping {
		t.Errorf("it has %d jobs and counted %v; stopping %v", jobs, counts, stopping)
	}
}

// TestAwaited checks that a server that still has the file of the report before is asked again for the reported one, if
// it states no date, or if the feed has another size or MD5. After the last wait the file in place counts.
func TestAwaited(t *testing.T) {
	at := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	var r fleet.Record
	report := func(version string, j fleet.Job) {
		t.Helper()
		j.Name, j.Watch, j.Version, j.URIs = "a.iso", "a", version, []string{"https://example.org/a.iso"}
		if _, err := r.Report(j, at); err != nil {
			t.Fatal(err)
		}
	}
	try := func(want fleet.Kind) {
		t.Helper()
		at = at.Add(24 * time.Hour)
		if err := r.Take("worker", at, fleet.UsualLease); err != nil {
			t.Fatal(err)
		}
		here := &task{worker: &Worker{ExitCode: func(*problem.Problem) int { return 8 }}, claim: &jetstream.Claim{Record: r}}
		here.worker.place = done{}
		e, err := here.settle(t.Context(), download.Request{}, download.Result{NotModified: true})
		if err != nil || e.Kind != want {
			t.Fatalf("%s, %v, want %s", e.Kind, err, want)
		}
		if err := r.Finish("worker", r.Lease.Fence, e, at); err != nil {
			t.Fatal(err)
		}
	}
	report("1", fleet.Job{Modified: at, Size: 7, OtherMD5: true})
	try(fleet.Right) // nothing is known about the file that was there before the first report
	for version, j := range map[string]fleet.Job{"2": {Modified: at.Add(time.Hour)}, "3": {Size: 7}, "4": {OtherMD5: true}} {
		report(version, j)
		for range 3 {
			try(fleet.Wrong)
		}
		try(fleet.Right)
	}
	for version, j := range map[string]fleet.Job{"5": {}, "6": {Size: 5}} { // nothing shows that the file has changed
		report(version, j)
		try(fleet.Right)
	}
}

// A done is a Place in which each file is.
type done struct{ Place }

func (done) place(context.Context, *task, *download.Request, bool) (placed, error) {
	return placed{size: 5}, nil
}
