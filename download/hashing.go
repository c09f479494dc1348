package download

import (
	"context"
	"io"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/verify"
)

// hashing verifies the received bytes while more arrive. A hasher reads the bytes in order. If digests of pieces are
// known, the hasher gets a byte only after the byte's piece was checked. The fields belong to the session's loop.
type hashing struct {
	part     *partfile.File
	stream   io.Writer  // gets the hashed bytes; nil: the file stays in part
	upload   *uploading // gets the hashed bytes; nil without a Store
	hasher   *hasher    // nil: nothing is hashed
	atEnd    bool       // the file is small: the hasher has no goroutine, and runs at the end
	advanced chan int64 // number of bytes written to a stream
	failed   chan error // why the hasher cannot continue
	pieces   pieces
	workers  sync.WaitGroup
	known    func(verify.Pieces, scheduler.Check) bool // reports whether a piece is already proven
}

func newHashing(part *partfile.File, stream io.Writer, upload *uploading) hashing {
	return hashing{part: part, stream: stream, upload: upload, advanced: make(chan int64, 1),
		failed: make(chan error, 1), pieces: pieces{checked: make(chan checked, 1)}}
}

// begin starts hashing the first size bytes. If size is not known (-1), hasher.end sets it later. Bytes that an earlier
// run uploaded are not hashed again; the error is that check cannot continue after them.
func (x *hashing) begin(ctx context.Context, check *verify.Checker, size int64, signed []found) (err error) {
	moved := func(front int64) {
		select {
		case x.advanced <- front:
		default: // the loop is busy: a later value will reach it
		}
	}
	g := newGate(x.part, x.proven())
	h := &hasher{part: g, gate: g, check: check, stream: x.stream, upload: x.upload, moved: moved, failed: x.fail}
	if x.upload != nil {
		if h.from, err = x.upload.begin(check, signed); err != nil {
			return err
		}
	}
	x.hasher = h
	onePart := x.upload == nil || size <= x.upload.next(size)
	if x.atEnd = x.stream == nil && size >= 0 && size <= hashStep && onePart; x.atEnd {
		h.size.Store(size)
		return nil
	}
	startHasher(ctx, h, size)
	return nil
}

// fail sends err, the reason why hashing or writing cannot continue, to the loop, unless another failure is pending.
func (x *hashing) fail(err error) {
	select {
	case x.failed <- err:
	default:
	}
}

// begun reports whether hashing has begun.
func (x *hashing) begun() bool { return x.hasher != nil }

// stop ends the hasher early and waits for it. A stream may block forever in a write that nothing can end: so stop does
// not wait longer than streamGrace.
func (x *hashing) stop() {
	if x.hasher == nil || x.atEnd {
		x.hasher = nil
		return
	}
	x.hasher.cancel()
	var late <-chan time.Time
	if x.stream != nil {
		late = time.After(streamGrace)
	}
	select {
	case <-x.hasher.done:
	case <-late:
	}
	x.hasher = nil
}

// retire ends the hasher, because another hasher starts over. The old hasher may still be reading. The session waits
// for its goroutine only at the end.
func (x *hashing) retire() {
	if x.stream != nil || x.upload != nil || x.atEnd {
		x.stop()
		return
	}
	done := x.hasher.done
	x.hasher.cancel()
	x.workers.Go(func() { <-done })
	x.hasher = nil
}

// streamGrace is the time for the last write to a stream to return.
const streamGrace = time.Second

// prove waits until all size bytes are hashed, and verifies them. late are further claims that the digests must match.
func (x *hashing) prove(ctx context.Context, size int64, late []verify.Claim) (verify.Proof, error) {
	h := x.hasher
	if err := x.finish(ctx, size); err != nil {
		return verify.Proof{}, err
	}
	h.check.Claim(late)
	return h.check.Proof()
}

func (x *hashing) finish(ctx context.Context, size int64) error {
	h := x.hasher
	if x.atEnd {
		if err := h.run(ctx, ctx); ctx.Err() == nil {
			x.hasher = nil
			return err
		}
		return context.Cause(ctx)
	}
	h.end(size)
	select {
	case err := <-h.done:
		x.hasher = nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// passed returns the offset up to which bytes may have been hashed. If such a byte changes, all must be hashed again.
func (x *hashing) passed() int64 {
	if x.hasher == nil {
		return 0
	}
	return x.hasher.gate.passed()
}

// shut stops the hasher, and reports true, if the hasher has not read yet. Then nothing was passed on.
func (x *hashing) shut() bool {
	g := x.hasher.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most > 0 {
		return false
	}
	g.limit = 0
	return true
}

// byPieces reports whether pieces are checked.
func (x *hashing) byPieces() bool { return !x.pieces.list.IsZero() }

// startPieces restricts the hasher to bytes of checked pieces from now on.
func (x *hashing) startPieces(list verify.Pieces, from string) {
	x.pieces.list, x.pieces.from = list, from
	x.hasher.gate.bound(0)
}

// proven returns the offset up to which the hasher may read and a stream may be written: the end of the checked pieces,
// or Unbounded if no pieces are known.
func (x *hashing) proven() int64 {
	if !x.byPieces() {
		return byterange.Unbounded
	}
	return x.pieces.proven.FirstGap(0)
}

// check queues c, the check of a piece. A piece that is not known to be right is read back in a goroutine.
func (x *hashing) check(ctx context.Context, c scheduler.Check) {
	x.pieces.queue = append(x.pieces.queue, c)
	x.checkNext(ctx)
}

func (x *hashing) checkNext(ctx context.Context) {
	p := &x.pieces
	if p.busy || len(p.queue) == 0 {
		return
	}
	c := p.queue[0]
	p.queue, p.busy = p.queue[1:], true
	uploaded := x.upload != nil && c.Range.Start < x.upload.begins() // the checker has compared these bytes
	if uploaded || x.known(p.list, c) {
		p.checked <- checked{piece: c.Piece, ok: true}
		return
	}
	x.workers.Go(func() {
		ok, err := checkPiece(ctx, x.part, p.list.Checker(int(c.Piece)), c.Range)
		p.checked <- checked{c.Piece, ok, err}
	})
}

// recordCheck records c, the result of a check. If the piece is right, the hasher may read it.
func (x *hashing) recordCheck(c checked) {
	p := &x.pieces
	if p.busy = false; !c.ok {
		p.wrong = c.piece
		return
	}
	start, end := p.list.At(int(c.piece))
	p.proven.Add(byterange.Range{Start: start, End: end})
	x.hasher.gate.bound(p.proven.FirstGap(0))
}
