package cli

import (
	"iter"
	"sync"
)

// A mailbox carries what happens in a download to the goroutine that writes it down, so that a slow terminal or
// pipe never holds up the download itself.
type mailbox[T any] struct {
	// replaces reports whether the last item, which was not taken yet, is out of date when next comes.
	replaces func(last, next T) bool

	mu     sync.Mutex
	more   *sync.Cond
	items  []T
	closed bool
}

func newMailbox[T any](replaces func(last, next T) bool) *mailbox[T] {
	q := &mailbox[T]{replaces: replaces}
	q.more = sync.NewCond(&q.mu)
	return q
}

// put never blocks for longer than it takes to append.
func (q *mailbox[T]) put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.items); n > 0 && q.replaces(q.items[n-1], item) {
		q.items[n-1] = item
		return
	}
	q.items = append(q.items, item)
	q.more.Signal()
}

// close says that nothing more will be put.
func (q *mailbox[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// all yields what was put, in order, until close. It is for one goroutine.
func (q *mailbox[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			batch := q.take()
			if len(batch) == 0 {
				return
			}
			for _, item := range batch {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// take waits for items; none says that there will be no more.
func (q *mailbox[T]) take() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.more.Wait()
	}
	batch := q.items
	q.items = nil
	return batch
}
