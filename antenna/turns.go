package antenna

import "time"

// A turns schedules the waiting updates. Each watch has a lane with its updates, and the lanes take turns. With several
// hosts or watches, each may use only a part of the slots, so that a slow host or watch leaves slots for the others.
type turns struct {
	// places is the number of slots: of updates that run at once.
	places int
	lanes  map[*watcher]*lane
	hosts  map[string]*crowd
	// due has the lanes that have an update and are not held, ordered by their turn.
	due queue[*lane]
}

// A lane has the updates of a watch.
type lane struct {
	queued
	w       *watcher
	tries   queue[*target]
	running int
	// held reports that the lane waits because its watch or its host uses all slots that it may use. since is when the
	// lane began to wait. served is when the lane had its last turn.
	held   bool
	full   bool // held because of the watch, not the host
	since  time.Time
	served time.Time
}

// isDue reports whether the update for which l was held still waits.
func (l *lane) isDue() bool {
	_, at, ok := l.tries.first()
	return ok && !at.After(l.since)
}

// A crowd has the lanes of a host. held lists the lanes that wait for slots of the host.
type crowd struct {
	running int
	held    []*lane
}

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

// put schedules the update of t.
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
		s.release(s.hosts[l.w.host]) // the removed update may have been the reason to release the lane
	}
}

// arrange updates the position of a lane in due. After a turn, the lane goes behind the lanes that are already due.
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

// part returns how many slots a host or watch may use. several reports that other hosts or watches exist.
func (s *turns) part(several bool) int {
	if !several {
		return s.places
	}
	return max(1, s.places-max(1, s.places/4))
}

// next returns the update that may begin now and gives it a slot. It returns nil if no update may begin.
func (s *turns) next(now time.Time) *target {
	for {
		l, at, ok := s.due.first()
		if !ok || at.After(now) {
			return nil
		}
		host := s.hosts[l.w.host]
		full := l.running >= s.part(len(s.lanes) > 1) || l.running > 0 && l.w.follow != nil // releases one by one
		if full || host.running >= s.part(len(s.hosts) > 1) {
			l.held, l.full, l.since = true, full, now
			if s.due.remove(l); !full {
				host.held = append(host.held, l)
			}
			continue
		}
		t, _, _ := l.tries.first()
		if l.w.follow != nil {
			t = l.w.follow.latest(l.tries.items, now)
		}
		l.tries.remove(t)
		l.running++
		host.running++
		l.served = now
		s.arrange(l)
		return t
	}
}

// done frees the slot that the update of t used.
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

// release ends the hold of the lane that was held first, if its host may use another slot.
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

// wake returns when next may return an update.
func (s *turns) wake() (at time.Time, ok bool) {
	_, at, ok = s.due.first()
	return at, ok
}
