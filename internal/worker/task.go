package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/fleet"
	"braid/internal/mask"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
	"braid/internal/report"
	"braid/internal/web"
	"braid/source"
	"braid/verify"
)

// A task is a job that the worker has taken.
type task struct {
	worker *Worker
	claim  *jetstream.Claim
	log    *slog.Logger
	began  time.Time
	stage  *stage // nil if the Place is not a Folder
	upload string // id of the last upload
	rec    *report.Recorder
	kept   int64 // bytes kept from an earlier attempt
	sent   web.Tally
}

func newTask(w *Worker, c *jetstream.Claim) *task {
	t := &task{worker: w, claim: c, began: time.Now(), rec: report.NewRecorder(time.Now())}
	t.log = w.log.With("job", c.Record.Job.Name, "try", c.Record.Tries)
	t.log.Debug("taken", "fence", c.Fence())
	return t
}

// request returns the download request for the job, which stores the file in the worker's Place.
func (t *task) request() (download.Request, error) {
	job := &t.claim.Record.Job
	r, err := t.worker.Request(job)
	if err != nil {
		return r, err
	}
	there, err := t.worker.place.prepare(t, &r)
	if err != nil {
		return r, err
	}
	r.IfExists.Rename, r.RemoteName = false, false
	// otherwise the existing file may come from another URL
	if good := t.claim.Record.Good; r.IfExists.IfNewer && good != nil && there.is(good) {
		r.IfExists.Known = &state.Version{ETag: good.ETag, LastModified: good.LastModified, Host: good.Host}
		if good.Fleeting {
			*r.IfExists.Known = r.IfExists.Known.Before()
		}
		if d, err := verify.ParseHex(verify.SHA256, good.SHA256); err == nil {
			r.IfExists.Known.Digest = d
			if good.Proof != "" {
				r.IfExists.Known.Over = verify.HTTP
			}
		}
	}
	r.Observe = t.observe
	return r, nil
}

// observe records ev and reports the progress of the download.
func (t *task) observe(ev download.Event) {
	t.rec.Observe(time.Now(), ev)
	switch p := ev.(type) {
	case download.Resumed:
		t.kept = p.Bytes
	case download.Progress:
		now := fleet.Progress{Done: p.Done, Size: p.Size, Speed: int64(p.Rate)}
		for _, m := range t.rec.Mirrors {
			if m.AtWork() {
				now.Sources++
			}
		}
		t.claim.Tell(now, p.Done-t.kept)
	}
}

// endTime is how long a worker that stops tries to store the result of a job. After that, another worker must find it out.
const endTime = 30 * time.Second

// endContext returns a context for storing the result of a job. It is canceled by the returned function. It is also
// canceled when the time endTime has passed after running is done. Until then, the queue may be unreachable for any
// time without causing another download of the file.
func endContext(running context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancel(context.Background())
	var late *time.Timer
	armed := make(chan struct{})
	unhook := context.AfterFunc(running, func() {
		late = time.AfterFunc(endTime, stop)
		close(armed)
	})
	return ctx, func() {
		if !unhook() {
			<-armed
			late.Stop()
		}
		stop()
	}
}

// end places the file, if err is nil, and stores the result of the job.
func (t *task) end(r download.Request, res download.Result, err error) {
	ctx, stop := endContext(t.worker.running)
	defer stop()
	e := fleet.Ending{Kind: fleet.Right}
	if err == nil {
		e, err = t.settle(ctx, r, res)
	}
	if t.lost(err) {
		return
	}
	if err != nil {
		own, ok := errors.AsType[*download.Error](err)
		if ok && own.Kind == download.Interrupted || errors.Is(err, source.ErrNotAsked) && t.claim.HostsHeld() {
			t.release()
			return
		}
		e = t.endingOf(err)
		if t.stage != nil {
			e.Why = strings.ReplaceAll(e.Why, filepath.Join(t.stage.dir, t.stage.base), t.claim.Record.Job.Name)
		}
	}
	e.Took, e.Fetched = time.Since(t.began).Round(time.Millisecond), res.Fetched
	if r.URL != nil {
		e.URL = source.Mask(r.URL)
		t.worker.pacer.Ended(ctx, r.URL, bytesByHost(res)[source.HostPort(r.URL)])
	}
	now, err := t.claim.Finish(ctx, e)
	if t.lost(err) {
		return
	}
	t.worker.ended(t.claim.Record.Job.Key(), e.Kind, len(t.claim.Record.Tried) > 0)
	t.worker.count(CountBytes, res.Fetched)
	t.tell(&now, err)
	if now.State == fleet.Done || now.State == fleet.Dead {
		t.worker.place.clear(ctx, t, &now)
	}
}

// bytesByHost returns the number of bytes that each host sent.
func bytesByHost(res download.Result) map[string]int64 {
	hosts := map[string]int64{}
	for _, s := range res.Sources {
		if s.Bytes > 0 {
			hosts[cmp.Or(s.Host, s.URL)] += s.Bytes
		}
	}
	return hosts
}

// lost reports whether another worker has the job or the job was dropped. If so, it gives the task up and leaves the
// files of the other worker alone.
func (t *task) lost(err error) bool {
	lost, is := errors.AsType[*fleet.LostError](err)
	if !is {
		lost, is = errors.AsType[*fleet.LostError](context.Cause(t.claim.Context))
	}
	if !is {
		return false
	}
	if lost.Now.Holder == "" {
		t.log.Info("the job was dropped", "fence", t.claim.Fence())
	} else {
		t.worker.count(CountLost, 1)
		t.log.Warn("another worker has the job now", "fence", t.claim.Fence())
	}
	t.worker.place.lost(t, lost.Now.Holder == "")
	t.claim.Abandon()
	return true
}

// tell logs how an attempt ended. now is the record of the job, and err the error of storing the result.
func (t *task) tell(now *fleet.Record, err error) {
	e := now.Last
	if err == nil && e != nil && e.Unchanged {
		t.worker.count(CountUnchanged, 1)
	} else if err == nil {
		t.worker.count(string(now.State), 1)
	}
	switch {
	case err != nil || e == nil:
		t.log.Error("the result could not be stored in the queue; another attempt will determine it", "error", err)
	case e.Kind == fleet.Right:
		t.log.Info("done", "size", e.Size, "verified", cmp.Or(e.Proof, "unverified"), "unchanged", e.Unchanged)
	case now.State == fleet.Waiting:
		t.log.Warn("tried again later", "error", e.Why, "code", e.Code, "next", stamp(now.Next))
	case now.State == fleet.Queued:
		t.log.Warn("replaced by a newer report", "error", e.Why, "code", e.Code)
	default:
		t.log.Error("given up", "error", e.Why, "code", e.Code)
	}
}

// release gives the job back to the queue.
func (t *task) release() {
	ctx, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	if err := t.claim.Release(ctx); err != nil && !t.lost(err) {
		t.log.Warn("not given back; others take it when its lease ends", "error", err)
		return
	}
	t.worker.count(CountGivenBack, 1)
	t.log.Debug("given back")
}

// settle places the file, which is right, if this worker still has the job. It returns the ending to store.
func (t *task) settle(ctx context.Context, r download.Request, res download.Result) (fleet.Ending, error) {
	unchanged := (res.AlreadyComplete || res.NotModified) && !(t.stage != nil && t.stage.kept)
	if why := t.outdated(res.LastModified); unchanged && why != "" {
		code := t.worker.ExitCode(&problem.Problem{Kind: download.Refused})
		return fleet.Ending{Kind: fleet.Wrong, Code: code, Why: why}, nil
	}
	info, err := t.worker.place.place(ctx, t, &r, !unchanged)
	if err != nil {
		return fleet.Ending{}, err
	}
	e := fleet.Ending{
		Kind: fleet.Right, Unchanged: unchanged, Path: info.path, Size: info.size, ModTime: info.modTime,
		ETag: res.ETag, LastModified: res.LastModified, Host: res.Host, Fleeting: res.Fleeting, Sources: bytesByHost(res),
	}
	if res.Proof.Verified() {
		e.Proof = res.Proof.String()
	}
	for _, d := range res.Proof.Digests() {
		if d.Algorithm() == verify.SHA256 {
			e.SHA256 = d.Hex()
		}
	}
	return e, nil
}

// outdated returns why an unchanged file, which the server dates to lastModified, is not the reported one, or "".
func (t *task) outdated(lastModified time.Time) string {
	record := &t.claim.Record
	switch {
	case record.Job.Behind(lastModified):
		return fmt.Sprintf("the file of the server is from %s, but the reported one is from %s", stamp(lastModified),
			stamp(record.Job.Modified))
	case record.Awaits(lastModified):
		return "the server still has the file of an earlier report"
	}
	return ""
}

// endingOf returns the ending of an attempt that failed with err.
func (t *task) endingOf(err error) fleet.Ending {
	p := problem.OfDownload(err)
	e := fleet.Ending{
		Kind: problem.FleetKind(err), Code: t.worker.ExitCode(p), Aria2: problem.Aria2Code(err), Why: mask.Escape(p.Gist()),
	}
	if after, missing := problem.Missing(err); missing {
		e.Missing, e.After, e.Requests = true, after, t.sent.Sent()
	}
	return e
}

// stamp formats t for the log. It returns "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
