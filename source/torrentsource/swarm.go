package torrentsource

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anacrolix/dht/v2"
	alog "github.com/anacrolix/log"
	"github.com/anacrolix/torrent"

	"braid/address"
	"braid/metalink/metainfo"
	"braid/source"
)

// A swarm is one torrent in the library. The sources of its files share it.
type swarm struct {
	key     key
	refs    int // protected by the mutex of the client
	ways    *ways
	content *content
	core    *torrent.Client
	torrent *torrent.Torrent

	ctx    context.Context
	cancel context.CancelFunc
	kick   [2]chan struct{} // wakes tend and prove
	work   sync.WaitGroup

	places places

	// asks makes a change in content and the matching call of the library atomic. Two files may share a piece, and a
	// job of one file must not cancel a request that a job of the other file has just made.
	asks sync.Mutex
}

// A geometry describes the pieces of a torrent. It is zero if the info dictionary is not known yet.
type geometry struct {
	info         []byte
	length, size int64
}

func (s *Source) content() geometry {
	return geometry{s.torrent.Info(), s.torrent.PieceLength, s.torrent.Size}
}

// start joins the swarm k.
func (c *Client) start(k key, private bool, o source.SwarmOptions, g geometry) (*swarm, error) {
	scratch, err := c.scratch(o.Dir)
	if err != nil {
		return nil, err
	}
	w := &swarm{key: k, content: newContent(max(g.length, 1), g.size, scratch)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.ways = &ways{ctx: w.ctx, client: c, named: k.named}
	for i := range w.kick {
		w.kick[i] = make(chan struct{}, 1)
	}
	if w.core, err = torrent.NewClient(c.config(w, private, o.Seed)); err != nil {
		w.core = nil
		w.close()
		return nil, err
	}
	w.core.AddDialer(w.ways)
	if !c.NoDHT && !private {
		if err := c.enterTable(w); err != nil {
			w.close()
			return nil, err
		}
	}
	w.torrent, _ = w.core.AddTorrentOpt(torrent.AddTorrentOpts{InfoHash: [20]byte(k.hash), InfoBytes: g.info})
	if g.info != nil && w.torrent.Info() == nil {
		w.close()
		return nil, errUnread
	}
	w.torrent.SetOnWriteChunkError(func(error) {}) // content keeps the error
	w.work.Go(w.tend)
	w.work.Go(w.prove)
	return w, nil
}

var errUnread = errors.New("the BitTorrent library rejects this torrent")

// config returns the configuration of the library.
func (c *Client) config(w *swarm, private, seed bool) *torrent.ClientConfig {
	cfg := torrent.NewDefaultClientConfig()
	cfg.Slogger = slog.New(slog.DiscardHandler)
	cfg.DefaultStorage = w.content
	cfg.NoDefaultPortForwarding, cfg.DisableWebtorrent, cfg.DisableWebseeds = true, true, true
	cfg.NoDHT, cfg.DisableUTP = true, true // the table has its own socket; see enterTable
	cfg.DisablePEX = c.NoDHT || private
	cfg.DialForPeerConns = false // ways dials
	cfg.DisableTCP, cfg.AcceptPeerConnections = c.Listen == "", c.Listen != ""
	if c.Listen != "" {
		cfg.SetListenAddr(c.Listen)
		if host, _, _ := net.SplitHostPort(c.Listen); host != "" {
			ip := net.ParseIP(host)
			cfg.DisableIPv6, cfg.DisableIPv4 = ip.To4() != nil, ip != nil && ip.To4() == nil
		}
	}
	cfg.Seed = seed
	cfg.KeepAliveTimeout = keepAlive
	cfg.HeaderObfuscationPolicy.Preferred = false // it hides nothing from an observer, and RC4 is expensive
	cfg.TrackerDialContext, cfg.HTTPDialContext = w.ways.dialTracker, w.ways.dialTracker
	cfg.TrackerListenPacket = w.ways.listenTracker
	cfg.HTTPUserAgent, cfg.ExtendedHandshakeClientVersion, cfg.Bep20 = "braid", "braid", "-BD0001-"
	return cfg
}

// keepAlive is the time after which a message is sent to an idle peer. The library's default is a minute. But in
// v1.61.0 the library's writer can miss a wakeup (issue 1070), and then sends no requests until this time has passed.
const keepAlive = 2 * time.Second

// enterTable asks the distributed hash table for peers of w (BEP 5). The node of the swarm does not answer queries.
func (c *Client) enterTable(w *swarm) error {
	conn, err := w.ways.listenPacket("udp4", ":0")
	if err != nil {
		return err
	}
	cfg := dht.NewDefaultServerConfig()
	cfg.Conn, cfg.Passive, cfg.NoSecurity = conn, true, true
	cfg.Logger = alog.NewLogger() // without handlers it discards everything
	cfg.Logger.SetHandlers(alog.DiscardHandler)
	cfg.StartingNodes = func() ([]dht.Addr, error) {
		if c.Bootstrap == nil {
			return dht.GlobalBootstrapAddrs("udp4")
		}
		return dht.ResolveHostPorts(c.Bootstrap)
	}
	server, err := dht.NewServer(cfg)
	if err != nil {
		conn.Close()
		return err
	}
	w.ways.forget(conn.(*packets)) // only the table may close its socket, otherwise it panics
	w.ways.hold(closer(server.Close))
	w.work.Go(server.TableMaintainer)
	w.core.AddDhtServer(torrent.AnacrolixDhtServerWrapper{Server: server})
	return nil
}

// addPlaces adds trackers and peers.
func (w *swarm) addPlaces(trackers [][]string, peers []string) {
	trackers = usable(trackers)
	w.torrent.AddTrackers(trackers)
	w.places.add(trackers, peers)
	w.addPeers(peers)
}

// callAgain adds the named and the dialed peers again if the library knows no peer any more. These peers may have been
// busy or not started yet, and the library asks a tracker again only after half an hour or so.
func (w *swarm) callAgain() {
	if st := w.torrent.Stats(); st.TotalPeers > 0 {
		return
	}
	peers := w.places.named()
	w.ways.mu.Lock()
	peers = append(peers, w.ways.met...)
	w.ways.mu.Unlock()
	w.addPeers(peers)
}

// askTrackers adds the trackers again, under other URLs, if no tracker was asked. In v1.61.0, the timer of the
// library's announcements misses a change that comes while the timer fires (mytimer.Timer.update), and may then never
// fire again. Adding a new tracker sets the timer. The fragment makes a URL new and is not sent.
func (w *swarm) askTrackers() {
	trackers := w.places.takeTrackers()
	if w.ways.asked.Load() || len(trackers) == 0 {
		return
	}
	var others [][]string
	for _, tier := range trackers {
		var other []string
		for _, t := range tier {
			t, _, _ = strings.Cut(t, "#")
			other = append(other, t+"#again")
		}
		others = append(others, other)
	}
	w.torrent.AddTrackers(usable(others))
}

func (w *swarm) addPeers(peers []string) {
	var infos []torrent.PeerInfo
	for _, p := range peers {
		infos = append(infos, torrent.PeerInfo{Addr: torrent.StringAddr(p), Source: torrent.PeerSourceDirect})
	}
	w.torrent.AddPeers(infos)
}

// look wakes tend and prove.
func (w *swarm) look() {
	for _, c := range w.kick {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// tend keeps the library's state of the pieces up to date.
func (w *swarm) tend() {
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	calls := time.NewTicker(callTime)
	defer calls.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.kick[0]:
		case <-again.C:
		case <-calls.C:
			w.askTrackers()
			w.callAgain()
			continue
		}
		if w.refresh() > 0 {
			again.Reset(refreshTime)
		}
	}
}

// callTime is the interval of askTrackers and callAgain.
const callTime = 3 * time.Second

// refreshTime is the interval of refresh while pieces are being hashed.
const refreshTime = 20 * time.Millisecond

// refresh makes the library read the completion of stale pieces again. It returns the number of pieces that are still
// stale.
func (w *swarm) refresh() int {
	c := w.content
	c.mu.Lock()
	stale := make([]int, 0, len(c.stale))
	for i := range c.stale {
		stale = append(stale, i)
	}
	clear(c.stale)
	c.mu.Unlock()
	slices.Sort(stale)
	var busy []int
	for _, i := range stale {
		switch st := w.torrent.PieceState(i); {
		case st.Marking || st.Hashing || st.QueuedForHash:
			busy = append(busy, i)
		case st.Complete != c.complete(i):
			w.torrent.Piece(i).UpdateCompletion()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range busy {
		c.stale[i] = true
	}
	return len(c.stale)
}

// prove checks pieces that other sources delivered, so that peers can get them.
func (w *swarm) prove() {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.kick[1]:
		}
		for w.ctx.Err() == nil {
			i, ok := w.content.unchecked()
			if !ok {
				break
			}
			w.torrent.Piece(i).VerifyDataContext(w.ctx) // content gets the result
		}
	}
}

// unchecked returns the next piece to check.
func (c *content) unchecked() (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.checks) > 0 {
		i := c.checks[0]
		c.checks = c.checks[1:]
		if !c.proven[i] && len(c.jobs[i]) == 0 && c.backed(i) {
			return i, true
		}
	}
	return 0, false
}

// close closes the swarm.
func (w *swarm) close() {
	w.cancel()
	close(w.content.closed)
	if w.core != nil {
		// The library closes its listeners in goroutines and does not wait for them. The next swarm could then not
		// listen on their address.
		for _, l := range w.core.Listeners() {
			if l, ok := l.(io.Closer); ok {
				l.Close()
			}
		}
		w.core.Close()
	}
	close(w.content.over)
	w.ways.close()
	w.work.Wait()
	w.content.shelf.Close()
}

type closeFunc struct{ f func() }

func closer(f func()) *closeFunc { return &closeFunc{f} }

func (c *closeFunc) Close() error {
	c.f()
	return nil
}

// Metadata fetches the torrent of the magnet link m from peers (BEP 9). The library checks its hash.
func (c *Client) Metadata(ctx context.Context, m metainfo.Magnet, named address.Scope) (metainfo.Torrent, error) {
	if named == 0 {
		named = address.Anywhere
	}
	w, err := c.start(key{m.InfoHash, named}, false, source.SwarmOptions{}, geometry{})
	if err != nil {
		return metainfo.Torrent{}, err
	}
	defer w.close()
	w.addPlaces([][]string{m.Trackers}, m.Peers)
	late := time.NewTimer(2 * c.timeout())
	defer late.Stop()
	turn := max(c.timeout()/6, leastTurn)
	idle := time.NewTicker(turn)
	defer idle.Stop()
	for waiting := true; waiting; {
		select {
		case <-w.torrent.GotInfo():
			return metainfo.FromInfo(w.torrent.Metainfo().InfoBytes, m.Trackers)
		case <-ctx.Done():
			return metainfo.Torrent{}, ctx.Err()
		case <-idle.C:
			// The library asks a peer once for each connection. A peer that is still checking its file does not answer,
			// and must be asked again on another connection.
			w.ways.hangUp(int64(leastMetadata * turn.Seconds()))
		case <-late.C:
			waiting = false
		}
	}
	if refused := w.ways.refused.Load(); refused != nil {
		return metainfo.Torrent{}, *refused
	}
	return metainfo.Torrent{}, errNoPeer
}

// The connection to a peer that sends less than leastMetadata bytes a second during a turn is closed, and opened again.
// With the default timeout, a turn takes 5 s, in which leastMetadata is half of a piece of metadata (BEP 9). leastTurn
// is the minimum of a turn: some round trips to a distant peer.
const (
	leastMetadata = 8 << 10 / 5
	leastTurn     = time.Second
)

var errNoPeer = errors.New("no peer with the torrent was found")
