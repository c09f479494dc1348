package jetstream

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/fleet"
)

// large is a job of some bytes of options.
func large(name string, bytes int64) fleet.Job {
	return fleet.Job{
		Name: name, URIs: []string{"https://example.org/" + name},
		Options: []fleet.Option{{Name: "header", Value: strings.Repeat("x", int(bytes))}},
	}
}

// TestLargeJob: a job whose record might outgrow what the server takes is refused when it is reported, with its size
// and the largest one.
func TestLargeJob(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	most := q.storage.conn.MaxPayload() / jobsOfValue
	for _, bytes := range []int64{most, mostPayload - 1000, 2 * mostPayload} {
		_, err := q.Report(t.Context(), large("a.iso", bytes))
		refused, ok := errors.AsType[*LargeError](err)
		if !ok || refused.Bytes <= most || refused.Most != most || refused.Job != "a.iso" {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	if all, err := q.All(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%d records, %v", len(all), err)
	}
	report(t, q, large("a.iso", most-1000), fleet.Fresh)
	c := next(t, q)
	newer := large("a.iso", most-1000)
	newer.Version = "2"
	report(t, q, newer, fleet.Later)
	e := fleet.Ending{Kind: fleet.Failed, Why: strings.Repeat("y", mostPayload), Sources: map[string]int64{}}
	for i := range 20_000 {
		e.Sources[strings.Repeat("z", i%250)] = int64(i)
	}
	if r, err := c.Finish(t.Context(), e); err != nil || r.Job.Version != "2" || r.State != fleet.Queued {
		t.Errorf("its end is not stored: %s, %v", r.State, err)
	}
}

// TestLargeRecord: a job that an earlier braid has stored just below what the server takes does not wait for ever:
// nothing can be added to it, and it is dead.
func TestLargeRecord(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	r := fleet.Record{Job: large("a.iso", 0), State: fleet.Queued, Since: q.clock.now().Truncate(time.Second)}
	data, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Job = large("a.iso", mostPayload-150-int64(len(data))) // with room for headers, and for nothing else
	data, err = encode(r)
	if err == nil {
		_, err = q.storage.jobs.Create(t.Context(), r.Job.Key(), data)
	}
	if err == nil {
		err = q.wake(t.Context(), &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	report(t, q, disk("1"), fleet.Fresh)
	if c := next(t, q); c.Record.Job.Name != "disk.iso" {
		t.Errorf("%s is taken", c.Record.Job.Name)
	}
	if got := record(t, q, "a.iso"); got.State != fleet.Dead || got.Last == nil ||
		!strings.Contains(got.Last.Why, "limit is 8388608 bytes") {
		t.Errorf("it is %s: %+v", got.State, got.Last)
	}
	if again, err := q.Retry(t.Context(), r.Job.Key()); again || err != nil {
		t.Errorf("it is tried again without its places: %v", err)
	}
	report(t, q, fleet.Job{Name: "a.iso", URIs: r.Job.URIs}, fleet.Fresh)
}

// A heard log is what a process says. It may be used by several goroutines.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) count(what string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.text.String(), what)
}

// heardBy opens a queue for work, with its warnings.
func heardBy(t *testing.T, o Options) (*Queue, *heard) {
	t.Helper()
	log := &heard{}
	o.Works, o.Log = true, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	q, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q, log
}

// TestFormat: values have the version of their format, and those without one are of version 1.
func TestFormat(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	q := opened(t, h, "a", 0)
	old := `{"job":{"name":"disk.iso","watch":"disk","version":"1","uris":["https://example.org/disk.iso"]},"state":"queued","since":"2026-01-02T03:04:05Z","lease":{}}`
	if _, err := q.storage.jobs.Create(t.Context(), fleet.KeyOf("disk.iso"), []byte(old)); err != nil {
		t.Fatal(err)
	}
	report(t, q, disk("1"), fleet.Again)
	l, err := q.Lead(t.Context(), "isos", "1", "feeds", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Keep("feeds", "one", []byte("x"))
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	next(t, q)
	keys, err := q.storage.feeds.Keys(t.Context())
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	job, err := q.storage.jobs.Get(t.Context(), fleet.KeyOf("disk.iso"))
	lead, err2 := q.storage.leases.Get(t.Context(), l.key)
	feed, err3 := q.storage.feeds.Get(t.Context(), keys[0])
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, e := range [][]byte{job.Value(), lead.Value(), feed.Value()} {
		if !bytes.HasPrefix(e, []byte(`{"format":1,"`)) {
			t.Errorf("%.80s has no version", e)
		}
	}
}

// TestNewer_Format: what a newer braid has stored is neither changed nor removed, keeps nobody from anything else, and
// is told of once.
func TestNewer_Format(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	q, log := heardBy(t, Options{Host: h, Name: "a", Lease: time.Second})
	key := fleet.KeyOf("new.iso")
	newer := []byte(`{"format":2,"work":[{"name":"new.iso"}]}`)
	for _, b := range []string{key, fleet.KeyOf("other.iso")} {
		if _, err := q.storage.jobs.Create(t.Context(), b, newer); err != nil {
			t.Fatal(err)
		}
		if _, err := q.storage.js.Publish(t.Context(), subject, []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	report(t, q, disk("1"), fleet.Fresh)
	next(t, q)
	is := func(err error) bool {
		_, newer := errors.AsType[*NewerError](err)
		return newer && strings.Contains(err.Error(), "a newer braid")
	}
	if _, err := q.Report(t.Context(), fleet.Job{Name: "new.iso", URIs: []string{"https://example.org/new.iso"}}); !is(err) {
		t.Errorf("a report is %v", err)
	}
	if _, err := q.Retry(t.Context(), key); !is(err) {
		t.Errorf("a retry is %v", err)
	}
	if _, err := q.Drop(t.Context(), key); !is(err) {
		t.Errorf("it is dropped: %v", err)
	}
	all, err := q.All(t.Context())
	if x, ok := errors.AsType[*NewerError](err); !ok || x.Values != 2 || x.Format != 2 || len(all) != 1 {
		t.Errorf("%d records, %v", len(all), err)
	}
	if b, err := q.Board(t.Context()); !is(err) || b.Status(nil, q.clock.now()).Jobs[fleet.Newer] != 2 {
		t.Errorf("the state of the queue: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); log.count("a newer braid") == 0 && time.Now().Before(end); {
		rest(t.Context(), 10*time.Millisecond)
	}
	if n := log.count("a newer braid"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, &log.text)
	}
	if n := log.count("cannot be read"); n > 0 {
		t.Errorf("it is called unreadable:\n%s", &log.text)
	}
	if e, err := q.storage.jobs.Get(t.Context(), key); err != nil || !bytes.Equal(e.Value(), newer) {
		t.Errorf("it is %s, %v", e.Value(), err)
	}
	if n := left(t, q); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}

	l, err := q.Lead(t.Context(), "isos", "1", "feeds", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.storage.feeds.Put(t.Context(), l.group+"."+key, newer); err != nil {
		t.Fatal(err)
	}
	if err := l.Kept(t.Context(), func(string, string, []byte) {}); !is(err) {
		t.Errorf("what a newer watcher keeps is passed over: %v", err)
	}
}
