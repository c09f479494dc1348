// Package torrentsource has the bytes of a swarm: a [source.Source] over BitTorrent (BEP 3) for a file of a torrent, on
// github.com/anacrolix/torrent.
//
// A swarm gives whole pieces. What comes of one waits in a scratch file until the digest of the torrent says that it is right,
// and only then goes to the sink, from the goroutine that called Fetch: a byte of other files is never touched here, and
// nothing unproven leaves this package. Pieces that other sources brought are read where they are, checked, and given to peers.
//
// Nothing runs and nothing is open before the first Fetch. Peers and trackers are named by strangers: where connections may
// lead says the policy of who named the torrent, for every address, when it is connected to. A client does not listen
// unless it is told where, does not ask routers to forward ports, and does not speak WebTorrent, uTP or to web seeds, which are
// mirrors like others.
//
// The package refuses to choose ranges, to write files, and to judge the whole: that is for the caller.
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
	defaultConnectTimeout = 10 * time.Second
	defaultTimeout        = 30 * time.Second // rule 21
)

// A Client takes part in swarms. The zero value works, without listening. It may be used by several goroutines, and must not be
// changed or copied after its first use.
type Client struct {
	source.SwarmConfig
	// Listen is the address, host:port, where peers may connect to us. If empty, none may.
	Listen string
	// NoDHT asks trackers only: neither the distributed hash table (BEP 5) nor peers for other peers (BEP 11).
	NoDHT bool
	// Bootstrap are the nodes, host:port, to enter the distributed hash table by. If nil, those that are well known.
	Bootstrap []string

	mu     sync.Mutex
	swarms map[key]*swarm
}

// Plug makes the Swarms of a download.Client: clients that listen at an address, as Client.Listen and Client.NoDHT say.
func Plug(listen string, noDHT bool) func(source.SwarmConfig) source.Swarms {
	return func(c source.SwarmConfig) source.Swarms {
		return &Client{SwarmConfig: c, Listen: listen, NoDHT: noDHT}
	}
}

// A key tells swarms apart: by the torrent, and by where connections may lead.
type key struct {
	hash  metainfo.Hash
	named address.Scope
}

func (c *Client) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

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

// Release keeps the bytes: not every system can give them back.
func (plainScratch) Release(int64, int64) error { return nil }

// join takes part in a swarm, for a source.
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

// leave ends the part of a source in its swarm. The last one ends the swarm.
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

// Close ends what is left of all swarms.
func (c *Client) Close() {
	c.mu.Lock()
	swarms := c.swarms
	c.swarms = nil
	c.mu.Unlock()
	for _, w := range swarms {
		w.close()
	}
}
