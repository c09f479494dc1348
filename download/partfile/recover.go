package partfile

import (
	"cmp"
	"context"
	"hash/crc32"
	"io"
	"slices"

	"braid/byterange"
)

// copySize is how much is read at once.
const copySize = 1 << 20

// holds reads r from part and says whether the bytes have its CRC. On the way it computes those of parts,
// which must be inside r.
func holds(part io.ReaderAt, r run, buf []byte, parts []run) (bool, error) {
	var sum uint32
	for at := r.Start; at < r.End; {
		p := buf[:min(int64(len(buf)), r.End-at)]
		n, err := part.ReadAt(p, at)
		if n < len(p) {
			if err == io.EOF {
				return false, nil
			}
			return false, err
		}
		here := byterange.Range{Start: at, End: at + int64(n)}
		sum = crc32.Update(sum, castagnoli, p)
		for i := range parts {
			if x := parts[i].Intersect(here); !x.Empty() {
				parts[i].crc = crc32.Update(parts[i].crc, castagnoli, p[x.Start-at:x.End-at])
			}
		}
		at = here.End
	}
	return sum == r.crc, nil
}

// Prior says what an earlier run was downloading, if it left any bytes. They have not been looked at.
func (f *File) Prior() (Identity, bool) {
	if f.ledger.now() != inherited {
		return Identity{}, false
	}
	return f.prior.identity, true
}

// Inherited is how many bytes an earlier run has left, by what its journal says.
func (f *File) Inherited() int64 {
	if f.ledger.now() != inherited {
		return 0
	}
	info, err := f.part.Info()
	if err != nil {
		return 0
	}
	have := f.prior.have(info.Size)
	return have.Len()
}

// Sealed says that what Prior says was written with this key for this name. Else it may be of anybody: the bytes have to be proven
// by other evidence, as Prior is none.
func (f *File) Sealed() bool {
	return f.ledger.now() == inherited && f.key.fits(f.name, f.prior.payload)
}

// Recover takes over what an earlier run left. Each range that the journal has is read and its CRC-32C
// compared; what differs is missing (rule 8), what is right is in Have. If ctx ends, nothing is decided.
func (f *File) Recover(ctx context.Context) error {
	if f.ledger.now() != inherited {
		return nil
	}
	right, err := matching(ctx, f.part, f.prior.runs)
	if err != nil {
		return err
	}
	for r := range right.All() {
		f.ledger.restore(r)
	}
	f.prior = history{}
	f.ledger.enter(idle)
	return nil
}

// matching returns the bytes of those runs that part holds, reading from its start to its end.
func matching(ctx context.Context, part io.ReaderAt, runs []run) (right byterange.Set, err error) {
	runs = slices.SortedFunc(slices.Values(runs), func(a, b run) int { return cmp.Compare(a.Start, b.Start) })
	buf := make([]byte, copySize)
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return right, err
		}
		ok, err := holds(part, r, buf, nil)
		if err != nil {
			return right, err
		}
		if ok {
			right.Add(r.Range)
		}
	}
	return right, nil
}
