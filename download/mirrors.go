package download

import (
	"net/url"
	"slices"

	"braid/address"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/source/torrentsource"
	"braid/verify"
)

// addMirrors makes the mirrors known, those of the server before those of the user.
func (s *session) addMirrors() {
	s.news = false
	if s.plan.alone {
		return
	}
	mirrors := slices.Clone(s.file.Mirrors)
	s.req.near(s.ctx, mirrors)
	for _, m := range mirrors {
		if !s.req.usable(m.URL) {
			s.note("%s: left out, as FTP is off", source.Mask(m.URL))
			continue
		}
		o := s.mirrorOptions()
		o.Named = s.req.namedBy(m.URL, m.By)
		pref := m.Pref && backed(s.claims, verify.HTTP, verify.HTTPS) // beside a Digest only (C4)
		if pref {
			o.IfMatch = s.tag.etag // S9
		}
		s.addOrigin(m.URL, o, origin{pref: pref})
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
		if s.req.usable(m.URL) {
			o := s.mirrorOptions()
			o.Named = s.req.namedBy(m.URL, m.By)
			s.addOrigin(m.URL, o, origin{tree: m.tree})
		}
	}
}

// ownOptions are for requests to the server that the user asked.
func (r *Request) ownOptions(trusted bool) httpsource.Options {
	return httpsource.Options{Header: r.Header, HeaderTo: r.HeaderTo, User: r.User, Trusted: trusted}
}

// mirrorOptions are for requests to others than the server that the user asked.
func (s *session) mirrorOptions() httpsource.Options { return s.req.mirrorOptions(s.trusted()) }

func (r *Request) mirrorOptions(trusted bool) httpsource.Options {
	o := r.ownOptions(trusted)
	o.Mirror, o.User, o.Referer = true, nil, r.asked()
	o.Secure = o.Referer != nil && o.Referer.Scheme == "https"
	if r.NoReferer || r.User != nil || o.Referer != nil && o.Referer.User != nil {
		o.Referer = nil // rule 28: or it is the address of something private
	}
	return o
}

// asked is the URL that the user typed: that of the document, if there is one that was not a local file.
func (r *Request) asked() *url.URL {
	if r.Described != nil {
		return r.Described.URL
	}
	return r.URL
}

// optionsFor are for requests to a place or a document that the user did not type. What may be a secret is for the
// user's server only (rule 27), which it may be all the same.
func (s *session) optionsFor(u *url.URL, named address.Scope) httpsource.Options {
	return s.req.optionsFor(u, named, s.trusted())
}

func (r *Request) optionsFor(u *url.URL, named address.Scope, trusted bool) httpsource.Options {
	o := r.mirrorOptions(trusted)
	if r.typed(u) { // rule 59
		o.Mirror = false
	}
	if asked := r.asked(); asked != nil && sameServer(u, asked) {
		o = r.ownOptions(trusted)
	}
	o.Named = named
	return o
}

// originOptions are for requests to the origin, which another server may stand in for, or a document may have named.
func (r *Request) originOptions(p *plan, trusted bool) httpsource.Options {
	if p.origin == r.URL && r.Described == nil {
		return r.ownOptions(trusted)
	}
	return r.optionsFor(p.origin, p.named|r.named(p.origin), trusted)
}

// standIn says that a mirror is asked in place of the server that failed, or that has wrong bytes. Its links are a
// mirror's (C2).
func (s *session) standIn() bool { return s.plan.origin != s.req.URL }

func (s *session) addUserMirrors() {
	if s.plan.alone {
		return
	}
	for _, u := range s.req.Mirrors {
		o := s.mirrorOptions()
		if s.req.Described != nil || s.req.typed(u) {
			o = s.optionsFor(u, s.req.named(u))
		}
		if s.req.usable(u) {
			s.addOrigin(u, o, origin{user: true})
		}
	}
}

// addOrigin makes a source known to the scheduler, once.
func (s *session) addOrigin(u *url.URL, opts httpsource.Options, o origin) {
	if s.sources.has(u) {
		return
	}
	o.url, o.masked, o.host, o.named = u, source.Mask(u), source.HostPort(u), opts.Named
	if o.swarm = torrentsource.IsSwarm(u); o.swarm {
		o.src, o.host = s.swarm.join(s), torrentsource.Host
	} else {
		o.src = s.http.Source(u, opts)
	}
	s.sources.add(&o, s.plan.past[u.String()])
	if !o.banned {
		s.addLane(&o)
	}
}

// addLane makes the scheduler know a source. What it counts as one source can take one fetch at a time.
func (s *session) addLane(o *origin) {
	added := scheduler.SourceAdded{ID: s.sources.lane(o), Host: o.host, Trips: o.src.Traits().Trips}
	if o.lanes == 1 {
		added.Brought = o.brought
	}
	if o.lanes == 1 && !o.swarm { // what one swarm did says nothing of another
		known := s.c.State.Speed(o.host)
		added.Rate, added.RTT = known.Rate, known.RTT
	}
	if o.swarm {
		added = asSource(added, o.src.Traits(), s.req.Peers == PeersAuto)
	}
	s.step(added)
}

// addLanes lets every source take several fetches at a time, if the user wants that (-x). The first of each
// come before the second of any.
func (s *session) addLanes() {
	for n := 1; n < s.c.PerHost; n++ {
		for _, o := range s.sources.all {
			if o.lanes <= n && !o.banned && !o.swarm {
				s.addLane(o)
			}
		}
	}
}
