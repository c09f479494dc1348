package source

import (
	"context"
	"io"
	"net/netip"
	"net/url"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/metalink/metainfo"
)

// SwarmHost is the Answer.Host and Error.Host of every swarm. It is also the scheme of the URLs of swarms.
const SwarmHost = "bittorrent"

// SwarmURL returns a URL for the file f of the torrent t: bittorrent://HASH/path.
func SwarmURL(t metainfo.Torrent, f metainfo.File) *url.URL {
	return &url.URL{Scheme: SwarmHost, Host: t.InfoHash.String(), Path: "/" + f.Path()}
}

// IsSwarm reports whether u is the URL of a file in a swarm.
func IsSwarm(u *url.URL) bool { return u.Scheme == SwarmHost }

// A Swarms takes part in BitTorrent swarms (BEP 3). Package torrentsource implements Swarms. A program that does not
// import that package links no BitTorrent library. The methods of a Swarms may be called concurrently.
type Swarms interface {
	// Swarm returns a source for a file of a torrent. It does not connect before the first request.
	Swarm(t metainfo.Torrent, f metainfo.File, o SwarmOptions) Swarm
	// Metadata fetches the torrent of a magnet link from peers (BEP 9) and checks its hash. Connections are limited to
	// the scopes in named. If named is zero, connections are not limited.
	Metadata(ctx context.Context, m metainfo.Magnet, named address.Scope) (metainfo.Torrent, error)
	// Close leaves all swarms. It must be called once, when no Fetch and no Metadata runs any more.
	Close()
}

// A Swarm is the source of one file of a torrent. Its methods may be called concurrently, but Close only when no Fetch
// runs.
type Swarm interface {
	Source
	// Here reports that SwarmOptions.Part has the bytes of r. Gone reports that Part no longer has these bytes.
	Here(r byterange.Range)
	Gone(r byterange.Range)
	// Seed joins the swarm without a Fetch, so that peers can get the ranges in Part.
	Seed() error
	// Standing returns the state in the swarm. It is the zero value before the source has joined.
	Standing() Standing
	// Addrs returns the addresses where peers may connect. The result is empty before the source has joined.
	Addrs() []netip.AddrPort
	// Close leaves the swarm.
	Close()
}

// A Standing is the state of a source in its swarm.
type Standing struct {
	Known, Connected int   // peers
	Given            int64 // bytes uploaded to peers, for the whole torrent
	Taken            int64 // bytes downloaded from peers, including useless ones
	Pieces           int   // number of pieces that peers can get
}

// SwarmOptions has the options of one file in a swarm.
type SwarmOptions struct {
	// Part has the bytes that Here reported. These bytes are checked and uploaded to peers. If nil, nothing is uploaded.
	Part io.ReaderAt
	// Dir is the folder for unverified data.
	Dir string
	// Peers has additional addresses of peers, host:port.
	Peers []string
	// Seed also uploads to peers that send nothing in return. The first source of a torrent decides for all sources of
	// the torrent.
	Seed bool
	// Named has the scopes to which connections may lead, depending on who named the torrent. Zero is no limit.
	Named address.Scope
}

// SwarmConfig has the settings that swarms share with the other sources of a client.
type SwarmConfig struct {
	// ConnectTimeout limits the time to connect to a peer. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// Timeout limits the time without a requested byte. If zero, it is 30 s.
	Timeout time.Duration
	// AllowHosts are hosts to which connections are always allowed.
	AllowHosts address.Hosts
	// Pay, if not nil, is called for n bytes received from peers. It may block, to limit the speed.
	Pay func(ctx context.Context, n int) error
	// Scratch creates the file for unverified data in the folder SwarmOptions.Dir. If nil, a temporary file is used.
	Scratch func(dir string) (Scratch, error)
}

// A Scratch stores unverified data. Release reports that n bytes at off are no longer needed.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Release(off, n int64) error
}
