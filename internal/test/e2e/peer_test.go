package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/byterange"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/source/torrentsource"
)

// startPeer NAME TORRENT FILE starts a BitTorrent peer that has the file of a torrent, and a tracker that tells
// everybody of it. It sets NAME to its address, NAME_TRACKER to the URL of the tracker, and NAME_MAGNET to a magnet
// link that names the torrent and the peer.
func startPeer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "peer NAME TORRENT FILE")
	f, err := os.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	m, err := metainfo.Parse(f)
	ts.Check(err)
	file, err := os.Open(ts.MkAbs(args[2]))
	ts.Check(err)
	c := &torrentsource.Client{Listen: "127.0.0.1:0", NoDHT: true}
	src := c.Source(m, m.Files[0], source.SwarmOptions{Part: file, Seed: true})
	ts.Check(src.Seed())
	ts.Defer(func() {
		src.Close()
		c.Close()
		file.Close()
	})
	src.Here(byterange.Range{End: m.Size})
	to := src.Addrs()[0]
	addr := to.String()
	list := append(to.Addr().AsSlice(), byte(to.Port()>>8), byte(to.Port()))
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "d8:intervali1800e5:peers%d:%se", len(list), list)
	}))
	ts.Defer(tracker.Close)
	ts.Setenv(args[0], addr)
	ts.Setenv(args[0]+"_TRACKER", tracker.URL+"/announce")
	ts.Setenv(args[0]+"_MAGNET", "magnet:?xt=urn:btih:"+m.InfoHash.String()+"&x.pe="+addr)
}
