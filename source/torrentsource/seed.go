package torrentsource

import (
	"io"
	"net/netip"

	"braid/byterange"
	"braid/source"
)

// Seed takes part in the swarm without a Fetch: peers can have what Here says is in Part.
func (s *Source) Seed() error {
	_, err := s.joined()
	return err
}

// Settle says that the whole file is in another place from now on, as it has got its name.
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

// Standing tells how the source stands; the zero value before it takes part.
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

// Addrs are the addresses where peers may connect to us, as far as the source takes part in its swarm.
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
