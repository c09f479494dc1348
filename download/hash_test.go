package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/verify"
)

// The end of the context comes first, however many bytes wait to be hashed or sent.
func TestHasherHeedsContext(t *testing.T) {
	part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if _, err := part.WriteAt(make([]byte, 3*hashBuffer), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	h := &hasher{part: part, check: verify.NewChecker(-1, nil), stream: &out, moved: func(int64) { cancel() }}
	err = h.read(ctx, make([]byte, hashBuffer), 0, 3*hashBuffer)
	if !errors.Is(err, context.Canceled) || out.Len() != hashBuffer || h.check.Written() != hashBuffer {
		t.Errorf("%d bytes out, %d hashed, %v", out.Len(), h.check.Written(), err)
	}
}

// The file ends before the size that was expected when hashing began: the hasher ends, too, and the checker says so.
func TestHasherEndsEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const expected, size = 3 * hashStep, hashStep + 1000
		part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer part.Close()
		if _, err := part.WriteAt(make([]byte, size), 0); err != nil {
			t.Fatal(err)
		}
		x := newHashing(part, nil, nil)
		if err := x.begin(t.Context(), verify.NewChecker(expected, nil), expected, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the hasher waits for more bytes
		var wrong *verify.SizeError
		if _, err := x.prove(t.Context(), size, nil); !errors.As(err, &wrong) {
			t.Errorf("%v, want a SizeError", err)
		}
	})
}

// A watched part file records the calls of a hasher. Only the hasher's goroutine touches it during that time.
type watched struct {
	*partfile.File
	t     *testing.T
	read  int64 // how far it was read, in order
	waits int
	most  int // bytes of one read
}

func (w *watched) WaitFront(ctx context.Context, past int64) (int64, error) {
	w.waits++
	return w.File.WaitFront(ctx, past)
}

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.File.ReadAt(p, off)
	if off != w.read {
		w.t.Errorf("read at %d, after reading up to %d", off, w.read)
	}
	w.read = off + int64(n)
	w.most = max(w.most, n)
	return n, err
}

// The file is hashed as it comes. In whatever order its parts are written, less than hashStep of the bytes in
// order wait for the hash, and none once all have arrived. Each byte is read once, and the hasher is not
// woken for few bytes.
func TestHashAsItGoes_Rule2(t *testing.T) {
	const part, size = 64 << 10, 8<<20 + 12345
	tests := map[string]struct {
		known  int64 // the size that the hasher gets at the start
		stream bool
		window int // number of parts that may be out of order
	}{
		"one source":   {known: size, window: 1},
		"many sources": {known: size, window: 24},
		"all at last":  {known: size, window: 1 << 20},
		"unknown size": {known: -1, window: 24},
		"stream":       {known: size, stream: true, window: 1},
	}
	content := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(content)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			order := shuffled((size+part-1)/part, tt.window)
			synctest.Test(t, func(t *testing.T) {
				file, err := partfile.OpenTemp(fsys.OS, dir)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				w := &watched{File: file, t: t}
				failed := func(err error) { t.Error(err) }
				h := &hasher{part: w, check: verify.NewChecker(-1, nil), moved: func(int64) {}, failed: failed}
				behind := int64(hashStep)
				if tt.stream {
					h.stream, behind = io.Discard, 1
				}
				startHasher(t.Context(), h, tt.known)
				for _, i := range order {
					if _, err := file.WriteAt(content[i*part:min((i+1)*part, size)], int64(i*part)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if left := file.Front() - w.read; left >= behind {
						t.Fatalf("%d bytes are in order and not hashed", left)
					}
				}
				if tt.known >= 0 && w.read != size {
					t.Errorf("all is there and %d bytes are hashed", w.read)
				}
				h.end(size)
				if err := <-h.done; err != nil {
					t.Fatal(err)
				}
				proof, err := h.check.Proof()
				sum := sha256.Sum256(content)
				if err != nil || w.read != size || !bytes.Equal(proof.Digests()[0].Bytes(), sum[:]) {
					t.Errorf("%d bytes hashed, %v, %v", w.read, proof.Digests(), err)
				}
				if most := size/hashStep + 2; !tt.stream && w.waits > most || w.most > hashBuffer {
					t.Errorf("looked %d times for new bytes, want at most %d; at most %d read at once", w.waits, most, w.most)
				}
			})
		})
	}
}

// shuffled returns the numbers below n in an order that moves each by less than window.
func shuffled(n, window int) []int {
	rnd := rand.New(rand.NewPCG(1, 2))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for at := 0; at < n; at += window {
		some := order[at:min(at+window, n)]
		rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	}
	return order
}
