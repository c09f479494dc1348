package torrentsource

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/anacrolix/dht/v2"
	"github.com/anacrolix/dht/v2/krpc"
	peerstore "github.com/anacrolix/dht/v2/peer-store"
	alog "github.com/anacrolix/log"

	"braid/metalink/metainfo"
	"braid/source"
)

// A register lists the peer of each torrent for a DHT node.
type register map[peerstore.InfoHash]krpc.NodeAddr

func (r register) AddPeer(peerstore.InfoHash, krpc.NodeAddr) {}

func (r register) GetPeers(h peerstore.InfoHash) []krpc.NodeAddr {
	if a, ok := r[h]; ok {
		return []krpc.NodeAddr{a}
	}
	return nil
}

// startNode starts a DHT node on this machine that knows a peer of a torrent and no other nodes.
func startNode(t *testing.T, m metainfo.Torrent, peer netip.AddrPort) (addr string) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	known := register{peerstore.InfoHash(m.InfoHash): {IP: peer.Addr().AsSlice(), Port: int(peer.Port())}}
	cfg := dht.NewDefaultServerConfig()
	cfg.Conn, cfg.NoSecurity, cfg.PeerStore = conn, true, known
	cfg.StartingNodes = func() ([]dht.Addr, error) { return nil, nil }
	cfg.Logger = alog.NewLogger()
	cfg.Logger.SetHandlers(alog.DiscardHandler)
	node, err := dht.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	return conn.LocalAddr().String()
}

// TestTable checks a magnet link without trackers and peers: the DHT knows the peers (BEP 5), which know the metadata
// (BEP 9). With NoDHT, the DHT is not used.
func TestTable(t *testing.T) {
	data := made(t, 4*pieceLength+5, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	node := startNode(t, m, netip.MustParseAddrPort(addr))
	c := &Client{Bootstrap: []string{node}}
	t.Cleanup(c.Close)
	found, err := c.Metadata(t.Context(), metainfo.Magnet{InfoHash: m.InfoHash}, near)
	if err != nil {
		t.Fatal(err)
	}
	if found.InfoHash != m.InfoHash || found.Size != m.Size {
		t.Errorf("the torrent is %+v", found)
	}
	c = newClient(t, &Client{Bootstrap: []string{node}, SwarmConfig: source.SwarmConfig{Timeout: 100 * time.Millisecond}})
	if _, err := c.Metadata(t.Context(), metainfo.Magnet{InfoHash: m.InfoHash}, near); err == nil {
		t.Error("somebody was asked")
	}
}

// TestSocketGoesOn checks that a socket for the DHT returns an error only when it is closed, because the library panics
// otherwise.
func TestSocketGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &ways{ctx: ctx, client: &Client{}}
	c := &packets{PacketConn: &failing{left: 2}, ways: w}
	if n, _, err := c.ReadFrom(nil); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, _, err := c.ReadFrom(nil); err != net.ErrClosed {
		t.Errorf("closed: %v", err)
	}
	c.PacketConn = &failing{left: 1 << 30}
	cancel()
	if _, _, err := c.ReadFrom(nil); err != net.ErrClosed {
		t.Errorf("the swarm is over: %v", err)
	}
}

// A failing socket returns an error several times, then one byte, and then net.ErrClosed.
type failing struct {
	net.PacketConn
	left int
}

func (f *failing) ReadFrom([]byte) (int, net.Addr, error) {
	switch f.left--; {
	case f.left >= 0:
		return 0, nil, syscall.ENETDOWN
	case f.left == -1:
		return 1, nil, nil
	}
	return 0, nil, net.ErrClosed
}
