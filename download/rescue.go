package download

import (
	"context"
	"errors"

	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A torrent that somebody describes is fetched for its peers in three cases: servers are slow (askTorrent), it is the only place that a
// document names, and all servers have failed. In each a strong digest of the whole decides (C4).

// bySwarm says that a document names no place but torrents, whose peers may be asked.
func (r *Request) bySwarm() bool {
	d := r.Described
	return d != nil && d.sharing == nil && r.Peers.asked() && len(d.Torrents) > 0 && verify.Strong(r.Claims)
}

// enterSwarm makes a swarm the origin where the request has none but a torrent that a document names.
func (g *getter) enterSwarm(ctx context.Context) error {
	d := g.req.Described
	if d == nil || !d.remote {
		return nil
	}
	if !g.req.Peers.asked() {
		return g.fail(Network, errors.New(g.req.Peers.why()), "")
	}
	var last error
	for _, doc := range d.Torrents {
		x, err := g.fetchSwarm(ctx, doc, d.Size)
		if err == nil {
			g.share(x, doc)
			g.req.URL, g.plan.origin, g.req.Described.remote = x.url(), x.url(), false
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last = fail(kindOf(err), "read", source.Mask(doc.URL), err, "")
	}
	return last
}

// fetchSwarm fetches a torrent for its peers.
func (g *getter) fetchSwarm(ctx context.Context, doc metalink.Document, size int64) (*sharing, error) {
	o := g.req.optionsFor(doc.URL, g.req.namedBy(doc.URL, doc.By), true)
	return fetchSharing(ctx, g.http, doc, o, size)
}

// share takes a swarm for the sessions to come.
func (g *getter) share(x *sharing, doc metalink.Document) {
	g.plan.sharing = x
	if g.plan.pieces.IsZero() && !g.plan.mistrust {
		g.plan.pieces, g.plan.piecesFrom = x.file.Pieces, source.Mask(doc.URL)
	}
	if d := g.req.Described; d != nil {
		own := *d
		own.sharing, own.Size = x, x.file.Size
		g.req.Described = &own
	}
}

// rescue lets the next session go on with peers, when no server is left and a torrent of the file is known that was not asked for.
func (g *getter) rescue(ctx context.Context, s *session) bool {
	if g.plan.sharing != nil || !g.req.Peers.asked() || g.plan.alone || !verify.Strong(s.claims) || ctx.Err() != nil ||
		!s.known && !g.req.described() || g.req.Stream != nil && (s.streamed() || !g.req.described()) {
		return false
	}
	for _, doc := range s.file.Documents {
		if !isTorrent(doc) || !isWeb(doc.URL) {
			continue
		}
		g.plan.torrentAsked = true
		x, err := g.fetchSwarm(ctx, doc, s.size)
		if err != nil {
			g.note("%s is not used for peers: %v", source.Mask(doc.URL), err)
			continue
		}
		g.note("no server is left: peers of %s are asked", source.Mask(doc.URL))
		g.share(x, doc)
		if s.known && g.req.Stream == nil {
			g.goOn(s)
		}
		return true
	}
	return false
}
