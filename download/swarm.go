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
	"braid/internal/edges"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/source/httpsource"
)

// Peers selects when BitTorrent peers are asked.
type Peers uint8

const (
	// PeersOff asks no peers. Torrents are still read: their pieces locate damage, and their web seeds are mirrors.
	PeersOff Peers = iota
	// PeersAuto asks peers if a torrent is known, and servers are too slow or missing.
	PeersAuto
	// PeersOnly asks only peers for the file of a torrent, and asks them at once if a server names a torrent. It also
	// applies if a proxy is configured, although peers are not reached through a proxy.
	PeersOnly
	// PeersHidden asks no peers. It replaces PeersAuto if a proxy is configured (Client.Peers).
	PeersHidden
	// PeersMissing asks no peers. It replaces PeersAuto and PeersOnly if a client has no Swarms (Client.Peers).
	PeersMissing
)

// asked reports whether peers may be asked.
func (p Peers) asked() bool { return p == PeersAuto || p == PeersOnly }

// NoBitTorrent is the reason that a client without Swarms gives for asking no peers.
const NoBitTorrent = "this program is built without BitTorrent"

// why returns why peers may not be asked.
func (p Peers) why() string {
	switch p {
	case PeersHidden:
		return "peers are not asked: they would see the address that the proxy hides"
	case PeersMissing:
		return NoBitTorrent
	}
	return "BitTorrent peers are off"
}

// Peers returns the value that applies if the user wants p: PeersMissing without Swarms, PeersHidden instead of
// PeersAuto if a proxy is configured, and otherwise p.
func (c *Client) Peers(p Peers) Peers { return c.peersFor(p, nil) }

func (c *Client) peersFor(p Peers, origin *url.URL) Peers {
	switch {
	case p.asked() && c.Swarms == nil:
		return PeersMissing
	case p == PeersAuto && c.proxied(origin):
		return PeersHidden
	}
	return p
}

// proxied reports whether a proxy is configured: for the server of origin, or for unknown hosts. A configuration with
// an error counts as a proxy.
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

// A sharing is a file of a torrent for which peers can be asked.
type sharing struct {
	torrent metainfo.Torrent
	file    metainfo.File
	peers   []string      // host:port, given by a magnet link
	named   address.Scope // scopes that the addresses of peers may have
	shared  *edges.Pieces // pieces that files of the torrent share
}

func (x *sharing) url() *url.URL { return source.SwarmURL(x.torrent, x.file) }

// edges returns a fetcher of the pieces that the file x shares with other files.
func (x *sharing) edges(n network, r *Request) edges.Fetcher {
	e := edges.Fetcher{Torrent: x.torrent, File: x.file, Known: x.shared, Patience: n.patience()}
	if r.Peers != PeersOnly {
		e.Seed = func(u *url.URL) (source.Source, error) {
			if !r.usable(u) {
				return nil, &source.Error{URL: source.Mask(u), Fault: source.FaultRefused,
					Err: errors.New("FTP URLs are excluded")}
			}
			return n.Source(u, r.optionsFor(u, x.named, false)), nil
		}
	}
	if r.Peers.asked() {
		e.Peers = func(f metainfo.File) source.Swarm {
			return n.swarms.Swarm(x.torrent, f, source.SwarmOptions{Dir: r.Dir, Peers: x.peers, Named: x.named})
		}
	}
	return e
}

// sharingOf returns the sharing for the file of that name. It returns nil if the document is not a torrent.
func (d *Document) sharingOf(name string) *sharing {
	if d.torrent == nil {
		return nil
	}
	for _, f := range d.torrent.Files {
		if f.Name == name && f.Size > 0 {
			return &sharing{torrent: *d.torrent, file: f, peers: d.peers, named: address.Public | d.by, shared: d.shared}
		}
	}
	return nil
}

// swarms returns the BitTorrent client for all downloads of c, or nil if c.Swarms is nil.
func (c *Client) swarms(n network) source.Swarms {
	if c.Swarms == nil {
		return nil
	}
	cfg := source.SwarmConfig{
		ConnectTimeout: n.ConnectTimeout, Timeout: c.Timeout, AllowHosts: n.AllowHosts,
		Scratch: func(dir string) (source.Scratch, error) { return partfile.OpenScratch(n.files, dir) },
	}
	if c.Limit != nil {
		cfg.Pay = c.Limit.Pay
	}
	return c.Swarms(cfg)
}

// A swarm is the swarm in which a session takes part. src is nil if the session has not joined a swarm.
type swarm struct{ src source.Swarm }

// join joins the swarm of the file, and offers the existing bytes to peers.
func (w *swarm) join(c *choice) source.Source {
	x := c.carried.sharing
	w.src = c.http.swarms.Swarm(x.torrent, x.file,
		source.SwarmOptions{Part: c.part, Dir: c.req.Dir, Peers: x.peers, Named: x.named})
	for r := range c.here.All() {
		w.src.Here(r)
	}
	return w.src
}

// leave leaves the swarm.
func (w *swarm) leave() {
	if w.src != nil {
		w.src.Close()
	}
}

// here offers r, bytes of other sources, to peers.
func (w *swarm) here(r byterange.Range) {
	if w.src != nil {
		w.src.Here(r)
	}
}

// gone stops offering r, wrong bytes, to peers.
func (w *swarm) gone(r byterange.Range) {
	if w.src != nil {
		w.src.Gone(r)
	}
}

const (
	// swarmLeast is the least remaining time of a download for which a torrent is fetched for its peers.
	swarmLeast = 10 * time.Second
	// swarmAfter is how long the servers are measured before a torrent is fetched.
	swarmAfter = 3 * time.Second
)

// An offer is the result of fetching a torrent that a server named.
type offer struct {
	from    string // masked
	sharing *sharing
	err     error
}

// fetchSharing fetches the torrent doc and finds the file of the given size in it.
func fetchSharing(ctx context.Context, hc network, doc metalink.MetaURL, o httpsource.Options, size int64) (*sharing, error) {
	data, a, err := hc.small(ctx, doc.URL, o, metainfo.MaxSize)
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
		return nil, errors.New("the document does not show which of its files this is")
	case differs(f.Size, size):
		return nil, fmt.Errorf("the file has %d bytes there, not %d", f.Size, size)
	}
	return &sharing{torrent: t, file: f, named: address.Public | fromOf(a)}, nil
}

// seedFile seeds the file at path for as long as the user wants. An error is only a note, because the file is in place.
func seedFile(ctx context.Context, hc network, req *Request, x *sharing, path string) {
	if x == nil || !req.seeds() || !req.onDisk() {
		return
	}
	file, err := os.Open(path)
	if err != nil {
		req.note("the file is not uploaded to peers: %v", err)
		return
	}
	defer file.Close()
	src := hc.swarms.Swarm(x.torrent, x.file,
		source.SwarmOptions{Part: file, Seed: true, Dir: req.Dir, Peers: x.peers, Named: x.named})
	defer src.Close()
	if err := src.Seed(); err != nil {
		req.note("the file is not uploaded to peers: %v", err)
		return
	}
	src.Here(byterange.Range{Start: 0, End: x.file.Size})
	keepSeeding(ctx, req, src, path, x.file.Size)
}

// keepSeeding waits until the wanted time or ratio is reached.
func keepSeeding(ctx context.Context, req *Request, src source.Swarm, path string, size int64) {
	if req.Seed.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, req.Seed.Time)
		defer cancel()
	}
	look := time.NewTicker(seedBeat)
	defer look.Stop()
	var told *Seeding
	for {
		st := src.Standing()
		if told == nil || told.Peers != st.Connected || told.Given != st.Given {
			told = &Seeding{Path: path, Peers: st.Connected, Given: st.Given, Addrs: src.Addrs()}
			req.observe(*told)
		}
		if req.Seed.Ratio > 0 && float64(st.Given) >= req.Seed.Ratio*float64(size) {
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

// A torrent that a server or a document names is fetched for its peers in three cases: servers are slow (askTorrent),
// the torrent is the only place that a document names (enterSwarm), or all servers have failed (rescue). In each case,
// a strong digest of the whole file must be known.

// rescue makes the next session use peers, if no server is left and a known torrent of the file was not fetched yet. It
// reports whether it does.
func (a *attempts) rescue(ctx context.Context, s *session) bool {
	if a.carried.sharing != nil || !a.req.Peers.asked() || a.carried.single || !s.facts.known.strong() || ctx.Err() != nil ||
		!s.facts.begun && !a.req.described() || a.req.Stream != nil && (s.facts.streamed() || !a.req.described()) {
		return false
	}
	for _, doc := range s.facts.known.file.Documents {
		if !isTorrent(doc) || !isWeb(doc.URL) {
			continue
		}
		a.carried.torrentAsked = true
		x, err := a.fetchSwarm(ctx, doc, s.facts.known.size)
		if err != nil {
			a.req.note("%s is not used to find peers: %v", source.Mask(doc.URL), err)
			continue
		}
		a.req.note("no server is left: asking the peers of %s", source.Mask(doc.URL))
		a.share(x, doc)
		if s.facts.begun && a.req.Stream == nil {
			goOn(s)
		}
		return true
	}
	return false
}

// enterSwarm makes a swarm the origin, if the request has no place except a torrent that a document names.
func (g *getter) enterSwarm(ctx context.Context) error {
	d := g.req.Described
	if d == nil || !d.remote {
		return nil
	}
	if !g.req.Peers.asked() {
		return g.req.fail(Network, errors.New(g.req.Peers.why()), "")
	}
	var last error
	for _, doc := range d.Torrents {
		x, err := g.fetchSwarm(ctx, doc, d.Size)
		if err == nil {
			g.share(x, doc)
			g.req.URL, g.carried.origin, g.req.Described.remote = x.url(), x.url(), false
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last = fail(kindOf(err), "read", source.Mask(doc.URL), err, "")
	}
	return last
}

// fetchSwarm fetches the torrent doc, whose peers can then be asked for the file.
func (c *call) fetchSwarm(ctx context.Context, doc metalink.MetaURL, size int64) (*sharing, error) {
	o := c.req.optionsFor(doc.URL, c.req.namedBy(doc.URL, doc.By), true)
	return fetchSharing(ctx, c.http, doc, o, size)
}

// share makes the next sessions use the swarm x of the torrent doc.
func (c *call) share(x *sharing, doc metalink.MetaURL) {
	c.carried.sharing = x
	if c.carried.pieces.IsZero() && !c.carried.piecesRejected {
		c.carried.pieces, c.carried.piecesFrom = x.file.BestPieces(), source.Mask(doc.URL)
	}
	if d := c.req.Described; d != nil {
		own := *d
		own.sharing, own.Size = x, x.file.Size
		c.req.Described = &own
	}
}
