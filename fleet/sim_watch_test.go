package fleet

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// A group has the watchers of one configuration: a leader, which polls, and one that stands by.
type group struct {
	s       *sim
	lease   Lease
	leader  *process
	members []*process
	pending map[int][]entry // by feed: entries that its watcher has not stored as seen
	overdue []int           // feeds that were due while there was no leader
	flying  map[int]bool    // feeds whose poll is not stored yet
	told    map[entry]bool  // entries that this leader has reported
}

type entry struct {
	file    *file
	version int
}

func (s *sim) groupOf(feed int) *group { return s.groups[feed%len(s.groups)] }

func (s *sim) addWatchers() {
	for i := range s.shape.groups {
		g := &group{s: s, pending: map[int][]entry{}, flying: map[int]bool{}, told: map[entry]bool{}}
		for _, which := range "ab" {
			g.members = append(g.members, &process{name: fmt.Sprintf("watcher %d%c", i, which)})
		}
		s.groups = append(s.groups, g)
		g.lead(g.members[0])
		g.await(g.members[1])
	}
	for feed := range s.feeds {
		s.after(time.Duration(s.random.Int64N(int64(s.poll))), func() { s.groupOf(feed).due(feed) })
	}
}

// over reports whether watchers may stop, because one more round after the last update has seen everything.
func (s *sim) over() bool { return s.now > s.length+s.poll+2*s.lease }

// lead makes p the leader if the lease is free.
func (g *group) lead(p *process) {
	var err error
	g.s.store(p, 1, func() { err = g.lease.Take(p.name, g.s.clock(), g.s.lease) }, func() {
		if err != nil {
			g.await(p)
			return
		}
		g.leader = p
		late := g.overdue
		g.overdue = nil
		for i, feed := range late {
			g.s.after(time.Duration(i)*time.Second/mostAhead, func() { g.poll(feed) })
		}
		g.beat(p, g.lease.Fence)
	})
}

// await waits until the lease may be free, and then calls lead.
func (g *group) await(p *process) {
	if !g.s.over() {
		g.s.as(p, max(g.s.now+10*time.Millisecond, g.lease.Until.Sub(t0)), func() { g.lead(p) })
	}
}

func (g *group) beat(p *process, fence uint64) {
	g.s.as(p, g.s.now+g.s.lease/3, func() {
		if g.s.over() {
			return
		}
		var err error
		g.s.store(p, 1, func() { err = g.lease.Prolong(p.name, fence, g.s.clock(), g.s.lease) }, func() {
			if err != nil {
				g.leader = nil
				g.await(p)
				return
			}
			g.beat(p, fence)
		})
	})
}

// due polls a feed now and then at each interval.
func (g *group) due(feed int) {
	g.poll(feed)
	if !g.s.over() {
		g.s.after(g.s.poll, func() { g.due(feed) })
	}
}

func (g *group) poll(feed int) {
	p := g.leader
	if p == nil || p.down {
		g.overdue = append(g.overdue, feed)
		return
	}
	g.flying[feed] = true
	g.s.as(p, g.s.now+g.s.answer, func() {
		news := slices.Clone(g.pending[feed])
		told := 0
		for _, e := range news {
			if !g.told[e] {
				g.told[e] = true
				told++
				g.s.report(p, e.file)
			}
		}
		// Reported entries are stored as seen a second later. Until then a new leader would report them again.
		g.s.as(p, g.s.now+flush, func() {
			g.s.store(p, 1+told, func() {
				for _, e := range news {
					delete(g.told, e)
				}
				g.pending[feed] = slices.DeleteFunc(g.pending[feed], func(e entry) bool { return slices.Contains(news, e) })
			}, func() { delete(g.flying, feed) })
		})
	})
}

// news adds a new version of a file to a feed.
func (g *group) news(feed int, f *file) {
	older := slices.DeleteFunc(g.pending[feed], func(e entry) bool { return e.file == f })
	g.pending[feed] = append(older, entry{f, f.version})
}

// report puts a job into the queue, like Queue.Report.
func (s *sim) report(p *process, f *file) {
	j := Job{Name: f.name, Watch: "w", Version: fmt.Sprint(f.version), URIs: []string{f.name}}
	version := f.version
	s.store(p, 1, func() {
		before := f.record.State
		news, err := f.record.Report(j, s.clock())
		if err != nil {
			s.fault("%s is refused: %v", f.name, err)
		}
		if f.reported == 0 && version == f.version {
			f.reported = s.now
		}
		if news == Duplicate || news == Again {
			s.stats.known++
			s.writes-- // nothing is stored
			return
		}
		s.stats.fresh++
		if news == Fresh {
			s.store(p, 1, func() {
				if before != Queued {
					s.deliverable(f)
				}
			}, func() {})
		}
	}, func() {})
}

// killWatcher kills the leader of a group. The process is started again and stands by.
func (s *sim) killWatcher(n int) {
	g := s.groups[n]
	p := g.leader
	p.down = true
	p.life++
	g.leader = nil
	g.overdue = append(g.overdue, slices.Sorted(maps.Keys(g.flying))...)
	clear(g.flying)
	clear(g.told)
	s.after(backAfter, func() {
		p.down = false
		g.await(p)
	})
}
