package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"braid/byterange"
	"braid/daemon/page"
	"braid/daemon/queue"
	"braid/daemon/rpc"
	"braid/download"
	"braid/internal/report"
	"braid/scheduler"
)

const token = "0123456789abcdef"

// An engine has a queue and transfers nothing. The tests report the progress and end of each download themselves.
type engine struct {
	mu       sync.Mutex
	q        *queue.Queue
	pictures map[queue.GID]*report.Recorder
	disk     queue.GID
	down     bool // Do fails
}

func newEngine() *engine {
	return &engine{q: queue.New(1), pictures: map[queue.GID]*report.Recorder{}}
}

func (e *engine) Do(_ context.Context, f func(q *queue.Queue) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		return context.Canceled
	}
	err := f(e.q)
	for _, g := range e.q.Drain().Stop {
		e.q.Ended(time.Now(), g, queue.Outcome{Kind: queue.Interrupted})
	}
	return err
}

func (e *engine) Subscribe() (<-chan queue.Notice, func()) { return nil, func() {} }

func (e *engine) Draw(_ context.Context, g queue.GID) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if rec := e.pictures[g]; rec != nil {
		return rec.Draw(time.Now()), nil
	}
	return nil, nil
}

func (e *engine) do(f func(q *queue.Queue)) {
	e.Do(context.Background(), func(q *queue.Queue) error { f(q); return nil })
}

// add adds a download of url. The function change may set other fields of the entry.
func (e *engine) add(t testing.TB, url string, change func(*queue.Entry)) (g queue.GID) {
	t.Helper()
	entry := queue.Entry{URIs: []string{url}}
	if change != nil {
		change(&entry)
	}
	e.do(func(q *queue.Queue) {
		var err error
		if g, err = q.Add(time.Now(), entry, -1); err != nil {
			t.Error(err)
		}
	})
	return g
}

// end moves the entry g to the front of the queue, starts it and ends it with the outcome o.
func (e *engine) end(t testing.TB, g queue.GID, size int64, o queue.Outcome) {
	t.Helper()
	e.do(func(q *queue.Queue) {
		if _, err := q.Move(g, 0, queue.FromStart); err != nil {
			t.Error(err)
		}
		q.Start(time.Now())
		done := size
		if o.Kind != "" {
			done = size / 3
		}
		q.Progress(g, queue.Live{Done: done, Size: size})
		q.Ended(time.Now(), g, o)
	})
}

const mib = 1 << 20

// play records the events of a download from three mirrors that began the given time ago. One mirror is fast, one
// slower, and one has failed.
func (e *engine) play(t testing.TB, g queue.GID, size int64, since time.Duration) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	begun := time.Now().Add(-since)
	rec := report.NewRecorder(begun)
	e.pictures[g] = rec
	hosts := []string{"origin.example.org", "mirror.uni.example", "ftp.slow.example", "gone.example.net"}
	url := func(i int) string { return "https://" + hosts[i] + "/pub/debian-13.2.0-amd64-DVD-1.iso" }
	rec.Observe(begun, download.Started{URL: url(0), Path: "/srv/files/debian-13.2.0-amd64-DVD-1.iso"})
	rec.Observe(begun, download.Progress{Size: size})
	for i := range hosts {
		from := int64(i) * size / 4
		rec.Observe(begun.Add(time.Duration(i)*300*time.Millisecond), download.RangeStarted{
			Fetch: i, ID: i, URL: url(i), Host: hosts[i], Range: byterange.Range{Start: from, End: from + size/4},
			Why: []scheduler.Reason{scheduler.ReasonFirst, scheduler.ReasonGrowth}[min(i, 1)],
		})
		if i < 3 {
			rec.Observe(begun.Add(time.Duration(i)*300*time.Millisecond+80*time.Millisecond),
				download.RangeAnswered{Fetch: i, RTT: 40 * time.Millisecond})
		}
	}
	rec.Observe(begun.Add(1200*time.Millisecond), download.RangeEnded{Fetch: 3, Err: fmt.Errorf("the connection was refused")})
	rec.Observe(begun.Add(1200*time.Millisecond), download.SourceDown{ID: 3, URL: url(3), Host: hosts[3],
		Err: fmt.Errorf("the connection was refused"), Gone: true})
	var done int64
	at := []int64{0, size / 4, size / 2}
	for step := 1300 * time.Millisecond; step < since; step += 100 * time.Millisecond {
		var pieces []download.Piece
		for i, per := range []int64{7, 4, 1} {
			n := min(per*size/4000*int64(100+(int(step.Milliseconds()/100)*7+i*13)%40)/120, int64(i+1)*size/4-at[i])
			if n > 0 {
				pieces = append(pieces, download.Piece{Fetch: i, Range: byterange.Range{Start: at[i], End: at[i] + n}})
				at[i] += n
				done += n
			}
		}
		rec.Observe(begun.Add(step), download.Brought{Pieces: pieces})
		rec.Observe(begun.Add(step), download.Progress{Done: done, Size: size, Rate: float64(12*size) / 400, Active: 3,
			Twice: done / 300})
	}
	rec.Observe(begun.Add(since), download.Voided{Range: byterange.Range{Start: size / 2, End: size/2 + size/80}})
	e.q.Progress(g, queue.Live{Path: "/srv/files/debian-13.2.0-amd64-DVD-1.iso", Done: done, Size: size,
		Speed: 12 * size / 400, Connections: 3})
}

// site starts a server with the page of e and its JSON-RPC interface.
func site(t testing.TB, e *engine) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	control := newControl(t, e)
	mux.Handle("/jsonrpc", control)
	mux.Handle("/", page.New(e, page.Options{Admit: control.Admit, Every: 50 * time.Millisecond, Folder: "/srv/files"}))
	return serve(t, mux)
}

func serve(t testing.TB, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// newControl returns a JSON-RPC handler that refuses a wrong token without delay.
func newControl(t testing.TB, e *engine) *rpc.Handler {
	return rpc.New(e, rpc.Options{Root: t.TempDir(), Token: token, Wait: func(context.Context, time.Duration) {}})
}
