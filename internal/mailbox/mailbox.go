// Package mailbox passes values from goroutines that must not wait to a goroutine that handles the values.
package mailbox

import (
	"iter"
	"sync"
)

// A Mailbox is an unbounded queue with one reader. For example, it passes events of a download to the goroutine that
// shows them, so that a slow terminal or pipe does not block the download.
type Mailbox[T any] struct {
	// replaces reports whether next makes last obsolete. Then last is dropped, unless the reader has it already.
	replaces func(last, next T) bool

	mu     sync.Mutex
	more   *sync.Cond
	items  []T
	closed bool
}

// New returns an empty mailbox.
func New[T any](replaces func(last, next T) bool) *Mailbox[T] {
	q := &Mailbox[T]{replaces: replaces}
	q.more = sync.NewCond(&q.mu)
	return q
}

// Put appends an item. It does not wait for the reader.
func (q *Mailbox[T]) Put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.items); n > 0 && q.replaces(q.items[n-1], item) {
		q.items[n-1] = item
		return
	}
	q.items = append(q.items, item)
	q.more.Signal()
}

// Close ends the sequence of All. Nothing may be put afterwards.
func (q *Mailbox[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// All returns an iterator over the items, in order, until Close. Only one goroutine may use it.
func (q *Mailbox[T]) All() iter.Seq[T] {
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

// take waits for items, and returns all of them. After Close it returns the remaining items without waiting.
func (q *Mailbox[T]) take() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.more.Wait()
	}
	batch := q.items
	q.items = nil
	return batch
}
