package download_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// hanging is a disk with operations that hang until it is released.
type hanging struct {
	fsys.FS
	hung, until chan struct{} // closed when an operation hangs, and to end that
	release     func()
}

func newHanging(hangs func(fsystest.Op) bool) *hanging {
	x := &hanging{hung: make(chan struct{}), until: make(chan struct{})}
	x.release = sync.OnceFunc(func() { close(x.until) })
	first := sync.OnceFunc(func() { close(x.hung) })
	x.FS = fsystest.Tap(fsys.OS, func(op fsystest.Op) error {
		if !hangs(op) {
			return nil
		}
		first()
		return fsystest.Late{Until: x.until}
	})
	return x
}

// is reports whether an operation hangs.
func (x *hanging) is() bool {
	select {
	case <-x.hung:
		return true
	default:
		return false
	}
}

// A disk with a slow journal does not stop the loop: wrong bytes are being voided, and requested bytes
// arrive, are counted and reported. Nothing is requested until the void is on disk. Then the download is
// completed.
func TestHangingVoid_S10_Rule8(t *testing.T) {
	t.Parallel()
	const size = 32 * mib
	liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
	// a range is always left to ask for
	good := sized(t, size, held(4*mib, sent(piece, liar)), mirrortest.CutAfter(mib))
	origin := described(t, size, made(size, 7), liar, good)
	origin.Set(held(2*mib, sent(piece, liar)))
	disk := newHanging(func(op fsystest.Op) bool { return op.Syncs && strings.HasSuffix(op.Path, ".part.journal") })
	defer time.AfterFunc(time.Minute, disk.release).Stop()
	r := newRun(t, origin.URL)
	r.files = disk
	// Ranges assigned before the void may be requested late on a busy machine.
	var shown, decided int
	var done []int64
	asked := func() (n int) {
		for _, q := range append(origin.Requests(), good.Requests()...) {
			if q.Method == http.MethodGet && q.Path == "/file.bin" {
				n++
			}
		}
		return n
	}
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		p, ok := ev.(download.Progress)
		if !ok || !disk.is() {
			return
		}
		if done = append(done, p.Done); len(done) == 1 {
			for _, started := range saw[download.RangeStarted](r) {
				if started.URL != liar.URL {
					decided++
				}
			}
		}
		if shown = len(done); shown == 8 {
			if n := asked(); n > decided {
				t.Errorf("%d requests were made before the void was on disk, where %d had been decided on", n, decided)
			}
			disk.release()
		}
	}
	res := r.right(origin.Content)
	banned(t, res, liar, origin, good)
	if shown < 8 || done[7] <= done[0] {
		t.Errorf("it stood still while the disk hung: %d bytes were here, as was shown %d times", done, shown)
	}
}

// A disk that cannot record anything does not stop the loop either, nor does one that is slow to reserve
// space.
func TestHangingJournal(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]func(fsystest.Op) bool{
		"write":   func(op fsystest.Op) bool { return op.Name == "write" && strings.HasSuffix(op.Path, ".part.journal") },
		"reserve": func(op fsystest.Op) bool { return op.Name == "preallocate" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 4*mib, mirrortest.Digest())
			disk := newHanging(hangs)
			defer time.AfterFunc(time.Minute, disk.release).Stop()
			r := newRun(t, s.URL)
			r.files, r.client.Allocation = disk, download.AllocateTry
			shown := 0
			observe := r.req.Observe
			r.req.Observe = func(ev download.Event) {
				observe(ev)
				if _, ok := ev.(download.Progress); ok && disk.is() {
					if shown++; shown == 5 {
						disk.release()
					}
				}
			}
			r.right(s.Content)
			if shown < 5 {
				t.Errorf("the progress was shown %d times while the disk hung", shown)
			}
		})
	}
}

// If all bytes have arrived and the disk hangs, a cancel ends the download with its cause.
func TestHangingEnd(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest(), mirrortest.ETag(`"one"`))
	r := newRun(t, s.URL)
	if err := r.key().Make(); err != nil {
		t.Fatal(err)
	}
	claim := verify.Claim{Digest: s.Digest(), Field: "Digest", Channel: verify.HTTPS}
	r.plant(partfile.Identity{ETag: `"one"`, ETagHost: s.Addr, Claims: []verify.Claim{claim}}, s.Content.Bytes(), r.key())
	disk := newHanging(func(op fsystest.Op) bool { return op.Name == "preallocate" })
	defer time.AfterFunc(time.Minute, disk.release).Stop()
	r.files, r.client.Allocation = disk, download.AllocateTry
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r.ctx = ctx
	why := errors.New("the reason")
	go func() {
		<-disk.hung
		cancel(why)
		time.AfterFunc(200*time.Millisecond, disk.release)
	}()
	if e := r.wrong(download.Interrupted); !errors.Is(e, why) || e.Kept != mib {
		t.Errorf("it ends with %v, and %d bytes are kept", e, e.Kept)
	}
}
