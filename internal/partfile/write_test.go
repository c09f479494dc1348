package partfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"braid/byterange"
	"braid/internal/fsys"
)

// Proves rule 2: the first writer of a byte writes it, and the bytes of others are duplicates until it is voided.
func TestEachByteOnce_Rule2(t *testing.T) {
	f := begun(t, t.TempDir(), []byte("bbb"), 3)
	for _, tt := range []struct {
		p     string
		off   int64
		fresh int
	}{{"aaaaaa", 0, 3}, {"XXXXXX", 0, 0}, {"YYYYYcccc", 1, 4}, {"", 100, 0}, {"e", 12, 1}, {"ZZZZddZd", 6, 3}} {
		if n, err := f.WriteAt([]byte(tt.p), tt.off); n != tt.fresh || err != nil {
			t.Errorf("%q at %d: %d fresh, %v; want %d", tt.p, tt.off, n, err, tt.fresh)
		}
	}
	wantHave(t, f, span(0, 14))
	wantContent(t, f.Path(), []byte("aaabbbccccdded"))
	must(t, voided(f, span(2, 4)))
	wantHave(t, f, span(0, 2), span(4, 14))
	if f.Front() != 2 {
		t.Errorf("front is %d", f.Front())
	}
	if n, err := f.WriteAt([]byte("!!!!!!"), 0); n != 2 || err != nil {
		t.Errorf("after void: %d, %v", n, err)
	}
	if f.Front() != 14 {
		t.Errorf("front is %d", f.Front())
	}
}

func TestWriteOutOfBounds(t *testing.T) {
	f := begun(t, t.TempDir(), nil, 0)
	for _, off := range []int64{-1, math.MinInt64, math.MaxInt64} {
		if n, err := f.WriteAt([]byte("ab"), off); n != 0 || !errors.Is(err, syscall.EINVAL) {
			t.Errorf("at %d: %d, %v", off, n, err)
		}
	}
}

// Many writers write the same bytes, cut differently, while some are voided. Every byte is counted once more than it
// was voided, and is right in the end.
func TestManyWriters(t *testing.T) {
	want := content(1 << 20)
	dir := t.TempDir()
	f := begun(t, dir, nil, 0)
	var fresh atomic.Int64
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			for off := 0; off < len(want); {
				end := min(len(want), off+1+rnd.IntN(50_000))
				n, err := f.WriteAt(want[off:end], int64(off))
				if err != nil {
					t.Error(err)
				}
				fresh.Add(int64(n))
				off = end
				if err := f.Flush(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for off := int64(0); off < 1<<20; off += 100_000 {
		must(t, voided(f, span(off, off+70_000)))
	}
	writers.Wait()
	n, err := f.WriteAt(want, 0) // bytes that were voided after all writers passed
	must(t, err)
	wantHave(t, f, span(0, 1<<20))
	if got := fresh.Load() + int64(n); got < 1<<20 || got > 1<<20+11*70_000 {
		t.Errorf("%d bytes were fresh", got)
	}
	wantContent(t, f.Path(), want)
	must(t, f.Flush())
	crash(f)
	wantHave(t, recovered(t, dir), span(0, 1<<20))
}

// Revoked bytes are missing at once. Void waits for writers that are still writing them, and new writers wait for Void,
// so no byte is written by two writers.
func TestVoidWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(writing)
		first, _ := l.claim(span(0, 10), always)
		var steps []string
		var mu sync.Mutex
		step := func(s string) { mu.Lock(); steps = append(steps, s); mu.Unlock() }
		l.revoke(span(5, 15))
		go func() { l.revoked(); step("revoked") }()
		synctest.Wait()
		go func() { c, _ := l.claim(span(8, 12), always); step("claimed " + c.String()) }()
		if c, _ := l.claim(span(20, 30), always); c != span(20, 30) {
			t.Errorf("elsewhere: claimed %v", c)
		}
		synctest.Wait()
		step("landing")
		l.endClaim(first, run{Range: first})
		synctest.Wait()
		step("releasing")
		l.release(byterange.NewSet(span(5, 15)))
		synctest.Wait()
		if got := strings.Join(steps, ", "); got != "landing, revoked, releasing, claimed 8-11" {
			t.Error(got)
		}
		if have := l.have(); have.String() != "0-4" {
			t.Errorf("have %v", &have)
		}
	})
}

// watched is a reader that checks, on each read, whether r is still blocked for writers.
type watched struct {
	io.ReaderAt
	look func()
}

func (w watched) ReadAt(p []byte, off int64) (int, error) {
	w.look()
	return w.ReaderAt.ReadAt(p, off)
}

// Void reads the bytes beside r. Until it has recorded them, r is blocked for writers.
func TestVoidKeepsOut_Rule8(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(fsys.OS, dir, "x")
		must(t, err)
		must(t, f.Begin(Identity{}))
		put(t, f, []byte("abcdef"), 0)
		var claimed, looked atomic.Bool
		part := watched{f.store.part, func() {
			looked.Store(true)
			go func() {
				f.store.ledger.claim(span(2, 4), always)
				claimed.Store(true)
			}()
			synctest.Wait()
			if claimed.Load() {
				t.Error("somebody could write there")
			}
		}}
		f.Revoke(span(2, 4))
		must(t, f.store.journal.void(f.store.ledger, part, f.store.ledger.revoked()))
		f.store.ledger.release(byterange.NewSet(span(2, 4)))
		synctest.Wait()
		if !looked.Load() || !claimed.Load() {
			t.Errorf("looked %v, claimed %v", looked.Load(), claimed.Load())
		}
		crash(f)
	})
}

func TestWaitFront(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(fsys.OS, dir, "x")
		must(t, err)
		must(t, f.Begin(Identity{}))
		var got atomic.Int64
		wait := func(ctx context.Context, past int64) <-chan error {
			ended := make(chan error, 1)
			go func() {
				front, err := f.WaitFront(ctx, past)
				got.Store(front)
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		ended := wait(t.Context(), 2)
		put(t, f, []byte("ccc"), 3) // not at the front
		put(t, f, []byte("ab"), 0)  // at the front, but not beyond 2
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatal("did not wait")
		}
		put(t, f, []byte("b"), 2)
		if err := <-ended; err != nil || got.Load() != 6 {
			t.Errorf("front %d, %v", got.Load(), err)
		}
		if err := <-wait(t.Context(), 5); err != nil || got.Load() != 6 {
			t.Errorf("already there: front %d, %v", got.Load(), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended = wait(ctx, 6)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		ended = wait(t.Context(), 6)
		must(t, f.Close())
		if err := <-ended; !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// device opens a device of the system for writing.
func device(t *testing.T, name string) fsys.File {
	t.Helper()
	d, err := fsys.OS.OpenDir("/dev")
	must(t, err)
	defer d.Close()
	f, err := d.Open(name)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// A full disk is an error that names the file. No bytes are lost, and writing continues when there is space again.
func TestFullDisk_Rule7(t *testing.T) {
	full := device(t, "full")
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)

	part := f.store.part.File
	f.store.part.File = full
	n, err := f.WriteAt([]byte("defg"), 3)
	if n != 0 || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("part: %d, %v", n, err)
	}
	f.store.part.File = part
	wantHave(t, f, span(0, 3))
	put(t, f, []byte("defg"), 3)

	file := f.store.journal.file
	f.store.journal.file = full
	if err := f.Flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("journal: %v", err)
	}
	if err := voided(f, span(6, 7)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("void: %v", err)
	}
	put(t, f, []byte("h"), 7)
	f.store.journal.file = file
	must(t, f.Flush())
	crash(f)
	// Bytes that could not be recorded are fetched again, and void bytes are not present.
	wantHave(t, recovered(t, dir), span(7, 8))
}

// Runs that cannot be recorded now are recorded later.
func TestFlushAgain_Rule7(t *testing.T) {
	full := device(t, "full")
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	file := f.store.journal.file
	f.store.journal.file = full
	for range 3 {
		if err := f.Flush(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("journal: %v", err)
		}
	}
	f.store.journal.file = file
	must(t, f.Sync())
	crash(f)
	wantHave(t, recovered(t, dir), span(0, 3))
}

func TestSpace_Rule7(t *testing.T) {
	f := begun(t, t.TempDir(), []byte("abc"), 0)
	must(t, f.CheckSpace(1<<20))
	err := f.CheckSpace(math.MaxInt64)
	e, ok := errors.AsType[*SpaceError](err)
	if !ok || !errors.Is(err, syscall.ENOSPC) || e.Need <= e.Free || e.Free <= 0 || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("%v", err)
	}
	// Allocated space needs no further room.
	must(t, f.Preallocate(8<<20))
	if got := f.CheckSpace(math.MaxInt64).(*SpaceError).Need; got > math.MaxInt64-8<<20 {
		t.Errorf("with 8 MiB there, %d more are needed", got)
	}
	if info, err := f.store.part.Info(); err != nil || info.Size != 3 {
		t.Errorf("preallocating changed the size: %v", info.Size)
	}
}

func TestPreallocateTooMuch_Rule7(t *testing.T) {
	f := begun(t, t.TempDir(), nil, 0)
	// More than any file system has: ENOSPC, or EFBIG if a file cannot be that long.
	err := f.Preallocate(1 << 62)
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("%v", err)
	}
	must(t, f.Preallocate(0))
}

func TestNoAllocation(t *testing.T) {
	f := begun(t, t.TempDir(), nil, 0)
	p := make([]byte, 64<<10)
	var off int64
	n := testing.AllocsPerRun(100, func() {
		if _, err := f.WriteAt(p, off); err != nil {
			t.Fatal(err)
		}
		off += int64(len(p))
	})
	if n != 0 {
		t.Errorf("%v allocations for each write", n)
	}
}

func TestTemporary(t *testing.T) {
	dir := t.TempDir()
	empty, err := OpenTemp(fsys.OS, dir)
	must(t, err)
	must(t, empty.Close())
	f, err := OpenTemp(fsys.OS, dir)
	must(t, err)
	wantFiles(t, dir)
	put(t, f, []byte("def"), 3)
	put(t, f, []byte("abc"), 0)
	must(t, voided(f, span(4, 5)))
	put(t, f, []byte("E"), 4)
	must(t, errors.Join(f.Flush(), f.Sync(), f.Begin(Identity{})))
	wantHave(t, f, span(0, 6))
	got := make([]byte, 6)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "abcdEf" {
		t.Errorf("%q, %v", got, err)
	}
	wantStateError(t, f.Commit(proof(t, got), Final{}))
	wantStateError(t, f.Reset(""))
	wantStateError(t, f.Restart())
	if f.Path() != "" {
		t.Errorf("path %q", f.Path())
	}
	must(t, f.Close())
	wantFiles(t, dir)
}

// Bytes that a pipe has taken need no space on disk.
func TestRelease(t *testing.T) {
	f, err := OpenTemp(fsys.OS, t.TempDir())
	must(t, err)
	defer f.Close()
	p := content(1 << 20)
	put(t, f, p, 0)
	must(t, f.Release(512<<10))
	must(t, f.Release(256<<10))
	got := make([]byte, 1<<20)
	_, err = f.ReadAt(got, 0)
	must(t, err)
	if !bytes.Equal(got[512<<10:], p[512<<10:]) {
		t.Error("what was not released is damaged")
	}
	if bytes.Equal(got[:512<<10], p[:512<<10]) {
		t.Error("nothing was released")
	}
	named := begun(t, t.TempDir(), p, 0)
	wantStateError(t, named.Release(10))
	wantContent(t, named.Path(), p)
}
