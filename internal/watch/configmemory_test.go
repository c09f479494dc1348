package watch

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Only the configuration stays in memory, not its text or the data of the parser.
func TestMemoryOfConfig(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("[watch.w]\nurl = 'https://example.org/x'\ndir = '/srv'\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "# %s\n[feed.f%d]\nurl = 'https://example.org/%d'\n", strings.Repeat("x", 1000), i, i)
	}
	before := heapInUse()
	c, err := ParseConfig(b.Bytes(), ConfigOptions{})
	if err != nil || len(c.Feeds) != 2000 {
		t.Fatalf("%+v, %v", c, err)
	}
	if grown := heapInUse() - before; grown > 4<<20 {
		t.Errorf("%d octets for 2,000 feeds", grown)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(&b)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
