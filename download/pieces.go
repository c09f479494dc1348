package download

import (
	"context"
	"sync"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// pieces are the digests of pieces that a session knows, and the state of their checks. Complete pieces are checked in
// a goroutine, one at a time. A right piece may be hashed and passed on. A wrong piece is discarded. Only the digest of
// the whole file proves the file (RFC 6249, section 7).
type pieces struct {
	list    verify.Pieces
	from    string            // the document that has the digests, masked
	queue   []scheduler.Check // pieces to be checked
	busy    bool
	checked chan checked // has a buffer for one value, so that no check waits for the loop
	proven  byterange.Set
	wrong   int64 // the last wrong piece
	banned  int   // number of sources that were banned because of wrong pieces
}

// checked is the result of a check.
type checked struct {
	piece int64
	ok    bool
	err   error // of the disk
}

// checkPiece reads the piece r back and reports whether it is right.
func checkPiece(ctx context.Context, part *partfile.File, check *verify.PieceChecker, r byterange.Range) (bool, error) {
	buf := hashBuffers.Get().(*[hashBuffer]byte)
	defer hashBuffers.Put(buf)
	for at := r.Start; at < r.End; {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		n, err := part.ReadAt(buf[:min(hashBuffer, r.End-at)], at)
		if n == 0 {
			return false, local(err)
		}
		check.Write(buf[:n])
		at += int64(n)
	}
	return check.Right(), nil
}

// A gate restricts a hasher to the bytes of right pieces, if pieces are known.
type gate struct {
	*partfile.File
	mu    sync.Mutex
	limit int64
	most  int64         // highest offset up to which the hasher could read
	moved chan struct{} // closed when limit changes
}

func newGate(part *partfile.File, limit int64) *gate {
	return &gate{File: part, limit: limit, moved: make(chan struct{})}
}

// bound sets the limit: only bytes before that offset pass.
func (g *gate) bound(limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit != limit {
		g.limit = limit
		close(g.moved)
		g.moved = make(chan struct{})
	}
}

// passed returns the highest offset up to which the hasher could read.
func (g *gate) passed() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most
}

// WaitFront waits until the hasher may read beyond past. It returns the offset up to which the hasher may read.
func (g *gate) WaitFront(ctx context.Context, past int64) (int64, error) {
	for {
		front, err := g.File.WaitFront(ctx, past)
		if err != nil {
			return front, err
		}
		front, moved := g.pass(front)
		if front > past {
			return front, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return front, ctx.Err()
		}
	}
}

// pass returns the offset up to which the hasher may read, at most front, and a channel that is closed when the limit
// changes.
func (g *gate) pass(front int64) (int64, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	front = min(front, g.limit, g.Front()) // bytes revoked meanwhile do not pass
	g.most = max(g.most, front)
	return front, g.moved
}

// resumeByPieces resumes with the bytes of an earlier run that had no torrent. The pieces of this request decide which of
// the bytes stay. If all complete pieces are wrong, the torrent is of another file, and the bytes are set aside. The
// server's digests of that run are kept for a later run without pieces.
func (r *resumption) resumeByPieces(ctx context.Context) error {
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	list, have, complete, right := r.req.Described.Pieces, r.part.Have(), false, false
	for i := 0; i < list.Count() && !right; i++ {
		start, end := list.At(i)
		piece := byterange.Range{Start: start, End: end}
		if !have.Contains(piece) {
			continue
		}
		var err error
		if right, err = checkPiece(ctx, r.part, list.Checker(i), piece); err != nil {
			return err
		}
		complete = true
	}
	if complete && !right {
		return r.part.Reset("no piece of the part is one of " + r.req.Described.By)
	}
	id := partfile.Identity{URL: source.Mask(r.req.URL), URLSum: partfile.SumURL(r.req.URL), Size: r.req.Described.Size,
		PieceSum: partfile.SumPieces(r.req.Described.Pieces), Mixed: true}
	if r.sealed && r.prior.URLSum == id.URLSum {
		id.Denied, id.Looked = join(r.prior.Denied, standingOf(r.prior)), r.prior.Looked
	}
	return r.goOnWith(id)
}
