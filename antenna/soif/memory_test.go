package soif

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"braid/antenna/feed"
)

const typical = "@FILE { http://dl.example.org/dist/minato-2.9.1.tar.xz\nTime-to-Live{5}:\t28800\nRefresh-Rate{4}:\t7200\n" +
	"Last-Modification-Time{10}:\t1794261900\nUpdate-Time{10}:\t1794279483\nType{7}:\tArchive\nFile-Size{7}:\t1849320\n" +
	"MD5{32}:\t5d41402abc4b2a76b9719d911017c592\nGatherer-Name{13}:\tminato " +
	"mirror\nGatherer-Host{25}:\tgather.minato.example.org\n" +
	"Gatherer-Version{3}:\t1.3\n}\n"

// An endless reader returns the results of next one after the other.
type endless struct {
	next func(i int) string
	made int
	rest string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		e.rest = e.next(e.made)
		e.made++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func always(text string) func(int) string { return func(int) string { return text } }

// allocated returns the number of bytes allocated since the start, and of those in use.
func allocated() (total, inUse uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.TotalAlloc, m.HeapAlloc
}

// TestMemory checks that the memory in use does not grow with a stream of 4 MiB, and that the allocations are in
// proportion to its length, or constant if it has no objects.
func TestMemory(t *testing.T) {
	const size = 4 << 20
	name := func(i int) string { return fmt.Sprintf("@A%d { u://h/ n%d{0}:\t}\n", i, i) }
	for _, tt := range []struct {
		name   string
		next   func(int) string
		o      feed.Options
		budget uint64
	}{
		{"objects", always(typical), feed.Options{}, 3 * size},
		{"names that are never the same", name, feed.Options{}, 24 * size},
		{"junk", always("@FILE (http://h/)\n"), feed.Options{}, size / 8},
		{"white space", always(" \n"), feed.Options{}, size / 8},
		{"a name without end", always("@A { u://h/1\n" + strings.Repeat("n", 1<<10)), feed.Options{}, size / 8},
		{"a URL without end", always("@A { u://h/1" + strings.Repeat("n", 1<<10)), feed.Options{}, size / 8},
		{"a size without end", always("@A { u://h/1 a{" + strings.Repeat("0", 1<<10)), feed.Options{}, size / 8},
	} {
		total, inUse := allocated()
		objects := 0
		for _, err := range NewDecoder(io.LimitReader(&endless{next: tt.next}, size), tt.o).objects() {
			if objects++; err == nil && objects%5_000 == 0 {
				if _, now := allocated(); now > inUse+1<<20 {
					t.Errorf("%s: %d octets in use after %d objects", tt.name, now-inUse, objects)
				}
			}
		}
		if now, _ := allocated(); now-total > tt.budget {
			t.Errorf("%s: %d octets allocated, want %d", tt.name, now-total, tt.budget)
		}
	}
}

// TestAnnouncedSize_Rule52 checks that a size in the stream allocates nothing until the value has arrived (rule 52).
func TestAnnouncedSize_Rule52(t *testing.T) {
	o := feed.Options{Limits: feed.Limits{Value: 1 << 27}}
	total, _ := allocated()
	var reject *feed.RejectError
	for _, err := range NewDecoder(strings.NewReader("@A { u://h/ a{134217728}:\tx"), o).objects() {
		if !errors.As(err, &reject) {
			t.Errorf("error is %v", err)
		}
	}
	if now, _ := allocated(); now-total > 1<<20 {
		t.Errorf("%d octets allocated", now-total)
	}
}

// TestLimitsWithoutEnd checks that the largest possible limits do not overflow.
func TestLimitsWithoutEnd(t *testing.T) {
	o := feed.Options{Limits: feed.Limits{Value: math.MaxInt}}
	if got := read("@A { u://h/ a{1}:\txb{99999999999999999999}:\ty}", o); !strings.HasPrefix(got,
		"1/0 too-large b: discards @A u://h/\nerror: ") {
		t.Error(got)
	}
}

func BenchmarkObjects(b *testing.B) {
	benchmark(b, func(r io.Reader) error {
		for _, err := range NewDecoder(r, feed.Options{}).objects() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(r io.Reader) error {
		for _, err := range NewDecoder(r, feed.Options{}).Records() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func benchmark(b *testing.B, read func(io.Reader) error) {
	text := strings.Repeat(typical, 10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := read(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
