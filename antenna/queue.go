package antenna

import (
	"container/heap"
	"time"
)

// A queued is the state of an item in a queue.
type queued struct {
	at    time.Time
	place int // position in the heap, from 1; 0 if not in a queue
}

func (q *queued) entry() *queued { return q }

// A queue is a priority queue ordered by due time.
type queue[T interface{ entry() *queued }] struct{ items items[T] }

// first returns the item that is due first, and when it is due.
func (q *queue[T]) first() (item T, at time.Time, ok bool) {
	if len(q.items) == 0 {
		return item, at, false
	}
	return q.items[0], q.items[0].entry().at, true
}

// put sets the due time of an item, and adds the item if it is not in the queue.
func (q *queue[T]) put(item T, at time.Time) {
	e := item.entry()
	if e.at = at; e.place == 0 {
		heap.Push(&q.items, item)
	} else {
		heap.Fix(&q.items, e.place-1)
	}
}

func (q *queue[T]) remove(item T) {
	if place := item.entry().place; place > 0 {
		heap.Remove(&q.items, place-1)
	}
}

// An items implements heap.Interface.
type items[T interface{ entry() *queued }] []T

func (s items[T]) Len() int           { return len(s) }
func (s items[T]) Less(i, j int) bool { return s[i].entry().at.Before(s[j].entry().at) }
func (s items[T]) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].entry().place, s[j].entry().place = i+1, j+1
}

func (s *items[T]) Push(x any) {
	*s = append(*s, x.(T))
	x.(T).entry().place = len(*s)
}

func (s *items[T]) Pop() any {
	last := len(*s) - 1
	item := (*s)[last]
	clear((*s)[last:])
	*s = (*s)[:last]
	item.entry().place = 0
	return item
}
