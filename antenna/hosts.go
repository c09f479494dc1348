package antenna

import (
	"braid/address"
	"time"
)

// A host is asked one thing at a time, with a gap between two.
type host struct {
	queued
	name string
	// free is when it may be asked next, and busy that it is being asked.
	free    time.Time
	busy    bool
	waiting []*member
}

// Hosts are those of which something is wanted or was lately. They belong to the loop.
type hosts struct {
	gap   time.Duration
	names map[string]*host
	// ready has those that are not busy, by when they are free.
	ready queue[*host]
	// wanted is how many wait.
	wanted int
}

// want has m wait for its host.
func (s *hosts) want(m *member, now time.Time) {
	name := taskHost(&m.task)
	h := s.names[name]
	if h == nil {
		h = &host{name: name, free: now}
		s.names[name] = h
	}
	h.waiting = append(h.waiting, m)
	s.wanted++
	if !h.busy && h.place == 0 {
		s.ready.put(h, h.free)
	}
}

// next returns the member that may ask its host now, which is then busy. Hosts that no member waits for are forgotten.
func (s *hosts) next(now time.Time) *member {
	for {
		h, at, ok := s.ready.first()
		if !ok || at.After(now) {
			return nil
		}
		s.ready.remove(h)
		if len(h.waiting) == 0 {
			delete(s.names, h.name)
			continue
		}
		m := h.waiting[0]
		h.waiting[0] = nil
		h.waiting = h.waiting[1:]
		h.busy = true
		s.wanted--
		return m
	}
}

// done says that a host has answered, and wants to be left alone for that long.
func (s *hosts) done(name string, alone time.Duration, now time.Time) {
	h := s.names[name]
	if name != localHost {
		alone = max(alone, s.gap)
	}
	h.busy, h.free = false, now.Add(alone)
	s.ready.put(h, h.free)
}

// wake is when next may have something.
func (s *hosts) wake() (at time.Time, ok bool) {
	if s.wanted > 0 {
		_, at, ok = s.ready.first()
	}
	return at, ok
}

// localHost stands for the disk.
const localHost = ""

func taskHost(t *task) string {
	if t.feed.Local {
		return localHost
	}
	return address.HostPort(t.URL)
}
