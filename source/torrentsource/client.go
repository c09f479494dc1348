// Package torrentsource fetches files from BitTorrent swarms. It implements [source.Source] over BitTorrent (BEP 3) for
// a file of a torrent, with github.com/anacrolix/torrent.
//
// A swarm delivers whole pieces. The bytes of a piece stay in a scratch file until its digest is verified. Only then
// are they passed to the sink, in the goroutine that called Fetch. So unverified bytes never leave this package, and
// the package never writes to other files. Pieces that other sources delivered are read from their files, checked, and
// uploaded to peers.
//
// Nothing is opened before the first Fetch. Peers and trackers are named by strangers. Each address is therefore
// checked at the time of the connection, by the policy of the server that named the torrent. A client listens only on a
// configured address and does not ask routers to forward ports. It does not support WebTorrent and uTP, and treats web
// seeds as mirrors.
//
// The caller chooses the ranges, writes the file and verifies it as a whole.
//
//	var c torrentsource.Client
//	defer c.Close()
//	src := c.Source(torrent, file, source.SwarmOptions{Part: part})
//	defer src.Close()
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
package torrentsource

import (
	"cmp"
	"os"
	"sync"
	"time"

	"braid/address"
	"braid/metalink/metainfo"
	"braid/source"
)

const (
	defaultConnect = 10 * time.Second
	defaultTimeout = 30 * time.Second // rule 21
)

// A Client takes part in swarms. The zero value is ready to use and does not listen. It may be used concurrently, and
// must not be changed or copied after its first use.
type Client struct {
	source.SwarmConfig
	// Listen is the address, host:port, where peers may connect. If empty, the client does not listen.
	Listen string
	// NoDHT asks only trackers for peers, not the distributed hash table (BEP 5) or other peers (BEP 11).
	NoDHT bool
	// Bootstrap lists nodes, host:port, for joining the distributed hash table. If nil, well-known nodes are used.
	Bootstrap []string

	mu     sync.Mutex
	swarms map[key]*swarm
}

// Plug returns a function that creates the Swarms of a download.Client, with these values of Client.Listen and
// Client.NoDHT. It must not be inlined: every package that calls it would compile the library's generic types again.
//
//go:noinline
func Plug(listen string, noDHT bool) func(source.SwarmConfig) source.Swarms {
	return func(c source.SwarmConfig) source.Swarms {
		return &Client{SwarmConfig: c, Listen: listen, NoDHT: noDHT}
	}
}

// A key identifies a swarm: by the torrent, and by the scopes to which connections may lead.
type key struct {
	hash  metainfo.Hash
	named address.Scope
}

func (c *Client) connectTimeout() time.Duration { return cmp.Or(c.ConnectTimeout, defaultConnect) }

func (c *Client) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

func (c *Client) scratch(dir string) (source.Scratch, error) {
	if c.Scratch != nil {
		return c.Scratch(dir)
	}
	f, err := os.CreateTemp(dir, ".braid-*.tmp")
	if err != nil {
		return nil, err
	}
	return plainScratch{f}, os.Remove(f.Name())
}

type plainScratch struct{ *os.File }

// Release does nothing, because not every system can free a part of a file.
func (plainScratch) Release(int64, int64) error { return nil }

// join joins the swarm of s.
func (c *Client) join(s *Source) (*swarm, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.swarms[s.key]
	if w == nil {
		var err error
		if w, err = c.start(s.key, s.torrent.Private, s.options, s.content()); err != nil {
			return nil, err
		}
		if c.swarms == nil {
			c.swarms = map[key]*swarm{}
		}
		c.swarms[s.key] = w
	}
	w.refs++
	w.addPlaces(s.torrent.Trackers, s.options.Peers)
	return w, nil
}

// leave removes a source from w. It closes w after the last source has left.
func (c *Client) leave(w *swarm) {
	c.mu.Lock()
	w.refs--
	last := w.refs == 0
	if last {
		delete(c.swarms, w.key)
	}
	c.mu.Unlock()
	if last {
		w.close()
	}
}

// Close closes all remaining swarms.
func (c *Client) Close() {
	c.mu.Lock()
	swarms := c.swarms
	c.swarms = nil
	c.mu.Unlock()
	for _, w := range swarms {
		w.close()
	}
}
