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

// The DHT library looks up names in one goroutine that it never ends.
func TestMain(m *testing.M) {
	leaktest.Main(m, goleak.IgnoreTopFunction("github.com/anacrolix/dht/v2.dnsResolverRefresher"))
}

const pieceLength = 64 << 10

var whole = byterange.Range{End: byterange.Unbounded}

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// made returns size bytes of test data.
func made(t testing.TB, size int64, seed uint64) []byte {
	t.Helper()
	f := mirrortest.Generate(size, seed)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// torrentOf returns a torrent of these files. For one file, it is a torrent in single-file mode.
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

// newClient returns a client without DHT, which connects only to the given peers.
func newClient(t *testing.T, c *Client) *Client {
	c.NoDHT = true
	t.Cleanup(c.Close)
	return c
}

// seeder starts a peer that has these files, and returns its address. The peer verifies the files itself.
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

// A sink keeps the bytes written to it. It fails the test if they break the contract of source.PieceSink: bytes may
// come in any order, but no byte twice.
type sink struct {
	t      *testing.T
	refuse error
	wrote  func()

	mu     sync.Mutex
	end    int64 // 0 if no bytes are wanted
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

// wantBytes checks that exactly the bytes of r were written, and that they are those of data.
func wantBytes(t *testing.T, k *sink, data []byte, r byterange.Range) {
	t.Helper()
	var want byterange.Set
	want.Add(r)
	if k.here.String() != want.String() || !bytes.Equal(k.data[r.Start:r.End], data[r.Start:r.End]) {
		t.Errorf("got %v, want %v, or not what it should be", k.here.String(), r)
	}
}

// near allows connections to this machine, as for a source that a server on this machine named.
const near = address.Public | address.Loopback
