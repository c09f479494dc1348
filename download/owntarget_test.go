package download_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source"
	"braid/verify"
)

// A vault is a target in memory that checks that its caller obeys the contract.
type vault struct {
	t      *testing.T
	fails  map[string]error // by method
	late   bool             // a failed write takes all bytes
	commit func(context.Context) error
	full   int64 // fails applies once so many bytes were written or read; 0: at once

	mu        sync.Mutex
	read      int64
	data      []byte
	wrote     byterange.Set
	busy      int
	proof     verify.Proof
	committed []byte // nil: not committed
	calls     []string
}

// enter begins a call of WriteAt or ReadAt.
func (v *vault) enter() (leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.calls) > 0 {
		v.t.Errorf("called after %v", v.calls)
	}
	v.busy++
	return func() { v.mu.Lock(); v.busy--; v.mu.Unlock() }
}

func (v *vault) WriteAt(p []byte, off int64) (int, error) {
	defer v.enter()()
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.fails["write"]; err != nil && !v.late && (v.full == 0 || v.wrote.Contains(byterange.Range{End: v.full})) {
		return len(p) / 2, err
	}
	end := off + int64(len(p))
	if grow := end - int64(len(v.data)); grow > 0 {
		v.data = append(v.data, make([]byte, grow)...)
	}
	copy(v.data[off:], p)
	v.wrote.Add(byterange.Range{Start: off, End: end})
	if v.full > 0 {
		return len(p), nil
	}
	return len(p), v.fails["write"]
}

func (v *vault) ReadAt(p []byte, off int64) (int, error) {
	defer v.enter()()
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.fails["read"]; err != nil && v.read >= v.full {
		return 0, err
	}
	v.read += int64(len(p))
	if r := (byterange.Range{Start: off, End: off + int64(len(p))}); !v.wrote.Contains(r) {
		v.t.Errorf("%v is read, and was not written", r)
	}
	return copy(p, v.data[off:]), nil
}

func (v *vault) last(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy > 0 || len(v.calls) > 0 && !(what == "discard" && v.calls[0] == "commit" && len(v.calls) == 1) {
		v.t.Errorf("%s after %v while %d calls are under way", what, v.calls, v.busy)
	}
	v.calls = append(v.calls, what)
}

func (v *vault) Commit(ctx context.Context, p verify.Proof) error {
	v.last("commit")
	v.proof = p
	if v.commit != nil {
		return v.commit(ctx)
	}
	if err := v.fails["commit"]; err != nil {
		return err
	}
	v.committed = v.data[:p.Size()]
	return nil
}

func (v *vault) Discard() error {
	v.last("discard")
	return v.fails["discard"]
}

// into returns a run whose file goes to a target. Nothing is made in its folder.
func into(t *testing.T, u string) (*run, *vault) {
	t.Helper()
	r, v := newRun(t, u), &vault{t: t, fails: map[string]error{}}
	r.req.Target = v
	t.Cleanup(func() {
		if left, err := os.ReadDir(r.dir); len(left) > 0 || err != nil {
			t.Errorf("in the folder: %v, %v", left, err)
		}
	})
	return r, v
}

// kept checks that the target has the content, and that no other method was called.
func (v *vault) kept(want mirrortest.Content) {
	v.t.Helper()
	if fmt.Sprint(v.calls) != "[commit]" {
		v.t.Fatalf("called: %v", v.calls)
	}
	if err := want.Compare(strings.NewReader(string(v.committed))); err != nil {
		v.t.Error(err)
	}
	if !v.proof.Valid() {
		v.t.Error("committed without a proof")
	}
}

// gone checks that the target was discarded after those calls, and that no commit succeeded.
func (v *vault) gone(calls ...string) {
	v.t.Helper()
	if want := append(calls, "discard"); fmt.Sprint(v.calls) != fmt.Sprint(want) || v.committed != nil {
		v.t.Errorf("called: %v, want %v; committed: %t", v.calls, want, v.committed != nil)
	}
}

// The bytes of several mirrors go to the target, which also gets the proof.
func TestTarget_Rule2(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	a, b := sized(t, size, mirrortest.Rate(8*mib)), sized(t, size, mirrortest.Rate(8*mib))
	origin := vouch(t, size, a, b)
	r, v := into(t, origin.URL)
	res, err := r.get()
	if err != nil {
		t.Fatal(err)
	}
	v.kept(origin.Content)
	if verified(t, res, byDigest); res.Path != "" || res.Size != size {
		t.Errorf("%+v", res)
	}
}

// Wrong bytes of a mirror are found if pieces are known: they are written again.
func TestTargetLiar_S10(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
	origin := described(t, size, made(size, 7), liar)
	origin.Set(held(2*mib, sent(piece, liar)))
	r, v := into(t, origin.URL)
	res, err := r.get()
	if err != nil {
		t.Fatal(err)
	}
	v.kept(origin.Content)
	banned(t, res, liar, origin)
}

// If only the whole file has a digest, the bytes are compared and repaired in the target.
func TestTargetMended_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
	good := sized(t, size, waiting(8*mib, liar))
	origin := vouch(t, size, liar, good)
	origin.Set(waiting(2*mib, liar))
	r, v := into(t, origin.URL)
	res, err := r.get()
	if err != nil {
		t.Fatal(err)
	}
	v.kept(origin.Content)
	if banned(t, res, liar, good); res.Compared == 0 {
		t.Error("nothing was compared")
	}
}

// A file that changes at its origin is written again. Bytes beyond the end of a shorter one do not belong to
// it.
func TestTargetChanged_Rule34(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	then, now := mirrortest.Generate(2*size, 1), mirrortest.Generate(size, 2)
	s := mirrortest.New(t, then, mirrortest.ETag(`"one"`), mirrortest.Rate(4*mib))
	s.Set(mirrortest.Once(mirrortest.CutAfter(size + size/2)))
	r, v := into(t, s.URL)
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		if _, ok := ev.(download.RangeEnded); ok && s.Content.Size() == then.Size() {
			s.Content = now
			s.Set(mirrortest.ETag(`"two"`))
		}
	}
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	v.kept(now)
}

// A wrong digest prevents the commit.
func TestTargetWrong_C9(t *testing.T) {
	t.Parallel()
	s := sized(t, mib)
	r, v := into(t, s.URL)
	r.req.Trust.Claims = []verify.Claim{{Digest: sum(t, []byte("another file"))}}
	r.wrong(download.Mismatch)
	v.gone()
}

// A cancel during the download prevents the commit, and no method is called after Get has returned.
func TestTargetCancelled(t *testing.T) {
	t.Parallel()
	s := sized(t, 8*mib, mirrortest.Digest(), mirrortest.Rate(mib))
	r, v := into(t, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	r.ctx = ctx
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		if observe(ev); len(saw[download.Progress](r)) > 2 {
			cancel()
		}
	}
	if e := r.wrong(download.Interrupted); e.Kept > 0 {
		t.Errorf("%d bytes are kept", e.Kept)
	}
	v.gone()
}

// A failed commit makes no file and is not repeated, whatever its error wraps.
func TestTargetCommitFails(t *testing.T) {
	t.Parallel()
	no := errors.New("no room")
	for name, commit := range map[string]func(context.Context) error{
		"plainly":           func(context.Context) error { return no },
		"as a wrong digest": func(context.Context) error { return errors.Join(no, &verify.MismatchError{}) },
		"as a source": func(context.Context) error {
			return errors.Join(no, &source.Error{Fault: source.FaultNetwork, Retry: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, v := into(t, sized(t, mib, mirrortest.Digest()).URL)
			v.commit, v.fails["discard"] = commit, io.ErrClosedPipe
			e := r.wrong(download.Local)
			v.gone("commit")
			own, ok := errors.AsType[*download.TargetError](e)
			if !ok || own.Op != "commit" || !errors.Is(e, no) || !errors.Is(e, io.ErrClosedPipe) {
				t.Errorf("it ends with %v", e)
			}
		})
	}
}

// A commit may take long: it ends with the context.
func TestTargetCommitCancelled(t *testing.T) {
	t.Parallel()
	r, v := into(t, sized(t, mib, mirrortest.Digest()).URL)
	ctx, cancel := context.WithCancel(t.Context())
	r.ctx = ctx
	v.commit = func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	r.wrong(download.Interrupted)
	v.gone("commit")
}

// A target that cannot write or read ends the download, and no source is at fault.
func TestTargetFails_Rule7(t *testing.T) {
	t.Parallel()
	no := errors.New("no room")
	for name, err := range map[string]error{"write": no, "read": no,
		"write what is wanted": errors.Join(no, source.ErrEnough), "write late": no} {
		op, how, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 4 * mib
			a, b := sized(t, size, mirrortest.Rate(2*mib)), sized(t, size, mirrortest.Rate(2*mib))
			r, v := into(t, vouch(t, size, a, b).URL)
			v.fails[op], v.late = err, how == "late"
			e := r.wrong(download.Local)
			v.gone()
			if own, ok := errors.AsType[*download.TargetError](e); !ok || own.Op != op || !errors.Is(e, no) {
				t.Errorf("it ends with %v", e)
			}
			if down := saw[download.SourceDown](r); len(down) > 0 {
				t.Errorf("given up: %+v", down)
			}
		})
	}
}

// A target that fails while sources are compared, after all bytes have arrived once, ends the download, even
// with an error that looks like a cancel.
func TestTargetFailsCompared_Rule40(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"read", "write"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			const size = 8 * mib
			liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
			origin := vouch(t, size, liar, sized(t, size, waiting(8*mib, liar)))
			origin.Set(waiting(2*mib, liar))
			r, v := into(t, origin.URL)
			v.fails[op], v.full = context.Canceled, size
			e := r.wrong(download.Local)
			v.gone()
			if len(saw[download.Comparing](r)) == 0 {
				t.Error("nothing was compared")
			}
			if own, ok := errors.AsType[*download.TargetError](e); !ok || own.Op != op {
				t.Errorf("it ends with %v", e)
			}
		})
	}
}

// Without evidence a file is committed all the same, unless evidence is demanded.
func TestTargetUnproven_Rule31(t *testing.T) {
	t.Parallel()
	s := sized(t, mib)
	r, v := into(t, s.URL)
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	if v.kept(s.Content); v.proof.Verified() {
		t.Error("verified by nothing")
	}
	r, v = into(t, s.URL)
	r.req.Trust.Require = download.RequireDigest
	r.wrong(download.NoEvidence)
	v.gone()
}

// An invalid request discards its target, too. A part file of an earlier run for that name is not touched.
func TestTargetAndStream(t *testing.T) {
	t.Parallel()
	r, v := into(t, sized(t, mib).URL)
	r.req.Stream = io.Discard
	r.wrong(download.Usage)
	v.gone()
}

// A document in place of the file is followed, and the described file goes to the target.
func TestTargetDocument(t *testing.T) {
	t.Parallel()
	s := sized(t, mib)
	doc := mirrortest.New(t, document(t, at(t, of(t, made(mib, 7)), s)), mirrortest.Name("x.meta4"))
	r, v := into(t, doc.URL)
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	v.kept(s.Content)
}
