package metainfo_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"braid/metalink/metainfo"
	"braid/verify"
)

// New describes a torrent of one file. Format writes it, with a web server that has the file, and Parse reads it back.
func ExampleNew() {
	pieces := verify.NewPieceMaker(verify.SHA1, verify.PieceLength(1<<20))
	if _, err := io.Copy(pieces, strings.NewReader(strings.Repeat("x", 1<<20))); err != nil {
		fmt.Println(err)
		return
	}
	t, err := metainfo.New("disk.iso", pieces.Pieces())
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := t.Format("example/1.0", []string{"https://a.example.net/disk.iso"})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		fmt.Println(err)
		return
	}
	f := back.Files[0]
	fmt.Println(f.Name, f.Size, f.BestPieces().Count(), back.Mirrors(f)[0], back.InfoHash == t.InfoHash)
	// Output: disk.iso 1048576 4 https://a.example.net/disk.iso true
}

// ParseMagnet parses a magnet link. Only the info hash in it can be verified.
func ExampleParseMagnet() {
	m, err := metainfo.ParseMagnet("magnet:?xt=urn:btih:3011b35a11373a2fc1c63c801cd4fa22c4570622&dn=disk.iso&ws=https://a.example.net/disk.iso")
	fmt.Println(m.InfoHash, m.Name, m.WebSeeds, err)
	// Output: 3011b35a11373a2fc1c63c801cd4fa22c4570622 disk.iso [https://a.example.net/disk.iso] <nil>
}
