package mailbox

import (
	"slices"
	"sync"
	"testing"
)

// even numbers replace even numbers, as progress does.
func even(last, next int) bool { return last%2 == 0 && next%2 == 0 }

func TestMailboxReplaces(t *testing.T) {
	q := New(even)
	for _, n := range []int{2, 4, 1, 3, 6, 8, 8, 5} {
		q.Put(n)
	}
	q.Close()
	if got := slices.Collect(q.All()); !slices.Equal(got, []int{4, 1, 3, 8, 5}) {
		t.Error(got)
	}
}

// TestMailboxKeepsOrder: a slow reader delays no sender and loses nothing.
func TestMailboxKeepsOrder(t *testing.T) {
	q := New(func(int, int) bool { return false })
	const n = 10000
	var got []int
	var wg sync.WaitGroup
	wg.Go(func() { got = slices.Collect(q.All()) })
	for i := range n {
		q.Put(i)
	}
	q.Close()
	wg.Wait()
	if len(got) != n || !slices.IsSorted(got) {
		t.Errorf("%d items, sorted: %t", len(got), slices.IsSorted(got))
	}
}

func TestMailboxStops(t *testing.T) {
	q := New(even)
	q.Put(1)
	q.Put(3)
	for n := range q.All() {
		if n != 1 {
			t.Error(n)
		}
		break
	}
}
