package jetstream

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

func prior(name string, p fleet.Priority) fleet.Job {
	return fleet.Job{Name: name, URIs: []string{"https://example.org/" + name}, Priority: p}
}

// TestPriorities: a higher job is taken first, whenever it came, and the last word about one that waits counts.
func TestPriorities(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0), opened(t, h, "b", 0)
	for i := range 2 {
		for _, p := range []fleet.Priority{fleet.Low, fleet.Normal, fleet.High} {
			report(t, a, prior(fmt.Sprint(p, i), p), fleet.Fresh)
		}
	}
	report(t, a, prior("low1", fleet.High), fleet.Again)
	var got []string
	for i := range 6 {
		c := next(t, []*Queue{a, b}[i%2])
		got = append(got, c.Record.Job.Name)
		if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[high0 high1 low1 normal0 normal1 low0]"; fmt.Sprint(got) != want {
		t.Errorf("taken in the order %v, want %s", got, want)
	}
	if r := record(t, a, "low1"); r.Job.Priority != fleet.High {
		t.Errorf("its priority is %s", r.Job.Priority)
	}
}

// TestPriorityOfNewer: what is reported while a worker has the job has its own priority, and comes in its turn.
func TestPriorityOfNewer(t *testing.T) {
	a := opened(t, hosted(t, t.TempDir()), "a", 0)
	first, second := disk("1"), disk("2")
	first.Priority, second.Priority = fleet.Low, fleet.High
	report(t, a, first, fleet.Fresh)
	c := next(t, a)
	report(t, a, second, fleet.Later)
	report(t, a, prior("other", fleet.Normal), fleet.Fresh)
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Fatal(err)
	}
	if err := rest(t.Context(), 2*skipEmpty); err != nil {
		t.Fatal(err)
	}
	if c := next(t, a); c.Record.Job.Version != "2" {
		t.Errorf("%s was taken before what is high", c.Record.Job.Name)
	}
}

// TestWaiting: what comes for a worker that does not wait any more goes to another one, at once.
func TestWaiting(t *testing.T) {
	h := hosted(t, t.TempDir())
	// what goes to a comes back after that at the earliest
	a, b := opened(t, h, "a", fleet.LongestLease), opened(t, h, "b", fleet.LongestLease)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if _, err := a.Next(ctx); err == nil {
		t.Fatal("a job of an empty queue")
	}
	for _, p := range fleet.Priorities {
		report(t, a, prior(p.String(), p), fleet.Fresh)
		if c := next(t, b); c.Record.Job.Priority != p {
			t.Errorf("%s was taken, and %s reported", c.Record.Job.Name, p)
		}
	}
}

// TestOldQueue: the messages of a queue that was made before there were priorities are taken, and so are those with one.
func TestOldQueue(t *testing.T) {
	h := hosted(t, t.TempDir())
	q, err := Open(t.Context(), Options{Host: h, Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	if err := q.storage.js.DeleteStream(t.Context(), streamName); err != nil {
		t.Fatal(err)
	}
	s, err := q.storage.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: streamName,
		Subjects: []string{subject}, Retention: jetstream.WorkQueuePolicy})
	if err == nil {
		_, err = s.CreateOrUpdateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: consumerName,
			AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: -1, MaxAckPending: -1})
	}
	if err != nil {
		t.Fatal(err)
	}
	report(t, q, disk("1"), fleet.Fresh)
	w := opened(t, h, "new", 0)
	next(t, w)
	report(t, q, prior("urgent", fleet.High), fleet.Fresh)
	next(t, w)
}

// TestWaitingForAnother: a worker that waits while another server takes over gets the first job of that one.
func TestWaitingForAnother(t *testing.T) {
	dir := t.TempDir()
	one := hosted(t, dir)
	opened(t, one, "a", 0)
	b := opened(t, hosted(t, dir), "b", 0)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	taken := make(chan error)
	go func() {
		_, err := b.Next(ctx)
		taken <- err
	}()
	if err := rest(ctx, 200*time.Millisecond); err != nil { // until it waits
		t.Fatal(err)
	}
	one.Close()
	report(t, b, disk("1"), fleet.Fresh)
	if err := <-taken; err != nil {
		t.Error(err)
	}
}
