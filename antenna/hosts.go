package antenna

import (
	"slices"
	"time"

	"braid/address"
)

// A host is a server. It gets one request at a time, with a pause between two requests.
type host struct {
	queued
	name string
	// free is when the host may be asked again. busy reports that a request is running.
	free    time.Time
	busy    bool
	waiting []*member
}

// A hosts holds the servers with waiting or recent requests. It belongs to the loop.
type hosts struct {
	gap   time.Duration
	names map[string]*host
	// ready has the hosts that are not busy, ordered by free.
	ready queue[*host]
	// wanted is the number of waiting members.
	wanted int
}

// want makes m wait for its host.
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

// next returns the next member that may ask its host now, and marks the host as busy. It forgets hosts without waiting
// members.
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
		// The feed that was polled longest ago is first. Otherwise a server that accepts few requests an hour would be
		// asked often for some feeds and never for others.
		i := 0
		for j, m := range h.waiting {
			if m.saved.Polled.Before(h.waiting[i].saved.Polled) {
				i = j
			}
		}
		m := h.waiting[i]
		h.waiting = slices.Delete(h.waiting, i, i+1)
		h.busy = true
		s.wanted--
		return m
	}
}

// done records that a request to a host has ended. alone is how long the host must not be asked.
func (s *hosts) done(name string, alone time.Duration, now time.Time) {
	h := s.names[name]
	if name != localHost {
		alone = max(alone, s.gap)
	}
	h.busy, h.free = false, now.Add(alone)
	s.ready.put(h, h.free)
}

// rests reports whether the host of m must not be asked for a while.
func (s *hosts) rests(m *member, now time.Time) bool {
	h := s.names[taskHost(&m.task)]
	return h != nil && !h.busy && h.free.After(now.Add(max(s.gap, time.Minute)))
}

// wake returns when next may return a member.
func (s *hosts) wake() (at time.Time, ok bool) {
	if s.wanted > 0 {
		_, at, ok = s.ready.first()
	}
	return at, ok
}

// localHost stands for local files.
const localHost = ""

func taskHost(t *task) string {
	if t.feed.Local {
		return localHost
	}
	return address.HostPort(t.URL)
}
