package fsystest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A content and its copies are what plain bytes would be.
func TestContent(t *testing.T) {
	t.Parallel()
	type pair struct {
		content content
		want    []byte
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		list := []*pair{{}}
		for range 60 {
			p := list[r.IntN(len(list))]
			off := r.IntN(5 * pageSize)
			switch r.IntN(4) {
			case 0:
				list = append(list, &pair{p.content.clone(), bytes.Clone(p.want)})
			case 1:
				p.content.resize(int64(off))
				p.want = append(p.want, make([]byte, max(0, off-len(p.want)))...)[:off]
			default:
				data := bytes.Repeat([]byte{byte(1 + r.IntN(255))}, r.IntN(2*pageSize))
				p.content.write(data, int64(off))
				if gap := off + len(data) - len(p.want); gap > 0 {
					p.want = append(p.want, make([]byte, gap)...)
				}
				copy(p.want[off:], data)
			}
		}
		for _, p := range list {
			off := r.IntN(len(p.want) + 1)
			got := bytes.Repeat([]byte{0xee}, len(p.want)+10)
			if n := p.content.read(got, int64(off)); !bytes.Equal(got[:n], p.want[off:]) {
				t.Fatalf("%d bytes at %d of %d are wrong", n, off, len(p.want))
			}
		}
	}
}
