package download

import (
	"time"

	"braid/download/speeds"
	"braid/source"
)

// remember tells what the sources showed that they can do, for the next download. What a limit of the user's allowed
// says nothing of them.
func (s *session) remember() {
	if s.c.Speeds == nil || s.c.Limit != nil {
		return
	}
	now := time.Now()
	working := 0
	for _, sp := range s.sched.Speeds() {
		o := s.sources.lanes[sp.Source]
		if o.lanes > 1 || o.swarm { // one of several connections is not the server
			continue
		}
		known := speeds.Speed{Host: sp.Host, Rate: sp.Rate, RTT: sp.RTT}
		if o.banned {
			known.Rate = 0
		}
		if known.Rate > 0 {
			working++
		}
		s.c.Speeds.Learn(now, known)
		if named := source.HostPort(o.url); named != sp.Host { // it redirects: both names are asked for
			known.Host = named
			s.c.Speeds.Learn(now, known)
		}
	}
	if working > 1 {
		s.c.Speeds.LearnTogether(now, s.sched.Peak())
	}
}
