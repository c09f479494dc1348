package torrentsource

import (
	"net/url"
	"sync"

	"braid/address"
	"braid/byterange"
	"braid/metalink/metainfo"
	"braid/source"
)

// A Source is one file of a torrent in its swarm. It does not connect before the first request. Close must be called
// after all calls of Fetch have returned.
type Source struct {
	client  *Client
	torrent metainfo.Torrent
	file    metainfo.File
	options source.SwarmOptions
	key     key
	url     *url.URL

	mu     sync.Mutex
	swarm  *swarm // nil until the first Fetch
	early  byterange.Set
	closed bool
}

// Source returns a source of the file f of the torrent t.
func (c *Client) Source(t metainfo.Torrent, f metainfo.File, o source.SwarmOptions) *Source {
	if o.Named == 0 {
		o.Named = address.Anywhere
	}
	return &Source{client: c, torrent: t, file: f, options: o, key: key{t.InfoHash, o.Named}, url: source.SwarmURL(t, f)}
}

// Swarm is Source with the result type that package download needs.
func (c *Client) Swarm(t metainfo.Torrent, f metainfo.File, o source.SwarmOptions) source.Swarm {
	return c.Source(t, f, o)
}

// Traits implements source.Source.
func (s *Source) Traits() source.Traits {
	return source.Traits{
		Align: s.torrent.PieceLength, Lead: -s.file.Offset % s.torrent.PieceLength, Validators: true, Slow: true,
	}
}

// URL returns the URL of the file in its swarm.
func (s *Source) URL() *url.URL { return s.url }

// joined returns the swarm of the source, which it joins if necessary. The result is nil after Close.
func (s *Source) joined() (*swarm, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm != nil || s.closed {
		return s.swarm, nil
	}
	w, err := s.client.join(s)
	if err != nil {
		return nil, err
	}
	s.swarm = w
	w.content.enter(s, s.early)
	w.look()
	return w, nil
}

// Here reports that the bytes r of the file are in Part, from any source. Peers can get them if they match the torrent.
func (s *Source) Here(r byterange.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm == nil {
		s.early.Add(r)
		return
	}
	if s.swarm.content.here(s, r) {
		s.swarm.look()
	}
}

// Gone reports that the bytes r of the file are no longer in Part, because they were wrong.
func (s *Source) Gone(r byterange.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm == nil {
		s.early.Remove(r)
		return
	}
	if s.swarm.content.gone(s, r) {
		s.swarm.look()
	}
}

// Close leaves the swarm.
func (s *Source) Close() {
	s.mu.Lock()
	w := s.swarm
	s.swarm, s.closed = nil, true
	s.mu.Unlock()
	if w == nil {
		return
	}
	w.content.exit(s)
	w.look()
	s.client.leave(w)
}

// Active reports whether the source takes part in its swarm.
func (s *Source) Active() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.swarm != nil
}

// pieces returns the half-open range of the numbers of the pieces with bytes of r, a range of the file.
func (s *Source) pieces(r byterange.Range) (first, last int) {
	n := s.torrent.PieceLength
	return int((s.file.Offset + r.Start) / n), int((s.file.Offset + r.End + n - 1) / n)
}

// within returns the part of a piece that belongs to the file, as a range of the file.
func (s *Source) within(piece int) byterange.Range {
	n := s.torrent.PieceLength
	start, end := int64(piece)*n-s.file.Offset, int64(piece+1)*n-s.file.Offset
	return byterange.Range{Start: max(start, 0), End: min(end, s.file.Size)}
}
