package antenna

import "time"

// The turns are the updates that wait, each until its time, and whose turn it is: those of a watch are in a lane, which
// gets one turn after the other. A host and a watch have no more than a part of the places, so that one that is slow
// leaves room for others.
type turns struct {
	// places is how many there are.
	places int
	lanes  map[*watcher]*lane
	hosts  map[string]*crowd
	// due are the lanes that have an update and are not held, by when their turn is.
	due queue[*lane]
}

// A lane is the updates of a watch.
type lane struct {
	queued
	w       *watcher
	tries   queue[*target]
	running int
	// held: the watch or its host has its part of the places, since then. served is when it had its last turn.
	held   bool
	full   bool // it is held as its watch has its part
	since  time.Time
	served time.Time
}

// isDue reports whether l still has the update for which it was held.
func (l *lane) isDue() bool {
	_, at, ok := l.tries.first()
	return ok && !at.After(l.since)
}

// A crowd is the lanes of a host. Held are those that wait for others of it.
type crowd struct {
	running int
	held    []*lane
}

// lane returns the lane of a watch.
func (s *turns) lane(w *watcher) *lane {
	if s.lanes == nil {
		s.lanes, s.hosts = map[*watcher]*lane{}, map[string]*crowd{}
	}
	l := s.lanes[w]
	if l == nil {
		l = &lane{w: w}
		s.lanes[w] = l
		if s.hosts[w.host] == nil {
			s.hosts[w.host] = &crowd{}
		}
	}
	return l
}

// put has t wait until its time.
func (s *turns) put(t *target, at time.Time) {
	l := s.lane(t.w)
	l.tries.put(t, at)
	s.arrange(l)
}

func (s *turns) remove(t *target) {
	l := s.lane(t.w)
	l.tries.remove(t)
	s.arrange(l)
	if !l.held {
		s.release(s.hosts[l.w.host]) // it may have been the one that was let go on
	}
}

// arrange puts a lane where it belongs. One that had a turn comes behind those that are due since before.
func (s *turns) arrange(l *lane) {
	_, at, ok := l.tries.first()
	switch {
	case !ok || l.held:
		s.due.remove(l)
	case at.Before(l.served):
		s.due.put(l, l.served)
	default:
		s.due.put(l, at)
	}
}

// part is how many places one of several may have.
func (s *turns) part(several bool) int {
	if !several {
		return s.places
	}
	return max(1, s.places-max(1, s.places/4))
}

// next returns the update whose turn it is now, which then has a place; nil if there is none.
func (s *turns) next(now time.Time) *target {
	for {
		l, at, ok := s.due.first()
		if !ok || at.After(now) {
			return nil
		}
		host := s.hosts[l.w.host]
		full := l.running >= s.part(len(s.lanes) > 1)
		if full || host.running >= s.part(len(s.hosts) > 1) {
			l.held, l.full, l.since = true, full, now
			if s.due.remove(l); !full {
				host.held = append(host.held, l)
			}
			continue
		}
		t, _, _ := l.tries.first()
		l.tries.remove(t)
		l.running++
		host.running++
		l.served = now
		s.arrange(l)
		return t
	}
}

// done gives the place of an update back.
func (s *turns) done(t *target) {
	l := s.lane(t.w)
	host := s.hosts[l.w.host]
	l.running--
	host.running--
	if l.held && l.full {
		l.held = false
		s.arrange(l)
	}
	s.release(host)
}

// release lets the lane go on that was held first at a host which has room.
func (s *turns) release(host *crowd) {
	for len(host.held) > 0 && host.running < s.part(len(s.hosts) > 1) {
		l := host.held[0]
		host.held = host.held[1:]
		l.held = false
		if s.arrange(l); l.isDue() {
			return
		}
	}
}

// wake is when next may have an update.
func (s *turns) wake() (at time.Time, ok bool) {
	_, at, ok = s.due.first()
	return at, ok
}
