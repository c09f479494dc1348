package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/byterange"
	"braid/metalink/metainfo"
	"braid/source/torrentsource"
)

// startPeer NAME TORRENT FILE starts a BitTorrent peer that has the file of a torrent. It sets NAME to its address, and
// NAME_MAGNET to a magnet link that names the torrent and the peer.
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
	src := c.Source(m, m.Files[0], torrentsource.Options{Part: file, Seed: true})
	ts.Check(src.Seed())
	ts.Defer(func() {
		src.Close()
		c.Close()
		file.Close()
	})
	src.Here(byterange.Range{End: m.Size})
	addr := src.Addrs()[0].String()
	ts.Setenv(args[0], addr)
	ts.Setenv(args[0]+"_MAGNET", metainfo.Magnet{InfoHash: m.InfoHash, Size: -1, Peers: []string{addr}}.String())
}
