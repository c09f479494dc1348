package download

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"braid/address"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// addMirrors adds the mirrors as sources: those of the server and of a feed, those of other files of the batch, then
// those of the user.
func (s *session) addMirrors() {
	s.newMirrors = false
	if s.carried.single {
		return
	}
	places := s.file.Mirrors
	if !s.req.NoMetalink && s.tied() { // the digest shows whether mirrors in a feed have this file
		places = slices.Concat(places, s.req.Published.Mirrors)
	}
	mirrors, notes := s.req.allowed(places)
	for _, n := range notes {
		s.note("%s", n)
	}
	if s.begun && !s.mayMerge() {
		holdBack(s, mirrors)
		return
	}
	s.req.sortByCountry(s.ctx, mirrors)
	for _, m := range mirrors {
		o := s.mirrorOptions()
		o.Named = s.req.namedBy(m.URL, m.By)
		// A mirror is preferred only if the server states a digest (RFC 6249, section 6).
		pref := m.Pref && backed(s.digests.ofServer(), verify.HTTP, verify.HTTPS)
		if pref {
			o.IfMatch = s.tag.etag // RFC 6249, section 3.3
		}
		s.addOrigin(m.URL, o, origin{pref: pref})
	}
	s.addTreeMirrors()
	s.addUserMirrors()
	s.addLanes()
}

// holdBack makes mirrors fallbacks for the case that the server fails, because nothing shows that they have the server's
// file. As sources, they would only interrupt a slow answer of the server, and the rest of the answer would be lost.
func holdBack(s *session, mirrors []metalink.Mirror) {
	for _, m := range mirrors {
		s.carried.fallBack(m.URL)
	}
	for _, u := range s.req.Mirrors {
		if !s.req.usable(u) || s.sources.has(u) {
			continue
		}
		if s.sources.hold(u, errUntied); s.carried.fallBack(u) {
			s.note("%s: %v", source.Mask(u), errUntied)
		}
	}
}

// addTreeMirrors adds mirrors of other files of the batch, if a strong digest shows whether they have this file.
func (s *session) addTreeMirrors() {
	if s.req.NoMetalink || s.standIn() || !s.strong() {
		return
	}
	for _, m := range s.trees.mirrorsOf(s.req.URL) {
		if s.req.usable(m.URL) && s.req.Access.Not.OfCountry(m.Geo) == "" {
			o := s.mirrorOptions()
			o.Named = s.req.namedBy(m.URL, m.By)
			s.addOrigin(m.URL, o, origin{tree: m.tree})
		}
	}
}

// trusted reports whether a strong digest is known from the user or over https. A redirect to http is then harmless. A
// yielding digest (see use) does not suffice, because bytes may be accepted without it.
func (s *session) trusted() bool { return vouched(s.digests.firm()) || vouched(s.req.Trust.Claims) }

// mirrorOptions returns the options for requests to servers other than the one that the user asked.
func (s *session) mirrorOptions() httpsource.Options { return s.req.mirrorOptions(s.trusted()) }

// optionsFor returns the options for requests to u, a place or a document that the user did not type.
func (s *session) optionsFor(u *url.URL, named address.Scope) httpsource.Options {
	return s.req.optionsFor(u, named, s.trusted())
}

// standIn reports whether a mirror is asked in place of the requested URL, whose server failed or has wrong bytes.
func (s *session) standIn() bool { return s.carried.origin != s.req.URL }

func (s *session) addUserMirrors() {
	if s.carried.single {
		return
	}
	for _, u := range s.req.Mirrors {
		o := s.mirrorOptions()
		if s.req.Described != nil || s.req.typed(u) {
			o = s.optionsFor(u, s.req.named(u))
		}
		if s.req.usable(u) || s.http.opens(u) && s.req.excluded(u) == nil && s.strong() {
			s.addOrigin(u, o, origin{user: true})
		}
	}
}

// addOrigin adds the source at u, unless the session has it already.
func (s *session) addOrigin(u *url.URL, opts httpsource.Options, o origin) {
	if s.sources.has(u) {
		return
	}
	o.url, o.masked, o.host, o.named, o.claimed = u, source.Mask(u), source.HostPort(u), opts.Named, -1
	if o.swarm = source.IsSwarm(u); o.swarm {
		o.src, o.host = s.swarm.join(s), source.SwarmHost
	} else {
		opts.Returns = true
		o.src = s.http.Source(u, opts)
	}
	s.sources.add(&o, s.carried.past[u.String()])
	if !o.banned {
		s.addLane(&o)
	}
}

// addLane adds a lane of o to the scheduler. Each lane runs one fetch at a time.
func (s *session) addLane(o *origin) {
	added := scheduler.SourceAdded{ID: s.sources.lane(o), Host: o.host, Trips: o.src.Traits().Trips}
	if o.lanes == 1 {
		added.Brought = o.brought
	}
	if o.lanes == 1 && !o.swarm { // speeds of different swarms say nothing about each other
		known := s.c.State.Speed(o.host)
		added.Rate, added.RTT = known.Rate, known.RTT
	}
	if o.swarm {
		added = asSource(added, o.src.Traits(), s.req.Peers == PeersAuto)
	}
	s.step(added)
}

// addLanes adds lanes if the user wants several fetches at a time from each source (-x). All sources get a second lane
// before any gets a third. If nothing shows that two answers are of the same file, each source keeps one lane.
func (s *session) addLanes() {
	if !s.mayMerge() {
		return
	}
	for n := 1; n < s.c.PerHost; n++ {
		for _, o := range s.sources.all {
			if o.lanes <= n && !o.banned && !o.swarm {
				s.addLane(o)
			}
		}
	}
}

// begin adds the first sources. If all of them are banned already, it ends the session.
func (s *session) begin() {
	s.addFirst()
	// If the whole file is there, no source is needed.
	if len(s.sources.lanes) == 0 && s.how == ongoing && !(s.begun && s.size >= 0 && s.ends(s.size)) {
		for _, o := range s.sources.all {
			s.sources.last = o.err
		}
		s.stop(s.sources.none())
	}
}

// addFirst adds the server that the user asked, the mirror that stands in for it, or the places that a document names.
func (s *session) addFirst() {
	if s.begun {
		if !s.part.Useless() && s.reserve() != nil { // a useless part file is set aside only when bytes arrive
			return
		}
		s.askSignatures()
		s.startHash()
		s.usePieces()
	}
	if s.req.described() {
		s.addDescribed()
		return
	}
	opts := s.req.originOptions(s.carried, s.trusted())
	if !s.standIn() && s.req.Described == nil {
		c := knownBy(s.req)
		opts.IfNoneMatch, opts.IfModifiedSince = c.etag, c.since
	}
	s.addOrigin(s.carried.origin, opts, origin{first: true})
	switch {
	case s.begun && s.strong(): // the mirrors of an earlier run can help if the server is gone
		s.addMirrors()
	case verify.Strong(s.req.Trust.Claims) && !s.pipes(): // else the server answers first
		s.addUserMirrors()
	}
	if s.begun && s.strong() { // in a session that continues another
		s.addSwarm()
	}
}

// addDescribed adds the places that a document names.
func (s *session) addDescribed() {
	s.addOrigin(s.carried.origin, s.optionsFor(s.carried.origin, s.req.named(s.carried.origin)), origin{user: true})
	s.addUserMirrors()
	s.addSwarm()
	s.addLanes()
}

// addSwarm adds the swarm as a source, if peers may be asked and a torrent is known.
func (s *session) addSwarm() {
	if x := s.carried.sharing; x != nil && s.req.Peers.asked() && !s.carried.single {
		s.addOrigin(x.url(), s.mirrorOptions(), origin{})
	}
}

// askTorrent fetches a torrent that the server names, so that its peers can be asked: at once if the user wants that,
// otherwise when the servers are slow. A known strong digest must show whether the torrent is about this file.
func (s *session) askTorrent() {
	doc, ok := torrentOf(s.file)
	if !ok || s.req.Peers == PeersOff || s.carried.sharing != nil || s.carried.torrentAsked || s.carried.single ||
		s.size < 0 || !s.strong() {
		return
	}
	if s.req.Peers != PeersOnly && !s.req.seeds() && !s.slow() {
		return
	}
	s.carried.torrentAsked = true
	if !s.req.Peers.asked() {
		s.note("%s is not used: %s", source.Mask(doc.URL), s.req.Peers.why())
		return
	}
	ctx, opts := s.ctx, s.optionsFor(doc.URL, s.req.namedBy(doc.URL, doc.By))
	size := s.size
	s.workers.Go(func() {
		o := offer{from: source.Mask(doc.URL)}
		o.sharing, o.err = fetchSharing(ctx, s.http, doc, opts, size)
		s.aside.offered <- o
	})
}

// slow reports whether the servers were measured for swarmAfter, and at that speed need more than swarmLeast for the rest.
func (s *session) slow() bool {
	have := s.part.Have()
	left := float64(s.size - have.Len())
	return time.Duration(s.fetches.stats.beats)*beat >= swarmAfter && left > s.fetches.stats.rate()*swarmLeast.Seconds()
}

// take adds the swarm of the torrent in o as a source.
func (s *session) take(o offer) {
	if o.err != nil {
		s.note("%s is not used to find peers: %v", o.from, o.err)
		return
	}
	s.carried.sharing = o.sharing
	s.addSwarm()
}

// useLast adds the mirror o again, as a last resort: it is used if all other sources are in use and much is left, or if
// there is no other source. A second call has no effect.
func (s *session) useLast(o *origin) {
	if o.last > 0 {
		return
	}
	o.last = s.sources.lane(o)
	s.note("%s: %v", o.masked, errDated)
	s.step(scheduler.SourceAdded{ID: o.last, Host: o.host, Trips: o.src.Traits().Trips, Last: true})
}

// The countries of at most lookups mirrors are looked up at a time, and for lookupsLimit in total. A mirror without a
// result by then keeps its position.
const (
	lookups      = 16
	lookupsLimit = time.Second
)

// sortByCountry moves the mirrors in the preferred countries to the front.
func (r *Request) sortByCountry(ctx context.Context, mirrors []metalink.Mirror) {
	if len(r.Near.Locations) == 0 {
		return
	}
	if r.Near.Country != nil {
		r.lookUpCountries(ctx, mirrors)
	}
	metalink.Near(mirrors, r.Near.Locations...)
}

// lookUpCountries looks up the country of mirrors if neither the server nor a document states it.
func (r *Request) lookUpCountries(ctx context.Context, mirrors []metalink.Mirror) {
	ctx, cancel := context.WithTimeout(ctx, lookupsLimit)
	defer cancel()
	var group sync.WaitGroup
	free := make(chan struct{}, lookups)
	for i := range mirrors {
		if m := &mirrors[i]; m.Geo == "" {
			free <- struct{}{}
			group.Go(func() {
				m.Geo = r.Near.Country(ctx, m.URL)
				<-free
			})
		}
	}
	group.Wait()
}

func containsURL(urls []*url.URL, u *url.URL) bool {
	return slices.ContainsFunc(urls, func(o *url.URL) bool { return o.String() == u.String() })
}
