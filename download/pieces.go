package download

import (
	"context"
	"fmt"
	"sync"

	"braid/byterange"
	"braid/download/partfile"
	"braid/scheduler"
	"braid/verify"
)

// pieces are what a session knows of the digests of parts of its file. They are checked as they come, one at a time, in a
// goroutine of its own (S10). A piece that is right may be hashed and given away; what is wrong is forgotten, and who
// brought it is not asked again. That the file is right says the digest of the whole alone (C9).
type pieces struct {
	list    verify.Pieces
	from    string            // the document that has them, masked
	queue   []scheduler.Check // to be checked, one after the other
	busy    bool
	checked chan checked // takes one, so that nobody waits for the loop
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

// usePieces begins to check pieces, also of what is here already, if they are known and of a file of this size.
func (s *session) usePieces() {
	list := s.plan.pieces
	if s.plan.mistrust || list.IsZero() || s.hashing.byPieces() || s.size < 0 || !s.hashing.begun() {
		return
	}
	if list.Size() != s.size {
		s.note("%s has pieces of a file of %d bytes, not %d: they are not used", s.plan.piecesFrom, list.Size(), s.size)
		return
	}
	s.hashing.take(list, s.plan.piecesFrom)
	s.note("%d pieces of %d bytes are checked as they come: their %v is in %s", list.Count(), list.Length(), list.Algorithm(), s.plan.piecesFrom)
	s.step(scheduler.PiecesKnown{Length: list.Length(), Lead: list.Lead()})
}

// checkPiece reads a piece back and says whether it is right.
func checkPiece(ctx context.Context, part *partfile.File, check *verify.PieceChecker, r byterange.Range) (bool, error) {
	buf := pieceBuffers.Get().(*[hashBuffer]byte)
	defer pieceBuffers.Put(buf)
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

var pieceBuffers = sync.Pool{New: func() any { return new([hashBuffer]byte) }}

// pieceChecked takes the result of a check.
func (s *session) pieceChecked(c checked) {
	if c.err != nil {
		s.stop(c.err)
		return
	}
	s.hashing.settle(c)
	s.step(scheduler.PieceChecked{Piece: c.piece, OK: c.ok})
	s.hashing.checkNext(s.ctx, s.provenBySwarm)
}

// ban takes note of a source that lied.
func (s *session) ban(lane scheduler.SourceID) {
	o := s.sources.lanes[lane]
	if o.banned {
		return
	}
	p := &s.hashing.pieces
	start, end := p.list.At(int(p.wrong))
	p.banned++
	s.sources.ban(o, "those from %d to %d are not what %s says", start, end-1, p.from)
	s.atlas.tell(o.tree, false)
	s.tellDown(o, lane)
}

// exclude ends a fetch of a source that lied: it does not write any more, and what it wrote and nobody was told of is
// forgotten.
func (s *session) exclude(f *flight) {
	f.excluded = true
	unheard := f.sink.halt(f.at)
	var wrong []byterange.Range
	for r := range unheard.All() {
		for g := range s.here.Gaps(r) {
			wrong = append(wrong, g)
		}
	}
	for _, g := range wrong {
		s.void(g)
	}
}

// void forgets bytes that are wrong. If they were hashed already, the hash begins anew; of a stream they are out.
func (s *session) void(r byterange.Range) {
	s.here.Remove(r)
	s.swarm.gone(r)
	if err := s.part.Void(r); err != nil {
		s.stop(local(err))
		return
	}
	s.sources.void(r)
	switch {
	case s.hashing.passed() <= r.Start:
	case s.req.Stream != nil:
		s.stop(fmt.Errorf("bytes from %d on are wrong, and some of them are out", r.Start))
	default:
		s.rehash()
	}
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

// pass lets through up to front, or to the limit, and says when to come again.
func (g *gate) pass(front int64) (int64, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	front = min(front, g.limit)
	g.most = max(g.most, front)
	return front, g.moved
}
