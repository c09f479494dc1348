package feedtext

import (
	"braid/antenna/feed"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func compress(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// noise returns incompressible bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func TestContentDecides(t *testing.T) {
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
		gzip bool
	}{
		{"plain", []byte("HINA/2.2beta"), "HINA/2.2beta", false},
		{"nothing", nil, "", false},
		{"one octet", []byte{0x1f}, "\x1f", false},
		{"gzip", compress(t, []byte("text")), "text", true},
		{"two members", append(compress(t, []byte("te")), compress(t, []byte("xt"))...), "text", true},
		{"gzip in gzip", compress(t, compress(t, nil)), string(compress(t, nil)), true},
	} {
		r := NewReader(iotest.OneByteReader(bytes.NewReader(tt.raw)), feed.Limits{})
		got, err := io.ReadAll(r)
		if string(got) != tt.want || err != nil || r.Gzip() != tt.gzip {
			t.Errorf("%s: %q, %v, gzip %v", tt.name, got, err, r.Gzip())
		}
	}
}

// rule 52: 64 MiB decoded, and 200 to 1 past the first MiB.
func TestReaderLimits_Rule52(t *testing.T) {
	zeros := func(n int) []byte { return compress(t, make([]byte, n)) }
	mixed := append(noise(40<<10), make([]byte, 7<<20)...) // about 170 to 1
	for _, tt := range []struct {
		name   string
		raw    []byte
		limits feed.Limits
		want   int
		code   string
	}{
		{"a bomb", zeros(8 << 20), feed.Limits{}, 0, "compressed-too-well"},
		{"the first MiB is free", zeros(1 << 20), feed.Limits{}, 1 << 20, ""},
		{"170 to 1", compress(t, mixed), feed.Limits{}, len(mixed), ""},
		{"170 to 1 where 100 are allowed", compress(t, mixed), feed.Limits{Ratio: 100}, 0, "compressed-too-well"},
		{"as long as may be", noise(1000), feed.Limits{Bytes: 1000}, 1000, ""},
		{"an octet too long", noise(1001), feed.Limits{Bytes: 1000}, 1000, "too-large"},
		{"an octet too long, compressed", compress(t, noise(1001)), feed.Limits{Bytes: 1000}, 1000, "too-large"},
	} {
		got, err := io.ReadAll(NewReader(bytes.NewReader(tt.raw), tt.limits))
		var reject *feed.RejectError
		if errors.As(err, &reject) != (tt.code != "") || reject != nil && reject.Code != tt.code {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
		if tt.want > 0 && len(got) != tt.want || tt.want == 0 && len(got) > 5<<20 {
			t.Errorf("%s: %d octets, want %d", tt.name, len(got), tt.want)
		}
	}
}

// TestBlame shows that a broken feed is distinguished from a broken connection.
func TestBlame(t *testing.T) {
	raw := compress(t, noise(10_000))
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-6] ^= 1
	torn := errors.New("connection reset")
	for _, tt := range []struct {
		name string
		r    io.Reader
		want string
	}{
		{"cut short", bytes.NewReader(raw[:5000]), "unexpected EOF"},
		{"cut in its header", bytes.NewReader(raw[:5]), "unexpected EOF"},
		{"a flipped bit", bytes.NewReader(flipped), "gzip: invalid checksum"},
		{"garbage after the magic", strings.NewReader("\x1f\x8bgarbage and more of it"), "gzip: invalid header"},
		{"garbage behind", io.MultiReader(bytes.NewReader(raw), strings.NewReader("and more than ten octets")),
			"gzip: invalid header"},
	} {
		_, err := io.ReadAll(NewReader(tt.r, feed.Limits{}))
		var reject *feed.RejectError
		if !errors.As(err, &reject) || reject.Code != "bad-gzip" || reject.Why != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, at := range []int{0, 1, 5, 5000} {
		r := NewReader(io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(torn)), feed.Limits{})
		if _, err := io.ReadAll(r); err != torn {
			t.Errorf("torn at %d: %v", at, err)
		}
		if _, err := r.Read(make([]byte, 1)); err != torn {
			t.Errorf("torn at %d: then %v", at, err)
		}
	}
}
