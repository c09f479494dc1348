package cli

import (
	"iter"
	"sync"
)

// A mailbox passes events of a download to the goroutine that shows them, so that a slow terminal or pipe
// does not block the download.
type mailbox[T any] struct {
	// replaces reports whether next makes last obsolete. If it does and last was not taken yet, last is
	// dropped.
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

// put appends an item. It does not wait for the reader.
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

// close ends the sequence of all. Nothing may be put afterwards.
func (q *mailbox[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// all yields the items in order until close. Only one goroutine may call it.
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

// take waits for items. It returns none after close.
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
