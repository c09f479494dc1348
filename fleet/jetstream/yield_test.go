package jetstream

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"braid/fleet"
)

func leads(t *testing.T, q *Queue) *Lead {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	l, err := q.Lead(ctx, "isos", "1", "feeds", func(Leader) {})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLeadEnds: a process that is told to end stores what it keeps before another one leads, which knows that all of it
// is there. Of one that is killed the next one knows that it may not be.
func TestLeadEnds(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.ShortestLease), opened(t, h, "b", fleet.ShortestLease)
	ctx, end := context.WithCancel(t.Context())
	first, err := a.Lead(ctx, "isos", "1", "feeds", nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.Whole {
		t.Error("no leader was before, and all of it is there")
	}
	first.Adopted()
	end()
	<-first.Context.Done()
	for _, bucket := range []string{"feeds", "watches", "reports"} {
		first.Keep(bucket, "one", []byte("x"))
	}
	if err := first.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, n := leads(t, b), 0
	if err := second.Kept(t.Context(), func(string, string, []byte) { n++ }); err != nil || n != 3 || !second.Whole {
		t.Errorf("%d values are there, whole is %v, %v", n, second.Whole, err)
	}
	b.storage.conn.Close() // as of a process that was killed
	third := leads(t, a)
	if third.Whole {
		t.Error("what a killed process had kept is whole")
	}
	if err := third.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third = leads(t, a); third.Whole {
		t.Error("what a killed process had kept is whole after one that could not adopt it")
	}
	third.Adopted()
	third.Keep("reports", "large", make([]byte, mostPayload))
	if err := third.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fourth := leads(t, a); fourth.Whole {
		t.Error("a value is missing, and all of it is there")
	}
}

// TestKeepLast: values of the last bucket are stored after the others, so that a process that is killed meanwhile
// leaves none of them alone.
func TestKeepLast(t *testing.T) {
	t.Parallel()
	l := &Lead{last: "feeds"}
	values := map[string]kept{"a": {Bucket: "feeds"}, "b": {Bucket: "watches"}, "c": {Bucket: "feeds"}, "d": {Bucket: "reports"}}
	if got := l.inOrder(values); !slices.Equal(got, []string{"b", "d", "a", "c"}) {
		t.Errorf("stored in the order %v", got)
	}
}

// TestYield: a leader that would yield does if another process stands by, which leads then, and not the one that has yielded.
func TestYield(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.LongestLease), opened(t, h, "b", fleet.LongestLease) // which nobody waits for
	first := leads(t, a)
	if first.Yield(t.Context()) || first.Context.Err() != nil {
		t.Fatal("yields though no process stands by")
	}
	found, second := make(chan Leader, 9), make(chan *Lead)
	go func() {
		l, err := b.Lead(t.Context(), "isos", "1", "feeds", func(l Leader) { found <- l })
		if err != nil {
			t.Error(err)
		}
		second <- l
	}()
	<-found
	if !first.Yield(t.Context()) || !errors.Is(context.Cause(first.Context), errYielded) {
		t.Fatal("does not yield to one that stands by")
	}
	if err := first.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := make(chan *Lead)
	go func() {
		l, err := a.Lead(t.Context(), "isos", "1", "feeds", func(l Leader) { found <- l })
		if err != nil {
			t.Error(err)
		}
		again <- l
	}()
	l := <-second
	<-found
	if l.Yield(t.Context()) {
		t.Error("yields to the one that has just yielded")
	}
	if err := l.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-again // the wait of one that has yielded ends
}

// TestGivenBackBefore: a process that finds a lease taken, and waits for it only when it was given back already, does not
// wait until it would have run out.
func TestGivenBackBefore(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.LongestLease), opened(t, h, "b", fleet.LongestLease)
	first := leads(t, a)
	held := &fleet.HeldError{Lease: fleet.Lease{Until: b.clock.now().Add(fleet.LongestLease)}}
	if err := first.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), fleet.LongestLease/5)
	defer stop()
	if b.awaitKey(ctx, first.key, held); ctx.Err() != nil {
		t.Error("waits for a lease that is free")
	}
}
