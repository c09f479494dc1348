package torrentsource

import (
	"io"
	"net/netip"

	"braid/byterange"
	"braid/source"
)

// Seed joins the swarm without a Fetch, so that peers can get the ranges in Part.
func (s *Source) Seed() error {
	_, err := s.joined()
	return err
}

// Settle replaces Part by part, the complete file, which has got its final name.
func (s *Source) Settle(part io.ReaderAt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm == nil {
		s.options.Part = part
		return
	}
	c := s.swarm.content
	c.mu.Lock()
	s.options.Part = part
	c.mu.Unlock()
	if c.here(s, byterange.Range{Start: 0, End: s.file.Size}) {
		s.swarm.look()
	}
}

// Standing returns the state in the swarm. It is the zero value before the source has joined.
func (s *Source) Standing() source.Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm == nil {
		return source.Standing{}
	}
	st := s.swarm.torrent.Stats()
	return source.Standing{
		Known: st.TotalPeers, Connected: st.ActivePeers, Pieces: st.PiecesComplete,
		Given: st.BytesWrittenData.Int64(), Taken: st.BytesReadData.Int64(),
	}
}

// Addrs returns the addresses where peers may connect. It returns none before the source has joined.
func (s *Source) Addrs() (addrs []netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swarm == nil {
		return nil
	}
	for _, a := range s.swarm.core.ListenAddrs() {
		if to, err := netip.ParseAddrPort(a.String()); err == nil {
			addrs = append(addrs, to)
		}
	}
	return addrs
}
