package serve

import "container/list"

// A recent is a map that forgets what was not used for longest when its weight is too much. The zero value is not ready.
type recent[K comparable, V any] struct {
	most   int // all weights together
	weigh  func(V) int
	weight int
	order  *list.List // of *kept, the last used first
	at     map[K]*list.Element
}

type kept[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int, weigh func(V) int) *recent[K, V] {
	return &recent[K, V]{most: most, weigh: weigh, order: list.New(), at: map[K]*list.Element{}}
}

// get is the value of a key, which is used.
func (m *recent[K, V]) get(key K) (v V, ok bool) {
	e := m.at[key]
	if e == nil {
		return v, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*kept[K, V]).value, true
}

// put takes a value in, also one that alone weighs too much.
func (m *recent[K, V]) put(key K, v V) {
	m.forget(key)
	m.at[key] = m.order.PushFront(&kept[K, V]{key, v})
	m.weight += m.weigh(v)
	for m.weight > m.most && m.order.Len() > 1 {
		m.forget(m.order.Back().Value.(*kept[K, V]).key)
	}
}

func (m *recent[K, V]) forget(key K) {
	e := m.at[key]
	if e == nil {
		return
	}
	m.weight -= m.weigh(e.Value.(*kept[K, V]).value)
	m.order.Remove(e)
	delete(m.at, key)
}

// all calls do for each value, those that were used last first.
func (m *recent[K, V]) all(do func(K, V)) {
	for e := m.order.Front(); e != nil; e = e.Next() {
		k := e.Value.(*kept[K, V])
		do(k.key, k.value)
	}
}
