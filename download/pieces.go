package download

import (
	"context"
	"sync"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/verify"
)

// pieces are the digests of parts of the file that a session knows. Pieces are checked as they come, one at a
// time, in their own goroutine. A right piece may be hashed and passed on; a wrong one is discarded. Only the
// digest of the whole file proves it (RFC 6249, section 7).
type pieces struct {
	list    verify.Pieces
	from    string            // the document that has them, masked
	queue   []scheduler.Check // to be checked, one after another
	busy    bool
	checked chan checked // has room for one, so that no check waits for the loop
	proven  byterange.Set
	wrong   int64 // the last wrong piece
	banned  int   // number of sources
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

// A gate keeps a hasher behind the bytes that pieces have proven, if pieces are known.
type gate struct {
	*partfile.File
	mu    sync.Mutex
	limit int64
	most  int64         // how far the hasher was let pass
	moved chan struct{} // closed when limit changes
}

func newGate(part *partfile.File, limit int64) *gate {
	return &gate{File: part, limit: limit, moved: make(chan struct{})}
}

// bound lets no byte pass from limit on.
func (g *gate) bound(limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit != limit {
		g.limit = limit
		close(g.moved)
		g.moved = make(chan struct{})
	}
}

// passed returns how far the hasher was let pass, at most.
func (g *gate) passed() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most
}

// WaitFront waits until the hasher may go beyond past, and returns how far.
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

// pass returns how far the hasher may go, up to front, and what to wait for.
func (g *gate) pass(front int64) (int64, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	front = min(front, g.limit, g.Front()) // bytes revoked meanwhile do not pass
	g.most = max(g.most, front)
	return front, g.moved
}
