package download

import (
	"net/url"
	"time"

	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// addMirrors makes the mirrors known, those of the server before those of the user.
func (s *session) addMirrors() {
	s.news = false
	if s.plan.alone {
		return
	}
	for _, m := range s.file.Mirrors {
		if m.URL.Scheme != "http" && m.URL.Scheme != "https" {
			s.note("%s: mirrors of this kind are not supported yet", source.Mask(m.URL))
			continue
		}
		o := s.mirrorOptions()
		if m.Pref {
			o.IfMatch = s.etag // S9
		}
		s.addOrigin(m.URL, o, origin{pref: m.Pref})
	}
	s.addSiblings()
	s.addUserMirrors()
	s.addLanes()
}

// addSiblings makes mirrors known that another file of the batch told of. Without a strong digest nothing would
// show that they have this file (C4).
func (s *session) addSiblings() {
	if s.req.NoMetalink || s.standIn() || !verify.Strong(s.claims) {
		return
	}
	for _, m := range s.atlas.siblings(s.req.URL) {
		if m.URL.Scheme == "http" || m.URL.Scheme == "https" {
			s.addOrigin(m.URL, s.mirrorOptions(), origin{tree: m.tree})
		}
	}
}

// mirrorOptions are for requests to others than the server that the user asked.
func (s *session) mirrorOptions() httpsource.Options {
	o := httpsource.Options{Mirror: true, Referer: s.req.URL, Header: s.req.Header, Trusted: s.trusted()}
	if s.req.NoReferer || s.req.User != nil || s.req.URL.User != nil {
		o.Referer = nil // rule 28: or it is the address of something private
	}
	return o
}

// standIn says that a mirror of the user's is asked in place of the server that failed. Its links are a
// mirror's (C2).
func (s *session) standIn() bool { return s.plan.origin != s.req.URL }

func (s *session) addUserMirrors() {
	if s.plan.alone {
		return
	}
	for _, u := range s.req.Mirrors {
		s.addOrigin(u, s.mirrorOptions(), origin{user: true})
	}
}

// addOrigin makes a source known to the scheduler, once.
func (s *session) addOrigin(u *url.URL, opts httpsource.Options, o origin) {
	for _, known := range s.origins {
		if known.url.String() == u.String() {
			return
		}
	}
	o.id, o.url, o.masked, o.host = len(s.origins), u, source.Mask(u), source.HostPort(u)
	o.src = s.http.Source(u, opts)
	if p := s.plan.past[u.String()]; p != nil {
		o.brought, o.bytes, o.busy = p.brought, p.bytes, p.busy
		o.banned, o.err = p.banned != nil, p.banned
	}
	s.origins = append(s.origins, &o)
	if !o.banned {
		s.addLane(&o)
	}
}

// addLane makes the scheduler know a source. What it counts as one source can take one fetch at a time.
func (s *session) addLane(o *origin) {
	o.lanes++
	s.lanes = append(s.lanes, o)
	added := scheduler.SourceAdded{ID: scheduler.SourceID(len(s.lanes) - 1), Host: o.host}
	if o.lanes == 1 {
		added.Brought = o.brought
		added.Rate, added.RTT = s.c.Speeds.Hint(o.host, time.Now())
	}
	s.step(added)
}

// addLanes lets every source take several fetches at a time, if the user wants that (-x). The first of each
// come before the second of any.
func (s *session) addLanes() {
	for n := 1; n < s.c.PerHost; n++ {
		for _, o := range s.origins {
			if o.lanes <= n && !o.banned {
				s.addLane(o)
			}
		}
	}
}
