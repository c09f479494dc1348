package download

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A choice selects the sources of a session: the places that are asked, and the swarm.
type choice struct {
	*attempt
	facts   *facts
	here    *byterange.Set // ranges that were reported to the scheduler
	swarm   swarm
	due     bool       // mirrors that the origin named are still to be added
	offered chan offer // torrents with peers
}

// addMirrors adds the mirrors as sources: those of the server and of a feed, those of other files of the batch, then
// those of the user.
func (c *choice) addMirrors() {
	c.due = false
	if c.carried.single {
		return
	}
	places := c.facts.known.file.Mirrors
	if !c.req.NoMetalink && c.facts.tied() { // the digest shows whether mirrors in a feed have this file
		places = slices.Concat(places, c.req.Published.Mirrors)
	}
	mirrors, notes := c.req.allowed(places)
	for _, n := range notes {
		c.req.note("%s", n)
	}
	if c.facts.begun && !c.facts.mayMerge() {
		c.holdBack(mirrors)
		return
	}
	c.req.Near.sort(c.ctx, mirrors)
	for _, m := range mirrors {
		o := c.req.mirrorOptions(c.facts.trusted())
		o.Named = c.req.namedBy(m.URL, m.By)
		// A mirror is preferred only if the server states a digest (RFC 6249, section 6).
		pref := m.Pref && backed(c.facts.known.digests.ofServer(), verify.HTTP, verify.HTTPS)
		if pref {
			o.IfMatch = c.facts.known.tag.etag // RFC 6249, section 3.3
		}
		c.addOrigin(m.URL, o, origin{pref: pref})
	}
	c.addTreeMirrors()
	c.addUserMirrors()
	c.addLanes()
}

// holdBack makes mirrors fallbacks for the case that the server fails, because nothing shows that they have the server's
// file. As sources, they would only interrupt a slow answer of the server, and the rest of the answer would be lost.
func (c *choice) holdBack(mirrors []metalink.Mirror) {
	for _, m := range mirrors {
		c.carried.fallBack(m.URL)
	}
	for _, u := range c.req.Mirrors {
		if !c.req.usable(u) || c.sources.has(u) {
			continue
		}
		if c.sources.hold(u, errUntied); c.carried.fallBack(u) {
			c.req.note("%s: %v", source.Mask(u), errUntied)
		}
	}
}

// addTreeMirrors adds mirrors of other files of the batch, if a strong digest shows whether they have this file.
func (c *choice) addTreeMirrors() {
	if c.req.NoMetalink || c.standIn() || !c.facts.known.strong() {
		return
	}
	for _, m := range c.trees.mirrorsOf(c.req.URL) {
		if c.req.usable(m.URL) && c.req.Access.Not.OfCountry(m.Geo) == "" {
			o := c.req.mirrorOptions(c.facts.trusted())
			o.Named = c.req.namedBy(m.URL, m.By)
			c.addOrigin(m.URL, o, origin{tree: m.tree})
		}
	}
}

// trusted reports whether a strong digest is known from the user or over https. A redirect to http is then harmless. A
// yielding digest (see use) does not suffice, because bytes may be accepted without it.
func (f *facts) trusted() bool {
	return vouched(f.known.digests.firm()) || vouched(f.req.Trust.Claims)
}

// standIn reports whether a mirror is asked in place of the requested URL, whose server failed or has wrong bytes.
func (c *call) standIn() bool { return c.carried.origin != c.req.URL }

func (c *choice) addUserMirrors() {
	if c.carried.single {
		return
	}
	for _, u := range c.req.Mirrors {
		o := c.req.mirrorOptions(c.facts.trusted())
		if c.req.Described != nil || c.req.typed(u) {
			o = c.req.optionsFor(u, c.req.named(u), c.facts.trusted())
		}
		if c.req.usable(u) || c.http.opens(u) && c.req.Access.excluded(u) == nil && c.facts.known.strong() {
			c.addOrigin(u, o, origin{user: true})
		}
	}
}

// addOrigin adds the source at u, unless the session has it already.
func (c *choice) addOrigin(u *url.URL, opts httpsource.Options, o origin) {
	if c.sources.has(u) {
		return
	}
	o.url, o.masked, o.host, o.named, o.claimed = u, source.Mask(u), source.HostPort(u), opts.Named, -1
	if o.swarm = source.IsSwarm(u); o.swarm {
		o.src, o.host = c.swarm.join(c), source.SwarmHost
	} else {
		opts.Returns = true
		o.src = c.http.Source(u, opts)
	}
	c.sources.add(&o, c.carried.past[u.String()])
	if !o.banned {
		c.addLane(&o)
	}
}

// addLane adds a lane of o to the scheduler. Each lane runs one fetch at a time.
func (c *choice) addLane(o *origin) {
	added := scheduler.SourceAdded{ID: c.sources.lane(o), Host: o.host, Trips: o.src.Traits().Trips}
	if o.lanes == 1 {
		added.Brought = o.brought
	}
	if o.lanes == 1 && !o.swarm { // the speeds of different swarms are unrelated
		known := c.c.State.Speed(o.host)
		added.Rate, added.RTT = known.Rate, known.RTT
	}
	if o.swarm {
		t := o.src.Traits()
		added.Align, added.Lead, added.Slow, added.Last = t.Align, t.Lead, t.Slow, c.req.Peers == PeersAuto
	}
	c.step(added)
}

// addLanes adds lanes if the user wants several fetches at a time from each source (-x). All sources get a second lane
// before any gets a third. If nothing shows that two answers are of the same file, each source keeps one lane.
func (c *choice) addLanes() {
	if !c.facts.mayMerge() {
		return
	}
	for n := 1; n < c.c.PerHost; n++ {
		for _, o := range c.sources.all {
			if o.lanes <= n && !o.banned && !o.swarm {
				c.addLane(o)
			}
		}
	}
}

// begin adds the first sources. If all of them are banned already, it ends the session.
func (s *session) begin() {
	k := s.facts.known
	if s.facts.begun {
		if !s.part.Useless() && s.facts.reserve() != nil { // a useless part file is set aside only when bytes arrive
			return
		}
		s.proving.askSignatures()
		s.proving.startHash()
		s.proving.usePieces()
	}
	s.choice.addFirst()
	// If the whole file is there, no source is needed.
	if len(s.sources.lanes) == 0 && s.end.how == ongoing && !(s.facts.begun && k.size >= 0 && ends(s.part, k.size)) {
		for _, o := range s.sources.all {
			s.sources.last = o.err
		}
		s.stop(s.sources.none())
	}
}

// addFirst adds the server that the user asked, the mirror that stands in for it, or the places that a document names.
func (c *choice) addFirst() {
	if c.req.described() {
		c.addDescribed()
		return
	}
	opts := c.req.originOptions(c.carried, c.facts.trusted())
	if !c.standIn() && c.req.Described == nil {
		k := knownBy(c.req)
		opts.IfNoneMatch, opts.IfModifiedSince = k.etag, k.since
	}
	c.addOrigin(c.carried.origin, opts, origin{first: true})
	switch {
	case c.facts.begun && c.facts.known.strong(): // the mirrors of an earlier run can help if the server is gone
		c.addMirrors()
	case verify.Strong(c.req.Trust.Claims) && !c.pipes(): // else the server answers first
		c.addUserMirrors()
	}
	if c.facts.begun && c.facts.known.strong() { // in a session that continues another
		c.addSwarm()
	}
}

// addDescribed adds the places that a document names.
func (c *choice) addDescribed() {
	u := c.carried.origin
	c.addOrigin(u, c.req.optionsFor(u, c.req.named(u), c.facts.trusted()), origin{user: true})
	c.addUserMirrors()
	c.addSwarm()
	c.addLanes()
}

// addSwarm adds the swarm as a source, if peers may be asked and a torrent is known.
func (c *choice) addSwarm() {
	if x := c.carried.sharing; x != nil && c.req.Peers.asked() && !c.carried.single {
		c.addOrigin(x.url(), c.req.mirrorOptions(c.facts.trusted()), origin{})
	}
}

// askTorrent fetches a torrent that the server names, so that its peers can be asked: at once if the user wants that,
// otherwise when the servers are slow. A known strong digest must show whether the torrent is about this file.
func (c *choice) askTorrent() {
	k := c.facts.known
	doc, ok := torrentOf(k.file)
	if !ok || c.req.Peers == PeersOff || c.carried.sharing != nil || c.carried.torrentAsked || c.carried.single ||
		k.size < 0 || !k.strong() {
		return
	}
	if c.req.Peers != PeersOnly && !c.req.seeds() && !c.slow() {
		return
	}
	c.carried.torrentAsked = true
	if !c.req.Peers.asked() {
		c.req.note("%s is not used: %s", source.Mask(doc.URL), c.req.Peers.why())
		return
	}
	ctx, opts := c.ctx, c.req.optionsFor(doc.URL, c.req.namedBy(doc.URL, doc.By), c.facts.trusted())
	size := k.size
	c.workers.Go(func() {
		o := offer{from: source.Mask(doc.URL)}
		o.sharing, o.err = fetchSharing(ctx, c.http, doc, opts, size)
		c.offered <- o
	})
}

// slow reports whether the servers were measured for swarmAfter, and at that speed need more than swarmLeast for the rest.
func (c *choice) slow() bool {
	have := c.part.Have()
	left := float64(c.facts.known.size - have.Len())
	return time.Duration(c.fetches.stats.beats)*beat >= swarmAfter && left > c.fetches.stats.rate()*swarmLeast.Seconds()
}

// take adds the swarm of the torrent in o as a source.
func (c *choice) take(o offer) {
	if o.err != nil {
		c.req.note("%s is not used to find peers: %v", o.from, o.err)
		return
	}
	c.carried.sharing = o.sharing
	c.addSwarm()
}

// useLast adds the mirror o again, as a last resort: it is used if all other sources are in use and much is left, or if
// there is no other source. A second call has no effect.
func (c *choice) useLast(o *origin) {
	if o.last > 0 {
		return
	}
	o.last = c.sources.lane(o)
	c.req.note("%s: %v", o.masked, errDated)
	c.step(scheduler.SourceAdded{ID: o.last, Host: o.host, Trips: o.src.Traits().Trips, Last: true})
}

// The countries of at most lookups mirrors are looked up at a time, and for lookupsLimit in total. A mirror without a
// result by then keeps its position.
const (
	lookups      = 16
	lookupsLimit = time.Second
)

// sort moves the mirrors in the preferred countries to the front.
func (n *Near) sort(ctx context.Context, mirrors []metalink.Mirror) {
	if len(n.Locations) == 0 {
		return
	}
	if n.Country != nil {
		n.lookUp(ctx, mirrors)
	}
	metalink.Near(mirrors, n.Locations...)
}

// lookUp looks up the country of mirrors if neither the server nor a document states it.
func (n *Near) lookUp(ctx context.Context, mirrors []metalink.Mirror) {
	ctx, cancel := context.WithTimeout(ctx, lookupsLimit)
	defer cancel()
	var group sync.WaitGroup
	free := make(chan struct{}, lookups)
	for i := range mirrors {
		if m := &mirrors[i]; m.Geo == "" {
			free <- struct{}{}
			group.Go(func() {
				m.Geo = n.Country(ctx, m.URL)
				<-free
			})
		}
	}
	group.Wait()
}

func containsURL(urls []*url.URL, u *url.URL) bool {
	return slices.ContainsFunc(urls, func(o *url.URL) bool { return o.String() == u.String() })
}
