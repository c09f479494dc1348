package recheck

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// An overlay is a nameless file beside the part file, with other bytes at the same offsets: the bytes of another
// source, or bytes of the part file that were replaced. So no byte is lost before a better one is proven.
type overlay struct {
	part *partfile.File
	file *partfile.Scratch
}

func newOverlay(files fsys.FS, part *partfile.File) (*overlay, error) {
	dir := os.TempDir()
	if part.Path() != "" {
		dir = filepath.Dir(part.Path())
	}
	file, err := partfile.OpenScratch(files, dir)
	if err != nil {
		return nil, err
	}
	return &overlay{part, file}, nil
}

const (
	swapSize  = 1 << 20 // bytes moved at a time
	mostSwaps = 32      // swapped ranges; each costs a record in the journal, synced to disk
)

// swap exchanges the bytes of set with those of the part file.
func (v *overlay) swap(set byterange.Set) error {
	for _, hull := range hulls(set, mostSwaps) {
		for gap := range set.Gaps(hull) { // the bytes between two ranges of set stay as they are
			if err := v.keep(gap); err != nil {
				return err
			}
		}
		v.part.Revoke(hull)
		if err := v.part.Void(); err != nil {
			return err
		}
		err := v.each(hull, func(old, other []byte, off int64) error {
			if _, err := v.file.ReadAt(other, off); err != nil {
				return err
			}
			if _, err := v.part.WriteAt(other, off); err != nil {
				return err
			}
			_, err := v.file.WriteAt(old, off)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keep copies a range of the part file to the overlay.
func (v *overlay) keep(r byterange.Range) error {
	return v.each(r, func(old, _ []byte, off int64) error {
		_, err := v.file.WriteAt(old, off)
		return err
	})
}

// each reads a range of the part file in parts. It calls do with each part and a second buffer of the same length.
func (v *overlay) each(r byterange.Range, do func(old, other []byte, off int64) error) error {
	buf, second := make([]byte, min(swapSize, r.Len())), make([]byte, min(swapSize, r.Len()))
	for off := r.Start; off < r.End; {
		n := min(int64(len(buf)), r.End-off)
		if k, err := v.part.ReadAt(buf[:n], off); int64(k) < n {
			return err
		}
		if err := do(buf[:n], second[:n], off); err != nil {
			return err
		}
		off += n
	}
	return nil
}

// hulls covers a set with at most n ranges, leaving out the widest gaps.
func hulls(set byterange.Set, n int) (out []byterange.Range) {
	all := slices.Collect(set.All())
	if len(all) == 0 {
		return nil
	}
	gaps := make([]int, len(all)-1) // gap i is before all[i+1]
	for i := range gaps {
		gaps[i] = i
	}
	wide := func(i int) int64 { return all[i+1].Start - all[i].End }
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(wide(b), wide(a)) })
	gaps = gaps[:min(n-1, len(gaps))]
	slices.Sort(gaps)
	start := all[0].Start
	for _, i := range gaps {
		out = append(out, byterange.Range{Start: start, End: all[i].End})
		start = all[i+1].Start
	}
	return append(out, byterange.Range{Start: start, End: all[len(all)-1].End})
}
