package torrentsource

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"braid/address"
	"braid/byterange"
	"braid/internal/test/leaktest"
	"braid/internal/test/mirrortest"
	"braid/metalink/metainfo"
	"braid/source"

	"go.uber.org/goleak"
)

// The library for the table looks names up in a goroutine that it never ends, one for all.
func TestMain(m *testing.M) {
	leaktest.Main(m, goleak.IgnoreTopFunction("github.com/anacrolix/dht/v2.dnsResolverRefresher"))
}

const pieceLength = 64 << 10

var whole = byterange.Range{End: byterange.Unbounded}

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// made is some data.
func made(t testing.TB, size int64, seed uint64) []byte {
	t.Helper()
	f := mirrortest.Generate(size, seed)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// torrentOf is a torrent of these files, one after the other; of one alone it is a torrent of a single file.
func torrentOf(t testing.TB, files ...[]byte) metainfo.Torrent {
	t.Helper()
	var b strings.Builder
	b.WriteString("d8:announce0:4:infod")
	all := bytes.Join(files, nil)
	if len(files) > 1 {
		b.WriteString("5:filesl")
		for i, f := range files {
			fmt.Fprintf(&b, "d6:lengthi%de4:pathl1:%cee", len(f), 'a'+i)
		}
		b.WriteString("e")
	} else {
		fmt.Fprintf(&b, "6:lengthi%de", len(all))
	}
	fmt.Fprintf(&b, "4:name1:x12:piece lengthi%de6:pieces", pieceLength)
	var sums []byte
	for at := 0; at < len(all); at += pieceLength {
		sum := sha1.Sum(all[at:min(at+pieceLength, len(all))])
		sums = append(sums, sum[:]...)
	}
	fmt.Fprintf(&b, "%d:%see", len(sums), sums)
	m, err := metainfo.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newClient is a client that asks nobody but the peers that it is told of.
func newClient(t *testing.T, c *Client) *Client {
	c.NoDHT = true
	t.Cleanup(c.Close)
	return c
}

// seeder is a peer that has these files, and its address. What it says is in its parts it checks by itself.
func seeder(t *testing.T, m metainfo.Torrent, files ...[]byte) (*Source, string) {
	t.Helper()
	c := newClient(t, &Client{Listen: "127.0.0.1:0"})
	var first *Source
	for i, f := range m.Files {
		s := c.Source(m, f, source.SwarmOptions{Part: bytes.NewReader(files[i]), Seed: true})
		if err := s.Seed(); err != nil {
			t.Fatal(err)
		}
		s.Here(part(0, f.Size))
		t.Cleanup(s.Close)
		if first == nil {
			first = s
		}
	}
	if err := first.swarm.torrent.VerifyDataContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return first, first.Addrs()[0].String()
}

// A sink keeps what comes, and fails the test if the contract of source.PieceSink is broken: bytes may come in any
// order, none of them twice.
type sink struct {
	t      *testing.T
	refuse error
	wrote  func()

	mu     sync.Mutex
	end    int64 // 0: none
	answer *source.Answer
	data   []byte
	here   byterange.Set
	coming int64
}

func newSink(t *testing.T, size int64) *sink {
	return &sink{t: t, data: make([]byte, size), end: byterange.Unbounded}
}

func (k *sink) Answer(a source.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answer != nil {
		k.t.Error("a second Answer")
	}
	k.answer = &a
	return k.refuse
}

func (k *sink) WriteAt(p []byte, off int64) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answer == nil || k.refuse != nil {
		k.t.Error("bytes that nobody wants")
	}
	n := max(0, min(int64(len(p)), k.end-off))
	r := part(off, off+n)
	for range k.here.Covered(r) {
		k.t.Errorf("%v comes twice", r)
	}
	copy(k.data[off:], p[:n])
	k.here.Add(r)
	k.coming -= n
	if k.wrote != nil {
		k.wrote()
	}
	if n < int64(len(p)) {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}

func (k *sink) Coming(n int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.coming += n
	return nil
}

func (k *sink) End() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

func (k *sink) shrink(end int64) {
	k.end = end
}

// wantBytes compares what a sink got with the part of the file, and wants nothing else to have come.
func wantBytes(t *testing.T, k *sink, data []byte, r byterange.Range) {
	t.Helper()
	var want byterange.Set
	want.Add(r)
	if k.here.String() != want.String() || !bytes.Equal(k.data[r.Start:r.End], data[r.Start:r.End]) {
		t.Errorf("got %v, want %v, or not what it should be", k.here.String(), r)
	}
}

// near lets connections lead to this machine, as if something on it had named them.
const near = address.Public | address.Loopback
