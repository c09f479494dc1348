package antenna

import "time"

// A queued says when it is due, and where in its queue it is.
type queued struct {
	at    time.Time
	place int // from 1; 0: in no queue
}

func (q *queued) entry() *queued { return q }

// A queue is a heap of what is due when.
type queue[T interface{ entry() *queued }] struct{ heap []T }

// first returns what is due first, and when.
func (q *queue[T]) first() (item T, at time.Time, ok bool) {
	if len(q.heap) == 0 {
		return item, at, false
	}
	return q.heap[0], q.heap[0].entry().at, true
}

// put makes item due at that time, and adds it if it is not there.
func (q *queue[T]) put(item T, at time.Time) {
	e := item.entry()
	e.at = at
	if e.place == 0 {
		q.heap = append(q.heap, item)
		e.place = len(q.heap)
	}
	q.up(e.place - 1)
	q.down(e.place - 1)
}

// remove takes item out, if it is there.
func (q *queue[T]) remove(item T) {
	i := item.entry().place - 1
	if i < 0 {
		return
	}
	last := len(q.heap) - 1
	q.swap(i, last)
	var none T
	q.heap[last] = none
	q.heap = q.heap[:last]
	item.entry().place = 0
	if i < last {
		q.up(i)
		q.down(i)
	}
}

func (q *queue[T]) before(i, j int) bool {
	return q.heap[i].entry().at.Before(q.heap[j].entry().at)
}

func (q *queue[T]) swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.heap[i].entry().place, q.heap[j].entry().place = i+1, j+1
}

func (q *queue[T]) up(i int) {
	for i > 0 && q.before(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q *queue[T]) down(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(q.heap) && q.before(child+1, child) {
			child++
		}
		if child >= len(q.heap) || !q.before(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
