package jetstream

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"braid/fleet"
)

// doneBefore stores records of what is done, as many workers have left them.
func doneBefore(t *testing.T, q *Queue, first, n int) {
	t.Helper()
	for i := range n {
		r := fleet.Record{Job: fleet.Job{Name: fmt.Sprint("old", first+i), URIs: []string{"https://example.org/"}},
			State: fleet.Done, Since: q.clock.now(), Good: &fleet.Ending{Kind: fleet.Right}}
		data, err := encode(r)
		if err == nil {
			_, err = q.storage.js.PublishMsgAsync(&nats.Msg{Subject: "$KV." + q.storage.jobs.Bucket() + "." +
				r.Job.Key(), Data: data})
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 || i == n-1 {
			<-q.storage.js.PublishAsyncComplete()
		}
	}
}

// reads returns how many records a look at the queue reads, and what it finds.
func reads(t *testing.T, q *Queue) (int, map[fleet.State]int) {
	t.Helper()
	b, _, err := readBoard(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	all, err := q.Board(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := all.Status(nil, q.clock.now())
	return b.read, s.Jobs
}

// TestBoardReads: what a status reads does not grow with the records of what is done, and what it says is what there is.
func TestBoardReads(t *testing.T) {
	t.Parallel()
	s := serverAt(t, server.RANDOM_PORT, t.TempDir()) // it does not sync each record
	q, _ := heardBy(t, Options{URL: s.ClientURL(), Name: "a"})
	expect := func(when string, most int, want map[fleet.State]int) {
		t.Helper()
		n, jobs := reads(t, q)
		if n > most || fmt.Sprint(jobs) != fmt.Sprint(want) {
			t.Errorf("%s: %d records are read, of %d at most, and there are %v, want %v", when, n, most, jobs, want)
		}
	}
	doneBefore(t, q, 0, 5000)
	report(t, q, disk("1"), fleet.Fresh)
	report(t, q, prior("high.iso", fleet.High), fleet.Fresh)
	expect("the first look", 5002, map[fleet.State]int{fleet.Done: 5000, fleet.Queued: 2})
	expect("the second", 0, map[fleet.State]int{fleet.Done: 5000, fleet.Queued: 2})
	c := next(t, q)
	expect("with one that runs", 1, map[fleet.State]int{fleet.Done: 5000, fleet.Queued: 1, fleet.Running: 1})
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Useless}); err != nil {
		t.Fatal(err)
	}
	if dropped, err := q.Drop(t.Context(), fleet.KeyOf("old7")); !dropped || err != nil {
		t.Fatal(dropped, err)
	}
	expect("with one that is dead and one that was dropped", 2, map[fleet.State]int{fleet.Done: 4999, fleet.Queued: 1,
		fleet.Dead: 1})

	doneBefore(t, q, 5000, 3000)
	if err := (&keeper{q: q}).board(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("after a worker has looked", 0, map[fleet.State]int{fleet.Done: 7999, fleet.Queued: 1, fleet.Dead: 1})
	report(t, q, fleet.Job{Name: "old9", URIs: []string{"https://example.org/"}, Version: "2"}, fleet.Fresh)
	expect("with one that was done", 1, map[fleet.State]int{fleet.Done: 7998, fleet.Queued: 2, fleet.Dead: 1})
	if names := all(t, q, fleet.Queued); names != 2 {
		t.Errorf("%d records are queued", names)
	}
}

// all is how many records there are of a state, all of them read.
func all(t *testing.T, q *Queue, state fleet.State) (n int) {
	t.Helper()
	records, err := q.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.State == state {
			n++
		}
	}
	return n
}

// TestBoardForgets: what says that a record was removed goes after a while, and neither the count nor a record that was
// made since is wrong for it.
func TestBoardForgets(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	doneBefore(t, q, 0, 10)
	for i := range 5 {
		if _, err := q.Drop(t.Context(), fleet.KeyOf(fmt.Sprint("old", i))); err != nil {
			t.Fatal(err)
		}
	}
	b, revision, err := readBoard(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	storeBoard(t.Context(), q, &b, revision)
	b, revision, err = readBoard(t.Context(), q)
	if err != nil || len(b.Gone) != 5 || b.done != 5 {
		t.Fatalf("%d gone, %d done, %v", len(b.Gone), b.done, err)
	}
	for key := range b.Gone {
		b.Gone[key] -= int64(2 * goneFor.Seconds())
	}
	report(t, q, fleet.Job{Name: "old0", URIs: []string{"https://example.org/"}}, fleet.Fresh)
	storeBoard(t.Context(), q, &b, revision)
	if _, jobs := reads(t, q); fmt.Sprint(jobs) != "map[done:5 queued:1]" {
		t.Errorf("there are %v", jobs)
	}
	s, err := q.storage.js.Stream(t.Context(), "KV_"+q.storage.jobs.Bucket())
	if err != nil || s.CachedInfo().State.NumSubjects != 6 {
		t.Errorf("%d subjects, %v", s.CachedInfo().State.NumSubjects, err)
	}
}

// TestBoardForgetsWhatIsStored: a process that looks long after a job was dropped, and is killed before it stores what
// it saw, leaves no job that is open for ever.
func TestBoardForgetsWhatIsStored(t *testing.T) {
	t.Parallel()
	s := serverAt(t, server.RANDOM_PORT, t.TempDir())
	q, _ := heardBy(t, Options{URL: s.ClientURL(), Name: "a"})
	doneBefore(t, q, 0, boardAfter)
	report(t, q, disk("1"), fleet.Fresh)
	if _, err := q.Board(t.Context()); err != nil { // stores that the job is open
		t.Fatal(err)
	}
	key := fleet.KeyOf(disk("1").Name)
	if dropped, err := q.Drop(t.Context(), key); !dropped || err != nil {
		t.Fatal(dropped, err)
	}
	b, _, err := readBoard(t.Context(), q)
	if err != nil || b.Gone[key] == 0 {
		t.Fatal(b.Gone, err)
	}
	b.Gone[key] -= int64(2 * goneFor.Seconds())
	stream, err := q.storage.js.Stream(t.Context(), "KV_"+q.storage.jobs.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	forget(t.Context(), q, stream, &b)
	if _, jobs := reads(t, q); fmt.Sprint(jobs) != fmt.Sprint(map[fleet.State]int{fleet.Done: boardAfter}) {
		t.Errorf("there are %v", jobs)
	}
}
