package serve

import "container/list"

// recent is a map with a limited total weight. It drops the least recently used entries. The zero value is not usable.
type recent[K comparable, V any] struct {
	most   int // limit of the total weight
	weigh  func(V) int
	weight int
	order  *list.List // of *kept, the most recently used first
	at     map[K]*list.Element
}

type kept[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int, weigh func(V) int) *recent[K, V] {
	return &recent[K, V]{most: most, weigh: weigh, order: list.New(), at: map[K]*list.Element{}}
}

// get returns the value of a key and marks it as used.
func (m *recent[K, V]) get(key K) (v V, ok bool) {
	e := m.at[key]
	if e == nil {
		return v, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*kept[K, V]).value, true
}

// put stores a value, even if its weight alone exceeds the limit.
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

// all calls do for each entry, the most recently used first.
func (m *recent[K, V]) all(do func(K, V)) {
	for e := m.order.Front(); e != nil; e = e.Next() {
		k := e.Value.(*kept[K, V])
		do(k.key, k.value)
	}
}
