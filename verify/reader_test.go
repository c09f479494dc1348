package verify

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReaderEndsWithTheProof(t *testing.T) {
	r := NewReader(strings.NewReader(content), 6, []Claim{claim(t, SHA256, sha256Hex, "Digest", HTTPS)})
	buf := make([]byte, 6)
	if _, err := io.ReadFull(r, buf); err != nil || string(buf) != content {
		t.Fatalf("got %q, %v", buf, err)
	}
	if r.Proof().Valid() {
		t.Error("a proof before the end of the file")
	}
	for range 2 {
		if n, err := r.Read(buf); n != 0 || err != io.EOF {
			t.Fatalf("got %d, %v; want the end of the file", n, err)
		}
	}
	if got, want := r.Proof().String(), "sha-256 from Digest over https"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Proves rule 17's half of this package: no wrong file ends with io.EOF, and errors stick.
func TestReaderErrorsStick(t *testing.T) {
	broken := errors.New("broken line")
	wrong := claim(t, SHA256, strings.Repeat("0", 64), "Digest", HTTPS)
	right := claim(t, SHA256, sha256Hex, "Digest", HTTPS)
	tests := map[string]struct {
		body   io.Reader
		size   int64
		claim  Claim
		passed string
		want   string
	}{
		"wrong digest":            {strings.NewReader(content), -1, wrong, content, "sha-256 is " + sha256Hex},
		"a byte too few":          {strings.NewReader(content), 7, right, content, "ends after 6 of 7 bytes"},
		"a byte too many":         {strings.NewReader(content + "!"), 6, right, content, "longer than the 6 bytes expected"},
		"too many, one at a time": {iotest.OneByteReader(strings.NewReader(content + "!")), 6, right, content, "longer than the 6 bytes expected"},
		"many too many":           {strings.NewReader(strings.Repeat(content, 9)), 6, right, content, "longer than the 6 bytes expected"},
		"nothing":                 {strings.NewReader(""), 6, right, "", "ends after 0 of 6 bytes"},
		"broken at the end":       {io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken)), 6, right, content, "broken line"},
		"cut":                     {iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(content))), 6, right, content[:1], "timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := NewReader(tt.body, tt.size, []Claim{tt.claim})
			got, err := io.ReadAll(r)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if string(got) != tt.passed {
				t.Errorf("passed on %q, want %q", got, tt.passed)
			}
			n, again := r.Read(make([]byte, 8))
			if n != 0 || again != err || r.Proof().Valid() {
				t.Errorf("afterwards %d bytes, error %v, proof %v", n, again, r.Proof())
			}
		})
	}
}

func TestReaderObeysItsContract(t *testing.T) {
	body := strings.Repeat(content, 100)
	if err := iotest.TestReader(NewReader(strings.NewReader(body), int64(len(body)), nil), []byte(body)); err != nil {
		t.Error(err)
	}
	r := NewReader(strings.NewReader(""), 0, nil)
	if n, err := r.Read(nil); n != 0 || err != nil {
		t.Errorf("no room: got %d, %v", n, err)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF || !r.Proof().Valid() {
		t.Errorf("an empty file: error %v, proof %v", err, r.Proof())
	}
}
