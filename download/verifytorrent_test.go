package download_test

import (
	"bytes"
	"net/url"
	"os"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink/metainfo"
	"braid/verify"
)

// A file on disk is checked by the pieces of a torrent, which locate damage, and repaired. It is checked
// only, not verified (rules 31 and 64).
func TestVerifyByTorrent_Rule31(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	seed := sized(t, size)
	r := byWebSeeds(t, made(size, 7), seed)
	r.onDisk(made(size, 7))
	if v := r.verify(download.Other); !v.Proof.ByPieces() || v.Proof.Verified() || v.Proof.String() != byTorrent {
		t.Errorf("proof %v", v.Proof)
	}
	r.req.Trust.Require = download.RequireDigest
	r.verify(download.NoEvidence)
	r.req.Trust.Require = download.RequireNothing
	r.onDisk(changed(made(size, 7), 2*mib+1))
	v := r.verify(download.Mismatch)
	if v.Damaged.String() != "2097152-2359295" || !v.Repairable() {
		t.Errorf("damaged %v, repairable %v", v.Damaged.String(), v.Repairable())
	}
	res, err := r.client.Repair(t.Context(), v, nil)
	if err != nil || res.Fetched != piece {
		t.Fatalf("%d bytes fetched, %v", res.Fetched, err)
	}
	checkedOnly(t, res, byTorrent)
	if got, err := os.ReadFile(r.path()); err != nil || !bytes.Equal(got, made(size, 7)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// The last piece may be padded with zeros (BEP 47), which is no damage.
func TestVerifyFilledPiece(t *testing.T) {
	t.Parallel()
	data := made(piece+1000, 7)
	m := verify.NewPieceMaker(verify.SHA1, piece)
	m.Write(data)
	m.Write(make([]byte, piece-1000))
	m.Write([]byte("next"))
	p := m.Pieces()
	var sums string
	for i := range p.Count() {
		sums += string(p.Digest(i).Bytes())
	}
	torrent := "d4:infod5:filesld6:lengthi263144e4:pathl1:aeed4:attr1:p6:lengthi261144e4:pathl4:.pad1:0eed6:lengthi4e4:pathl1:beee4:name1:r12:piece lengthi262144e6:pieces60:" + sums + "ee"
	d := readTorrent(t, []byte(torrent))
	r := newRun(t, "http://unused.example/")
	r.req.URL = nil
	req, err := d.Describe(d.Files.At(0), r.req)
	if err != nil {
		t.Fatal(err)
	}
	r.req = req
	r.onDisk(data)
	if v := r.verify(download.Other); !v.Proof.ByPieces() || v.Damaged.Count() > 0 {
		t.Errorf("proof %v, damaged %v", v.Proof, v.Damaged.String())
	}
	r.onDisk(changed(data, piece+999))
	if v := r.verify(download.Mismatch); v.Damaged.String() != "262144-263143" {
		t.Errorf("damaged %v", v.Damaged.String())
	}
}

// Proves rule 63 for torrents: a fetched torrent does not lead to this machine, and a magnet link does not
// lead into the local network.
func TestTorrentNamesPrivateAddresses_Rule63(t *testing.T) {
	t.Parallel()
	const size = mib
	seed := sized(t, size)
	parsed, err := metainfo.Parse(bytes.NewReader(torrentOf(t, "file.bin", made(size, 7), seed.URL)))
	if err != nil {
		t.Fatal(err)
	}
	link := "magnet:?xt=urn:btih:" + parsed.InfoHash.String() + "&xs=" + url.QueryEscape("http://10.255.255.1/x.torrent")
	client := &download.Client{}
	if _, err := client.Magnet(t.Context(), download.Request{}, link); err == nil ||
		!strings.Contains(err.Error(), "leads to 10.255.255.1") {
		t.Errorf("magnet link: %v", err)
	}
	private := byWebSeeds(t, made(size, 7), mirrortest.New(t, made(size, 7)))
	d := readTorrent(t, torrentOf(t, "file.bin", made(size, 7), "http://10.255.255.1/file.bin"))
	req, err := d.Request(d.Files.At(0), download.Request{Dir: private.dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), req); err == nil || !strings.Contains(err.Error(), "leads to 10.255.255.1") {
		t.Errorf("web seed: %v", err)
	}
}
