package download

import (
	"braid/download/state"
	"braid/source"
)

// remember tells what the sources showed that they can do, for the next download. What a limit of the user's allowed
// says nothing of them.
func (s *session) remember() {
	if s.c.State == nil || s.c.Limit != nil {
		return
	}
	working := 0
	for _, sp := range s.sched.Speeds() {
		o := s.sources.lanes[sp.Source]
		if o.lanes > 1 || o.swarm { // one of several connections is not the server
			continue
		}
		known := state.Speed{Rate: sp.Rate, RTT: sp.RTT}
		if o.banned {
			known.Rate = 0
		}
		if known.Rate > 0 {
			working++
		}
		s.c.State.Learn(sp.Host, known)
		if named := source.HostPort(o.url); named != sp.Host { // it redirects: both names are asked for
			s.c.State.Learn(named, known)
		}
	}
	if working > 1 {
		s.c.State.Learn(state.AllHosts, state.Speed{Rate: s.sched.Peak()})
	}
}
