package torrentsource_test

import (
	"fmt"
	"strings"

	"braid/metalink/metainfo"
	"braid/source/torrentsource"
	"braid/verify"
)

// A swarm has a name like other places. Nothing is open before somebody fetches from it.
func ExampleURL() {
	pieces := verify.NewPieceMaker(verify.SHA1, 1<<18)
	fmt.Fprint(pieces, strings.Repeat("x", 1<<20))
	t, err := metainfo.New("disk.iso", pieces.Pieces())
	if err != nil {
		fmt.Println(err)
		return
	}
	u := torrentsource.URL(t, t.Files[0])
	fmt.Println(u, torrentsource.IsSwarm(u))
	// Output: bittorrent://82195266a2798edd8b18a7cb616e40efdf6c9366/disk.iso true
}
