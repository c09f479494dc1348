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

// SwarmHost is the name of swarms where servers have a host:port, and the scheme of their URLs.
const SwarmHost = "bittorrent"

// SwarmURL names a file of a torrent where other places have a URL: bittorrent://HASH/path.
func SwarmURL(t metainfo.Torrent, f metainfo.File) *url.URL {
	return &url.URL{Scheme: SwarmHost, Host: t.InfoHash.String(), Path: "/" + f.Path()}
}

// IsSwarm reports whether u is the URL of a file in a swarm.
func IsSwarm(u *url.URL) bool { return u.Scheme == SwarmHost }

// Swarms takes part in BitTorrent swarms (BEP 3). The package torrentsource has one; a program that does not import it
// brings no library for BitTorrent along. Its methods may be called by several goroutines at once.
type Swarms interface {
	// Swarm makes a source of a file of a torrent. Nothing is connected to before it is asked for something.
	Swarm(t metainfo.Torrent, f metainfo.File, o SwarmOptions) Swarm
	// Metadata asks peers for the torrent that a magnet link names (BEP 9). Its hash has been checked. Connections lead as far as
	// named allows; if it is zero, anywhere.
	Metadata(ctx context.Context, m metainfo.Magnet, named address.Scope) (metainfo.Torrent, error)
	// Close leaves all swarms. It is called once, when no Fetch and no Metadata runs any more.
	Close()
}

// A Swarm is the source of one file of a torrent. Its methods may be called by several goroutines at once, Close when
// no Fetch runs.
type Swarm interface {
	Source
	// Here says that bytes of the file are in SwarmOptions.Part, and Gone that they are not any more.
	Here(r byterange.Range)
	Gone(r byterange.Range)
	// Seed takes part without a Fetch: peers can have what is here.
	Seed() error
	// Standing is the zero value before it takes part.
	Standing() Standing
	// Addrs are the addresses where peers may connect to it; none before it takes part.
	Addrs() []netip.AddrPort
	// Close leaves the swarm.
	Close()
}

// A Standing is how a source stands in its swarm.
type Standing struct {
	Known, Connected int   // peers
	Given            int64 // bytes that peers got from us, of the whole torrent
	Taken            int64 // bytes that they brought, those included that were of no use
	Pieces           int   // that peers can have
}

// SwarmOptions say what is special about one file in a swarm.
type SwarmOptions struct {
	// Part is the file as far as it is here: what Here says of it is read, checked and given to peers. If nil, nothing is.
	Part io.ReaderAt
	// Dir is the folder for what is not proven yet.
	Dir string
	// Peers are addresses of peers, host:port, beside those that trackers and others name.
	Peers []string
	// Seed gives to peers also what we get nothing for. The first source of a torrent says so for all.
	Seed bool
	// Named says where connections may lead: as far as the place that named the torrent. If zero, anywhere.
	Named address.Scope
}

// SwarmConfig is what swarms share with the other sources of a client.
type SwarmConfig struct {
	// ConnectTimeout limits the time to connect to a peer. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// Timeout limits the time without a byte of what is wanted. If zero, it is 30 s.
	Timeout time.Duration
	// AllowHosts are connected to whatever names them.
	AllowHosts address.Hosts
	// Pay, if not nil, is called for n bytes that came from peers. It may wait, and so holds them back.
	Pay func(ctx context.Context, n int) error
	// Scratch makes the file for what is not proven yet, in the folder that SwarmOptions.Dir names. If nil, it is a
	// temporary file.
	Scratch func(dir string) (Scratch, error)
}

// A Scratch keeps bytes that are not proven yet. Release says that n bytes from off on are of no use any more.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Release(off, n int64) error
}
