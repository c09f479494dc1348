package download

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/download/partfile"
	"braid/internal/fsys"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/source/torrentsource"
	"braid/verify"
)

// Peers says when BitTorrent peers are asked.
type Peers uint8

const (
	// PeersOff asks none. Torrents are read all the same: their pieces find damage, their web seeds are mirrors.
	PeersOff Peers = iota
	// PeersAuto asks them when a torrent is known, and servers are not enough or there are none.
	PeersAuto
	// PeersOnly asks nobody else for the file of a torrent, and asks them at once where a server describes a torrent. It is the user's
	// word also where a proxy is configured, which peers are not reached through.
	PeersOnly
	// PeersHidden asks none: it is what becomes of PeersAuto where a proxy is configured (Client.Peers).
	PeersHidden
)

// asked says that peers may be asked.
func (p Peers) asked() bool { return p == PeersAuto || p == PeersOnly }

// why says why they may not.
func (p Peers) why() string {
	if p == PeersHidden {
		return "peers are not asked, who would see the address that the proxy hides"
	}
	return "peers are off"
}

// Peers is how peers are asked for files where the user wants p: of itself a client does not connect to them past a proxy.
func (c *Client) Peers(p Peers) Peers { return c.peersFor(p, nil) }

func (c *Client) peersFor(p Peers, origin *url.URL) Peers {
	if p == PeersAuto && c.proxied(origin) {
		return PeersHidden
	}
	return p
}

// proxied says that a proxy is configured: for the server of a file, or for hosts that nobody has named. A configuration that
// makes no sense may have meant one.
func (c *Client) proxied(origin *url.URL) bool {
	hc := c.HTTP
	if hc == nil {
		hc = &httpsource.Client{}
	}
	choose := proxyOf(hc)
	for _, u := range []*url.URL{origin, {Scheme: "http", Host: "peer.invalid"}, {Scheme: "https", Host: "peer.invalid"}} {
		if u == nil {
			continue
		}
		if proxy, err := choose(u); proxy != nil || err != nil {
			return true
		}
	}
	return false
}

// A sharing is a file of a torrent that peers can be asked for.
type sharing struct {
	torrent metainfo.Torrent
	file    metainfo.File
	peers   []string      // host:port, that a magnet link names
	named   address.Scope // to where who named it may lead (rule 63)
	edges   *edges        // pieces that its files share
}

func (x *sharing) url() *url.URL { return torrentsource.URL(x.torrent, x.file) }

// sharingOf is the file of the torrent in peers' hands, if the document is a torrent.
func (d *Document) sharingOf(name string) *sharing {
	if d.torrent == nil {
		return nil
	}
	for _, f := range d.torrent.Files {
		if f.Name == name && f.Size > 0 {
			return &sharing{torrent: *d.torrent, file: f, peers: d.peers, named: address.Public | d.by, edges: d.edges}
		}
	}
	return nil
}

// shared says that peers may be asked for the file that a torrent describes.
func (r *Request) shared() bool {
	return r.Peers.asked() && r.Described != nil && r.Described.sharing != nil
}

// isSwarm says that u is no server, but a swarm that may be asked.
func (r *Request) isSwarm(u *url.URL) bool { return torrentsource.IsSwarm(u) && r.shared() }

// swarms makes what takes part in swarms, for all downloads of a client.
func (c *Client) swarms(n network) *torrentsource.Client {
	t := &torrentsource.Client{
		ConnectTimeout: n.ConnectTimeout, Timeout: c.Timeout, AllowHosts: n.AllowHosts, Listen: c.PeerListen, NoDHT: c.NoDHT,
		Scratch: func(dir string) (torrentsource.Scratch, error) { return partfile.OpenScratch(fsys.Or(c.Files), dir) },
	}
	if c.Limit != nil {
		t.Pay = c.Limit.pay
	}
	return t
}

// addSwarm makes the swarm a source, if it may be one and a torrent is known.
func (s *session) addSwarm() {
	if x := s.plan.sharing; x != nil && s.req.Peers.asked() && !s.plan.alone {
		s.addOrigin(x.url(), s.mirrorOptions(), origin{})
	}
}

// A swarm is the part that a session takes in one; without a source there is none.
type swarm struct{ src *torrentsource.Source }

// join takes part in the swarm of a file, with what is here of it already.
func (w *swarm) join(s *session) source.Source {
	x := s.plan.sharing
	w.src = s.http.swarms.Source(x.torrent, x.file, torrentsource.Options{Part: s.part, Dir: s.req.Dir, Peers: x.peers, Named: x.named})
	for r := range s.here.All() {
		w.src.Here(r)
	}
	return w.src
}

// leave ends the part in the swarm.
func (w *swarm) leave() {
	if w.src != nil {
		w.src.Close()
	}
}

// here tells the swarm what others brought.
func (w *swarm) here(r byterange.Range) {
	if w.src != nil {
		w.src.Here(r)
	}
}

// gone tells the swarm what is not here any more.
func (w *swarm) gone(r byterange.Range) {
	if w.src != nil {
		w.src.Gone(r)
	}
}

// provenBySwarm says that all of a piece came from the swarm, which gives nothing before the same digest has held. The in-order hash
// will read it back, as it does all.
func (s *session) provenBySwarm(c scheduler.Check) bool {
	x, list := s.plan.sharing, s.hashing.pieces.list
	if s.swarm.src == nil || x == nil || x.file.Pieces.IsZero() || x.file.Pieces.Length() != list.Length() ||
		x.file.Pieces.Digest(int(c.Piece)) != list.Digest(int(c.Piece)) {
		return false
	}
	for _, o := range s.sources.all {
		if o.swarm {
			return o.brought.Contains(c.Range)
		}
	}
	return false
}

// asSource is what the scheduler has to know of a source of units.
func asSource(ev scheduler.SourceAdded, t source.Traits, last bool) scheduler.SourceAdded {
	ev.Align, ev.Lead, ev.Slow, ev.Last = t.Align, t.Lead, t.Slow, last
	return ev
}

const (
	// swarmLeast is the rest for which it is worth to look for peers, beside servers that bring it.
	swarmLeast = 10 * time.Second
	// swarmAfter is how long servers are watched before.
	swarmAfter = 3 * time.Second
)

// askTorrent fetches a torrent that the server describes, when its swarm is to help: at once if that is wanted, else when what the
// servers bring will take long. A torrent about another file is as bad as a mirror that has one: only a strong digest would tell,
// so without one none is asked for (C4).
func (s *session) askTorrent() {
	doc, ok := torrentOf(s.file)
	if !ok || s.req.Peers == PeersOff || s.plan.sharing != nil || s.plan.torrentAsked || s.plan.alone || s.size < 0 || !verify.Strong(s.claims) {
		return
	}
	if s.req.Peers != PeersOnly && !s.req.seeds() && !s.slow() {
		return
	}
	s.plan.torrentAsked = true
	if s.req.Peers == PeersHidden {
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

// slow says that the servers have been at work for a while and need much longer.
func (s *session) slow() bool {
	have := s.part.Have()
	left := float64(s.size - have.Len())
	return time.Duration(s.fetches.stats.beats)*beat >= swarmAfter && left > s.fetches.stats.rate()*swarmLeast.Seconds()
}

// An offer is a torrent that a server described.
type offer struct {
	from    string // masked
	sharing *sharing
	err     error
}

// take makes the swarm of an offered torrent a source.
func (s *session) take(o offer) {
	if o.err != nil {
		s.note("%s is not used for peers: %v", o.from, o.err)
		return
	}
	s.plan.sharing = o.sharing
	s.addSwarm()
}

// fetchSharing fetches a described torrent and finds the file in it.
func fetchSharing(ctx context.Context, hc network, doc metalink.Document, o httpsource.Options, size int64) (*sharing, error) {
	data, a, err := fetchSmall(ctx, hc, doc.URL, o, metainfo.MaxSize)
	if err != nil {
		return nil, err
	}
	t, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	f, ok := inTorrent(t, doc.Name)
	switch {
	case !ok:
		return nil, errors.New("it does not say which of its files this is")
	case differs(f.Size, size):
		return nil, fmt.Errorf("the file has %d bytes there, not %d", f.Size, size)
	}
	return &sharing{torrent: t, file: f, named: address.Public | fromOf(a)}, nil
}

// seeds says that the file is to be given to peers when it is here.
func (r *Request) seeds() bool { return r.Peers.asked() && (r.SeedRatio > 0 || r.SeedTime > 0) }

// giveBack lets peers have the file, for as long as the user wants. The file is in place: nothing that happens here makes the
// download fail.
func (g *getter) giveBack(ctx context.Context) {
	x := g.plan.sharing
	if x == nil || !g.req.seeds() || g.req.Stream != nil {
		return
	}
	file, err := os.Open(g.result.Path)
	if err != nil {
		g.req.note("it is not given to peers: %v", err)
		return
	}
	defer file.Close()
	src := g.http.swarms.Source(x.torrent, x.file, torrentsource.Options{Part: file, Seed: true, Dir: g.req.Dir, Peers: x.peers, Named: x.named})
	defer src.Close()
	if err := src.Seed(); err != nil {
		g.req.note("it is not given to peers: %v", err)
		return
	}
	src.Here(byterange.Range{Start: 0, End: x.file.Size})
	g.seed(ctx, src, x.file.Size)
}

// seed waits until peers got enough.
func (g *getter) seed(ctx context.Context, src *torrentsource.Source, size int64) {
	if g.req.SeedTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.req.SeedTime)
		defer cancel()
	}
	look := time.NewTicker(seedBeat)
	defer look.Stop()
	var told *Seeding
	for {
		st := src.Standing()
		if told == nil || told.Peers != st.Connected || told.Given != st.Given {
			told = &Seeding{Path: g.result.Path, Peers: st.Connected, Given: st.Given, Addrs: src.Addrs()}
			g.observe(*told)
		}
		if g.req.SeedRatio > 0 && float64(st.Given) >= g.req.SeedRatio*float64(size) {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

const seedBeat = 250 * time.Millisecond
