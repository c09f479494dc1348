package download_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/download/limit"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/source/httpsource"
	"braid/source/torrentsource"
)

// startPeer starts a peer that has a file of a torrent and sends it to any other peer.
func startPeer(t *testing.T, torrent, data []byte) (src *torrentsource.Source, addr netip.AddrPort) {
	t.Helper()
	m := parsedTorrent(t, torrent)
	c := &torrentsource.Client{Listen: "127.0.0.1:0", NoDHT: true}
	src = c.Source(m, m.Files[0], source.SwarmOptions{Part: bytes.NewReader(data), Seed: true})
	if err := src.Seed(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	t.Cleanup(src.Close)
	src.Here(byterange.Range{End: m.Size})
	for src.Standing().Pieces < int((m.Size+m.PieceLength-1)/m.PieceLength) {
		if t.Context().Err() != nil {
			t.Fatal("the peer does not find its file")
		}
		time.Sleep(time.Millisecond)
	}
	return src, src.Addrs()[0]
}

// gives checks that a peer has sent so many bytes. It counts them once they were sent, which may be after
// they arrived.
func gives(t *testing.T, peer *torrentsource.Source, n int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); peer.Standing().Given < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the peer gave %d bytes, want %d", peer.Standing().Given, n)
		}
	}
}

func parsedTorrent(t *testing.T, torrent []byte) metainfo.Torrent {
	t.Helper()
	m, err := metainfo.Parse(bytes.NewReader(torrent))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// magnetOf returns a link with a torrent's hash and the peers that have it, and nothing else.
func magnetOf(t *testing.T, torrent []byte, peers ...netip.AddrPort) string {
	link := "magnet:?xt=urn:btih:" + parsedTorrent(t, torrent).InfoHash.String()
	for _, p := range peers {
		link += "&x.pe=" + p.String()
	}
	return link
}

// tracked returns a torrent with a tracker that knows these peers.
func tracked(t *testing.T, name string, data []byte, peers ...netip.AddrPort) (torrent []byte, tracker *mirrortest.Server) {
	t.Helper()
	var list []byte
	for _, p := range peers {
		list = binary.BigEndian.AppendUint16(append(list, p.Addr().AsSlice()...), p.Port())
	}
	tracker = mirrortest.New(t, []byte("x"))
	answer := append([]byte("d8:intervali1800e5:peers"), []byte(string(rune('0'+len(list)))+":")...)
	tracker.Set(mirrortest.Document("/announce", "text/plain", append(append(answer, list...), 'e')))
	m := parsedTorrent(t, torrentOf(t, name, data))
	m.Trackers = [][]string{{"http://" + tracker.Addr + "/announce"}}
	torrent, err := m.Format("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return torrent, tracker
}

// byMagnet makes a download of the file of a magnet link.
func byMagnet(t *testing.T, link string) *run {
	t.Helper()
	r := newRun(t, "http://unused.example/")
	r.client.Swarms = torrentsource.Plug("", true)
	r.req.URL, r.req.Peers = nil, download.PeersAuto
	d, err := r.client.Magnet(t.Context(), r.req, link)
	if err != nil {
		t.Fatal(err)
	}
	if r.req, err = d.Request(d.Files.At(0), r.req); err != nil {
		t.Fatal(err)
	}
	return r
}

// A magnet link names only peers: they send the torrent and the file.
func TestSwarmAlone(t *testing.T) {
	t.Parallel()
	data := made(3*mib+5, 7)
	torrent := torrentOf(t, "file.bin", data)
	_, addr := startPeer(t, torrent, data)
	res := byMagnet(t, magnetOf(t, torrent, addr)).right(mirrortest.Generate(3*mib+5, 7))
	checkedOnly(t, res, "bittorrent v1 piece hashes from the magnet link")
	if len(res.Sources) != 1 || res.Sources[0].Host != source.SwarmHost || res.Sources[0].Bytes != 3*mib+5 || res.Duplicate > 0 {
		t.Errorf("result is %+v", res)
	}
}

// Bytes from peers are kept when the download is interrupted.
func TestSwarmResume_Rule8(t *testing.T) {
	t.Parallel()
	data := made(16*mib, 7)
	torrent := torrentOf(t, "file.bin", data)
	_, addr := startPeer(t, torrent, data)
	r := byMagnet(t, magnetOf(t, torrent, addr))
	r.client.Limit = limit.New(3 * mib) // so that the rest takes some seconds
	kept := r.interrupt(4 * mib).Kept
	r.client.Limit = nil
	res := r.right(mirrortest.Generate(16*mib, 7))
	if res.Resumed != kept || res.Fetched != 16*mib-kept {
		t.Errorf("%d bytes were kept, %d were there, %d came", kept, res.Resumed, res.Fetched)
	}
}

// A server that describes a torrent and its peers send parts of one file, and the server's digest decides
// (C4).
func TestSwarmBesideServers_C4(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	data := made(size, 7)
	peer, addr := startPeer(t, torrentOf(t, "file.bin", data), data)
	torrent, tracker := tracked(t, "file.bin", data, addr)
	origin := torrented(t, size, torrent)
	for _, mode := range []download.Peers{download.PeersOff, download.PeersOnly} {
		r := newRun(t, origin.URL)
		r.client.Swarms, r.req.Peers = torrentsource.Plug("", true), mode
		origin.Set(held(2*mib, func() bool { return mode == download.PeersOff || peer.Standing().Given > mib }))
		res := r.right(origin.Content)
		verified(t, res, "sha-256 from Digest over http")
		useful(t, res, origin)
		brought := int64(0)
		for _, src := range res.Sources {
			if src.Host == source.SwarmHost {
				brought = src.Bytes
			}
		}
		asked(t, tracker, mode != download.PeersOff)
		if on := mode != download.PeersOff; brought > 0 != on || peer.Standing().Given > 0 != on {
			t.Errorf("mode %v: peers brought %d bytes", mode, brought)
		}
	}
}

// A torrent is of another file of the same size: the server's digest refutes the bytes of its peers.
func TestSwarmHasAnotherFile_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	other := made(size, 8)
	_, addr := startPeer(t, torrentOf(t, "file.bin", other), other)
	torrent, _ := tracked(t, "file.bin", other, addr)
	origin := torrented(t, size, torrent)
	r := newRun(t, origin.URL)
	r.client.Swarms, r.req.Peers = torrentsource.Plug("", true), download.PeersOnly
	verified(t, r.right(origin.Content), "sha-256 from Digest over http")
}

// A file that begins and ends within pieces is complete, too, and is checked with the neighbours' bytes from
// peers.
func TestSwarmOfSeveralFiles(t *testing.T) {
	t.Parallel()
	files := [][]byte{made(100_000, 1), made(300_001, 2), made(70_000, 3)}
	torrent := bencoded(bytes.Join(files, nil), "", "a", len(files[0]), "b", len(files[1]), "c", len(files[2]))
	m := parsedTorrent(t, torrent)
	c := &torrentsource.Client{Listen: "127.0.0.1:0", NoDHT: true}
	t.Cleanup(c.Close)
	var addr netip.AddrPort
	for i, f := range m.Files {
		src := c.Source(m, f, source.SwarmOptions{Part: bytes.NewReader(files[i]), Seed: true})
		if err := src.Seed(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(src.Close)
		src.Here(byterange.Range{End: f.Size})
		addr = src.Addrs()[0]
	}
	r := newRun(t, "http://unused.example/")
	r.client.Swarms, r.req.URL, r.req.Peers = torrentsource.Plug("", true), nil, download.PeersAuto
	d, err := r.client.Magnet(t.Context(), r.req, magnetOf(t, torrent, addr))
	if err != nil {
		t.Fatal(err)
	}
	if r.req, err = d.Request(d.Files.At(1), r.req); err != nil {
		t.Fatal(err)
	}
	res, err := r.get()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(res.Path); err != nil || !bytes.Equal(got, files[1]) {
		t.Errorf("%s is not what it should be: %v", res.Path, err)
	}
	if res.Proof.Verified() || !res.Proof.ByPieces() {
		t.Errorf("it is called %v", res.Proof)
	}
}

// A file is seeded for as long as the user wants: here until a peer that got it only from this client has all
// of it. The context ends it, because a ratio may be reached while the last bytes for a peer are still being
// sent.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	data := made(3*mib, 7)
	torrent := torrentOf(t, "file.bin", data)
	_, addr := startPeer(t, torrent, data)
	r := byMagnet(t, magnetOf(t, torrent, addr))
	r.client.Swarms = torrentsource.Plug("127.0.0.1:0", true)
	r.req.Seed.Ratio, r.req.Seed.Time = 100, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	r.ctx = ctx
	var once sync.Once
	var second sync.WaitGroup
	r.req.Observe = func(ev download.Event) {
		s, ok := ev.(download.Seeding)
		if !ok {
			return
		}
		once.Do(func() {
			second.Go(func() {
				defer stop()
				byMagnet(t, magnetOf(t, torrent, s.Addrs[0])).right(mirrortest.Generate(3*mib, 7))
			})
		})
	}
	r.right(mirrortest.Generate(3*mib, 7))
	second.Wait()
}

// If peers are off, a magnet link that names only peers leads nowhere, and no peer is contacted (rule 63).
func TestPeersOff(t *testing.T) {
	t.Parallel()
	data := made(mib, 7)
	torrent := torrentOf(t, "file.bin", data)
	peer, addr := startPeer(t, torrent, data)
	_, err := (&download.Client{Swarms: torrentsource.Plug("", true)}).Magnet(t.Context(), download.Request{},
		magnetOf(t, torrent, addr))
	if err == nil || peer.Standing().Known > 0 {
		t.Errorf("%v, %+v", err, peer.Standing())
	}
}

// A document has a torrent as its only place: its peers send the file, and the digest of the document decides
// (C4). Without a torrent or peers, there is no place.
func TestDocumentNamesATorrentAlone_C4(t *testing.T) {
	t.Parallel()
	const size = 4*mib + 5
	data := made(size, 7)
	peer, addr := startPeer(t, torrentOf(t, "file.bin", data), data)
	torrent, _ := tracked(t, "file.bin", data, addr)
	f := of(t, data)
	place := mirrortest.New(t, data)
	place.Set(mirrortest.Document("/x.torrent", metalink.Torrent, torrent))
	missing := *parse(t, place.URL)
	for _, path := range []string{"/gone.torrent", "/x.torrent"} { // the first that exists counts
		u := missing
		u.Path = path
		f.Documents = append(f.Documents, metalink.MetaURL{URL: &u, Type: metalink.Torrent})
	}
	place.Set(mirrortest.Document("/gone.torrent", "text/plain", []byte("no torrent")))
	r := newRun(t, "http://unused.example/")
	r.client.Swarms = torrentsource.Plug("", true)
	var d *download.Document
	for _, f.Size = range []int64{size, -1} {
		text, err := metalink.Format(metalink.Document{Files: []metalink.File{f}})
		if err == nil {
			d, err = download.ReadDocument(bytes.NewReader(text), "x.meta4")
		}
		if err != nil {
			t.Fatal(err)
		}
		f := d.Files.At(0)
		r.req = download.Request{Dir: t.TempDir(), Peers: download.PeersAuto}
		req, err := d.Request(f, r.req)
		if err != nil {
			t.Fatal(err)
		}
		r.req, r.dir = req, req.Dir
		verified(t, r.right(mirrortest.Generate(size, 7)), byDocument)
	}
	gives(t, peer, 2*size)
	if _, err := d.Request(f, download.Request{}); err == nil {
		t.Error("there is a place, and peers are off")
	}
	f.Claims = nil
	if _, err := d.Request(f, download.Request{Peers: download.PeersAuto}); err == nil {
		t.Error("there is a place, and nothing would tell whether it is right")
	}
}

// When no server is left, the download resumes from peers of a torrent that a server described.
func TestPeersAsRescue(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	data := made(size, 7)
	_, addr := startPeer(t, torrentOf(t, "file.bin", data), data)
	torrent, tracker := tracked(t, "file.bin", data, addr)
	shelf := mirrortest.New(t, []byte("x"), mirrortest.Document("/file.torrent", metalink.Torrent, torrent))
	for _, mode := range []download.Peers{download.PeersOff, download.PeersAuto} {
		origin := vouch(t, size)
		origin.Set(mirrortest.Link(`<http://`+shelf.Addr+
			`/file.torrent>; rel=describedby; type="application/x-bittorrent"`), mirrortest.DieAfter(size/2))
		r := newRun(t, origin.URL)
		r.client.Swarms, r.client.Tries, r.req.Peers = torrentsource.Plug("", true), 1, mode
		if mode == download.PeersOff {
			if _, err := r.get(); err == nil {
				t.Error("nobody brings the second half, and it is there")
			}
			asked(t, tracker, false)
			continue
		}
		res := r.right(mirrortest.Generate(size, 7))
		verified(t, res, "sha-256 from Digest over http")
		if res.Duplicate > 0 || res.Fetched != size {
			t.Errorf("%d bytes came, %d of them twice", res.Fetched, res.Duplicate)
		}
	}
}

// If a proxy is configured, peers are not asked unless the user wants that: they would see the address that
// it hides.
func TestPeersBesideAProxy(t *testing.T) {
	t.Parallel()
	const size = mib
	data := made(size, 7)
	peer, addr := startPeer(t, torrentOf(t, "file.bin", data), data)
	torrent, tracker := tracked(t, "file.bin", data, addr)
	d, err := download.ReadDocument(bytes.NewReader(torrent), "x.torrent")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := parse(t, "http://127.0.0.1:9")
	proxies := map[string]func(*url.URL) (*url.URL, error){
		"for all":   func(*url.URL) (*url.URL, error) { return nowhere, nil },
		"for http":  func(u *url.URL) (*url.URL, error) { return map[string]*url.URL{"http": nowhere}[u.Scheme], nil },
		"for https": func(u *url.URL) (*url.URL, error) { return map[string]*url.URL{"https": nowhere}[u.Scheme], nil },
		"no sense":  func(*url.URL) (*url.URL, error) { return nil, errors.New("no sense") },
		"":          func(*url.URL) (*url.URL, error) { return nil, nil },
	}
	for name, proxy := range proxies {
		c := download.Client{Swarms: torrentsource.Plug("", true), HTTP: &httpsource.Client{Proxy: proxy}}
		for _, mode := range []download.Peers{download.PeersAuto, download.PeersOnly} {
			ask := mode == download.PeersOnly || name == ""
			if got := c.Peers(mode); (got == mode) != ask {
				t.Errorf("%q: %v becomes %v", name, mode, got)
			}
			req, err := d.Request(d.Files.At(0), download.Request{Dir: t.TempDir(), Peers: mode}) // without Client.Peers
			if err != nil {
				t.Fatal(err)
			}
			before := peer.Standing().Given
			if _, err = c.Get(t.Context(), req); (err == nil) != ask {
				t.Errorf("%q, %v: %v", name, mode, err)
			}
			if ask {
				gives(t, peer, before+size)
			} else if peer.Standing().Given > before {
				t.Errorf("%q, %v: the peer gave something", name, mode)
			}
		}
		c.HTTP.CloseIdle()
	}
	asked(t, tracker, true)
}
