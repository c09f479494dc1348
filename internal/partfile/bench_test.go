package partfile

import (
	"fmt"
	"os"
	"testing"

	"braid/internal/fsys"
)

// BenchmarkWriteAt measures one writer that writes a whole file repeatedly: claim, write, CRC and journal.
func BenchmarkWriteAt(b *testing.B) {
	for _, size := range []int{16 << 10, 64 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			const fileSize = 512 << 20
			dir := memory()
			defer os.RemoveAll(dir)
			f, err := Open(fsys.OS, dir, "x")
			if err != nil {
				b.Fatal(err)
			}
			defer f.Discard()
			if err := f.Begin(Identity{Size: fileSize}); err != nil {
				b.Fatal(err)
			}
			p := make([]byte, size)
			var off int64
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if off == fileSize {
					b.StopTimer()
					restart(b, f)
					off = 0
					b.StartTimer()
				}
				if n, err := f.WriteAt(p, off); n != size || err != nil {
					b.Fatal(n, err)
				}
				off += int64(size)
			}
		})
	}
}

// restart makes f accept the same bytes again, for pages that exist already.
func restart(b *testing.B, f *File) {
	f.store.ledger.clear(writing)
	f.store.journal.size = headerSize
}

// BenchmarkRawWrite measures the kernel's time for the same bytes, for comparison.
func BenchmarkRawWrite(b *testing.B) {
	const size, fileSize = 256 << 10, 512 << 20
	dir := memory()
	defer os.RemoveAll(dir)
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	p := make([]byte, size)
	b.SetBytes(size)
	var off int64
	for b.Loop() {
		if _, err := file.WriteAt(p, off%fileSize); err != nil {
			b.Fatal(err)
		}
		off += size
	}
}
