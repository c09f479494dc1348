package download

import (
	"context"
	"sync"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/verify"
)

// pieces are what a session knows of the digests of parts of its file. They are checked as they come, one at a time, in
// a goroutine of their own. A piece that is right may be hashed and given away; a wrong one is forgotten. Only the
// digest of the whole proves the file (RFC 6249, section 7).
type pieces struct {
	list    verify.Pieces
	from    string            // the document that has them, masked
	queue   []scheduler.Check // to be checked, one after the other
	busy    bool
	checked chan checked // takes one, so that no check waits for the loop
	proven  byterange.Set
	wrong   int64 // the last piece that was
	banned  int   // sources
}

// checked is the result of a check.
type checked struct {
	piece int64
	ok    bool
	err   error // of the disk
}

// checkPiece reads a piece back and reports whether it is right.
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

// A gate keeps a hasher behind what was proven, when there are pieces to prove it by.
type gate struct {
	*partfile.File
	mu    sync.Mutex
	limit int64
	most  int64         // the hasher was let pass so far
	moved chan struct{} // closed when limit changes
}

func newGate(part *partfile.File, limit int64) *gate {
	return &gate{File: part, limit: limit, moved: make(chan struct{})}
}

// bound lets nothing pass from limit on.
func (g *gate) bound(limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit != limit {
		g.limit = limit
		close(g.moved)
		g.moved = make(chan struct{})
	}
}

// passed is how far the hasher was let, at most.
func (g *gate) passed() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most
}

// WaitFront is how far the hasher may go, when that is beyond past.
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

// pass returns how far the hasher may go, of front, and what to wait for.
func (g *gate) pass(front int64) (int64, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	front = min(front, g.limit, g.Front()) // what was revoked meanwhile does not pass
	g.most = max(g.most, front)
	return front, g.moved
}
