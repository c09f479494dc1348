package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A lagging bucket is that of one of several servers that does not know of the last changes.
type lagging struct{ jetstream.KeyValue }

func (lagging) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return nil, jetstream.ErrKeyNotFound
}

// TestLaggingServer_Rule76: a job is not lost when its worker asks a server that does not know of it yet.
func TestLaggingServer_Rule76(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0), opened(t, h, "b", 0)
	var err error
	if a.storage.jobs, err = newSure(t.Context(), a.storage.js, lagging{a.storage.jobs}); err != nil {
		t.Fatal(err)
	}
	report(t, b, disk("1"), fleet.Fresh)
	c := next(t, a)
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Useless}); err != nil {
		t.Fatal(err)
	}
	if again, err := a.Retry(t.Context(), c.Record.Job.Key()); err != nil || !again {
		t.Fatalf("retried: %v, %v", again, err)
	}
	if again := next(t, a); again.Fence() != c.Fence()+1 {
		t.Errorf("under fence %d, after %d", again.Fence(), c.Fence())
	}
	if gone, err := b.Drop(t.Context(), fleet.KeyOf("another")); gone || err != nil {
		t.Errorf("a job that is not there is dropped: %v", err)
	}
	if err := b.Withdraw(t.Context(), c.Record.Job.Key(), "disk"); err != nil {
		t.Fatal(err)
	}
	if r := record(t, a, "disk.iso"); r.State != "" {
		t.Errorf("what was dropped is %s", r.State)
	}
}

// TestForeignRecords: what another program has stored, or sent, keeps neither jobs nor those that look on from theirs.
func TestForeignRecords(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	for key, text := range map[string]string{
		"one": `[]`, "two": `{"state":"queued","job":{"name":"x","uris":["https://example.org/x"]}}`, "three": "",
		fleet.KeyOf("y"): `{"state":"queued","job":{"name":"y"}}`,
	} {
		if _, err := q.storage.jobs.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := q.storage.js.Publish(t.Context(), subject, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"no key", ">", ""} {
		if _, err := q.storage.js.Publish(t.Context(), subject, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	report(t, q, disk("1"), fleet.Fresh)
	names := map[string]bool{}
	for range 2 {
		names[next(t, q).Record.Job.Name] = true
	}
	if !names["disk.iso"] || !names["y"] {
		t.Errorf("taken: %v", names)
	}
	if all, err := q.All(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("%d records, %v", len(all), err)
	}
	if _, err := q.Report(t.Context(), fleet.Job{Name: "y", URIs: []string{"https://example.org/y"}}); err == nil {
		t.Error("its name is taken by a job without a place")
	}
}

// TestEndlessAnswers: those that ask workers are told in time, though one process answers for ever.
func TestEndlessAnswers(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	q, other := opened(t, h, "a", 0), opened(t, h, "b", 0)
	if _, err := other.storage.conn.Subscribe(subjectAsk, func(m *nats.Msg) {
		go func() { // each question: the first of them may end before an answer of another process
			data, _ := json.Marshal(fleet.Worker{Name: "c"})
			for rest(t.Context(), lastAnswer/4) == nil && m.Respond(data) == nil {
				other.storage.conn.Flush()
			}
		}()
	}); err != nil || other.storage.conn.Flush() != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		for {
			all, err := q.Workers(t.Context())
			if err != nil || len(all) > 2 { // one that is late for an answer has fewer
				answered <- fmt.Sprint(err)
				return
			}
		}
	}()
	select {
	case got := <-answered:
		if got != "<nil>" {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits")
	}
}
