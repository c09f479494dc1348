package download

import (
	"errors"
	"io"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/verify"
)

// If a session starts hashing again while pieces are used, no byte that they have not proven passes the gate.
// Proves S10.
func TestRehashKeepsTheGate_S10(t *testing.T) {
	const length, size = 100, 1000
	data := make([]byte, size)
	claim := func(text string) []verify.Claim {
		d, err := verify.NewDigest(verify.SHA256, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return []verify.Claim{{Digest: d}}
	}
	for what, again := range map[string]func(s *session){
		"claims": func(s *session) { s.proving.corroborate(claim("0123456789abcdef0123456789abcdef")) },
		"void":   func(s *session) { s.void(byterange.Range{Start: 150, End: 300}) },
		"rehash": func(s *session) { s.proving.rehash() },
	} {
		t.Run(what, func(t *testing.T) {
			part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer part.Close()
			if _, err := part.WriteAt(data, 0); err != nil {
				t.Fatal(err)
			}
			m := verify.NewPieceMaker(verify.SHA256, length)
			m.Write(data)
			s := newSession(t.Context(), &call{req: &Request{},
				carried: &carried{revision: revision{known: &known{size: size}}}}, part)
			s.facts.begun = true
			defer s.workers.Wait()
			s.proving.hashing.pieces.list = m.Pieces()
			s.proving.hashing.pieces.proven.Add(byterange.Range{End: 2 * length})
			s.proving.startHash()
			defer s.proving.hashing.stop()
			s.proving.hashing.hasher.gate.pass(2 * length)
			old := s.proving.hashing.hasher
			if again(s); s.proving.hashing.hasher == old {
				t.Error("it is not hashed anew")
			}
			if front, _ := s.proving.hashing.hasher.gate.pass(size); front > 2*length || front == 0 {
				t.Errorf("%d bytes pass, of which %d are proven", front, 2*length)
			}
		})
	}
}

// Bytes revoked between reading the front and passing the gate do not pass.
func TestRevokedDoesNotPass_Rule2(t *testing.T) {
	part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if _, err := part.WriteAt(make([]byte, 1000), 0); err != nil {
		t.Fatal(err)
	}
	g := newGate(part, byterange.Unbounded)
	part.Revoke(byterange.Range{Start: 500, End: 600})
	if front, _ := g.pass(1000); front != 500 || g.passed() != 500 {
		t.Errorf("%d bytes pass, and %d are said to have passed", front, g.passed())
	}
}

// A target that breaks the contracts of its methods gets an error, and its result does not count.
func TestTransferred(t *testing.T) {
	bad := errors.New("bad")
	for _, tt := range []struct {
		n        int
		err      error
		want     int
		wantsErr error
	}{
		{10, nil, 10, nil}, {10, bad, 10, bad}, {4, bad, 4, bad}, {4, nil, 4, io.ErrShortWrite}, {-1, nil, 0, nil},
		{11, nil, 0, nil}, {0, nil, 0, io.ErrShortWrite},
	} {
		n, err := transferred("write", tt.n, 10, tt.err, io.ErrShortWrite)
		if n != tt.want || (err == nil) != (tt.want == 10 && tt.err == nil) ||
			tt.wantsErr != nil && !errors.Is(err, tt.wantsErr) {
			t.Errorf("%d of 10, %v: %d, %v", tt.n, tt.err, n, err)
		}
	}
}
