package torrentsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/anacrolix/torrent"

	"braid/address"
	"braid/byterange"
	"braid/metalink"
	"braid/source"
)

// A job is a running Fetch.
type job struct {
	source   *Source
	swarm    *swarm
	r        byterange.Range
	sink     source.Sink
	pieces   source.PieceSink // the sink, if it is a PieceSink; else nil
	left     map[int]bool     // pieces not written yet
	ready    chan handed
	moved    chan struct{} // signals that bytes were received or discarded
	came     atomic.Int64
	over     chan struct{}
	answered bool
}

// A handed is a verified piece that a job must write. The job then closes done.
type handed struct {
	piece int
	done  chan struct{}
}

// note records n received bytes. A negative n records discarded bytes.
func (j *job) note(n int64) {
	j.came.Add(n)
	select {
	case j.moved <- struct{}{}:
	default:
	}
}

// give makes the job write piece i, and waits until the piece is written.
func (j *job) give(i int, closed <-chan struct{}) {
	h := handed{i, make(chan struct{})}
	select {
	case j.ready <- h:
	case <-j.over:
		return
	case <-closed:
		return
	}
	select {
	case <-h.done:
	case <-j.over:
	}
}

// Fetch implements source.Source. Pieces are delivered in any order.
func (s *Source) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	if r.End = min(r.End, s.file.Size); r.Empty() {
		return nil
	}
	swarm, err := s.joined()
	if err != nil {
		return s.fail(source.FaultProtocol, false, err)
	}
	if swarm == nil {
		return s.fail(source.FaultNetwork, false, errClosed)
	}
	j := &job{
		source: s, swarm: swarm, r: r, sink: w, left: map[int]bool{},
		ready: make(chan handed), moved: make(chan struct{}, 1), over: make(chan struct{}),
	}
	j.pieces, _ = w.(source.PieceSink)
	first, last := s.pieces(r)
	for i := first; i < last; i++ {
		j.left[i] = true
	}
	swarm.want(j, first, last)
	defer swarm.forget(j)
	return j.run(ctx)
}

var errClosed = errors.New("the download has left the swarm")

func (j *job) run(ctx context.Context) error {
	patience := j.source.client.timeout()
	idle := time.NewTimer(patience)
	defer idle.Stop()
	for {
		j.trim()
		if len(j.left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-j.swarm.ctx.Done():
			return j.source.fail(source.FaultNetwork, false, errClosed)
		case h := <-j.ready:
			err := j.write(h.piece)
			close(h.done)
			if err != nil {
				return err
			}
		case <-j.moved:
			if err := j.hear(); err != nil {
				return err
			}
		case <-idle.C:
			return j.source.noPeerError(j.swarm)
		}
		idle.Reset(patience)
	}
}

// trim gives up the pieces beyond the end of the range, if the sink has lowered that end.
func (j *job) trim() {
	if j.pieces == nil {
		return
	}
	if end := j.pieces.End(); end < j.r.End {
		j.r.End = max(end, j.r.Start)
		_, last := j.source.pieces(j.r)
		if j.r.Empty() {
			last = 0
		}
		var rest []int
		for i := range j.left {
			if i >= last {
				rest = append(rest, i)
				delete(j.left, i)
			}
		}
		j.swarm.unwant(j, rest)
	}
}

// hear reports received bytes to the sink.
func (j *job) hear() error {
	if err := j.swarm.content.failure(); err != nil {
		return err
	}
	if err := j.answer(); err != nil || j.pieces == nil {
		return err
	}
	if n := j.came.Swap(0); n != 0 {
		return j.pieces.Coming(n)
	}
	return nil
}

// answer sends the Answer to the sink, once bytes were received.
func (j *job) answer() error {
	if j.answered {
		return nil
	}
	j.answered = true
	return j.sink.Answer(source.Answer{
		Host: source.SwarmHost, URL: j.source.url, Start: j.r.Start, End: j.r.End, Size: j.source.file.Size, Ranged: true,
		ETag: j.source.tag(), Hops: []metalink.Hop{{URL: j.source.url}},
	})
}

// tag returns a strong validator of the file: the info hash of the torrent, which identifies the bytes of all its
// files, and the offset.
func (s *Source) tag() string { return fmt.Sprintf(`"btih-%v-%d"`, s.torrent.InfoHash, s.file.Offset) }

// write writes the wanted part of piece i.
func (j *job) write(i int) error {
	if !j.left[i] {
		return nil
	}
	if err := j.hear(); err != nil {
		return err
	}
	r := j.source.within(i)
	r = byterange.Range{Start: max(r.Start, j.r.Start), End: min(r.End, j.r.End)}
	buf := copyBuffers.Get().(*[copySize]byte)
	defer copyBuffers.Put(buf)
	for at := r.Start; at < r.End; {
		off := j.source.file.Offset + at - int64(i)*j.swarm.content.length
		n, err := j.swarm.content.read(i, buf[:min(copySize, r.End-at)], off)
		if n == 0 {
			return err
		}
		n, err = j.sink.WriteAt(buf[:n], at)
		j.source.Here(byterange.Range{Start: at, End: at + int64(n)})
		if errors.Is(err, source.ErrEnough) {
			break
		}
		if err != nil {
			return err
		}
		at += int64(n)
	}
	delete(j.left, i)
	j.swarm.unwant(j, []int{i})
	return nil
}

// noPeerError returns the error for a fetch from w that received no bytes until the timeout.
func (s *Source) noPeerError(w *swarm) error {
	st := w.torrent.Stats()
	if refused := w.ways.refused.Load(); refused != nil && st.ActivePeers == 0 {
		return s.fail(source.FaultRefused, false, *refused)
	}
	return s.fail(source.FaultNetwork, true, fmt.Errorf("no peer sent anything for %v (%d known, %d connected)",
		s.client.timeout(), st.TotalPeers, st.ActivePeers))
}

func (s *Source) fail(f source.Fault, retry bool, err error) *source.Error {
	var near *address.Error
	if errors.As(err, &near) {
		err = near
	}
	return &source.Error{URL: source.Mask(s.url), Host: source.SwarmHost, Fault: f, Retry: retry, Err: err}
}

// want adds j to the jobs that want the pieces from first to last-1, and makes the library request these pieces.
func (w *swarm) want(j *job, first, last int) {
	w.asks.Lock()
	defer w.asks.Unlock()
	c := w.content
	how := make([]torrent.PiecePriority, last-first)
	c.mu.Lock()
	for i := first; i < last; i++ {
		c.jobs[i] = append(c.jobs[i], j)
		c.stale[i] = true // the piece may be on disk and still be wanted
		if how[i-first] = inOrder; c.rough[i] > 0 {
			how[i-first] = atOnce
		}
	}
	c.mu.Unlock()
	w.look()
	for i, p := range how {
		w.torrent.Piece(first + i).SetPriority(p)
	}
}

// atOnce is the priority of pieces that were begun, so that few are incomplete. By default, the library finishes these
// pieces last, because it takes other pieces for rarer.
const atOnce = torrent.PiecePriorityNow

// inOrder is the priority of other pieces. The library requests rare pieces first, which a swarm depends on, and other
// pieces in ascending order, so that the file can be hashed while it is received.
const inOrder = torrent.PiecePriorityReadahead

// finish makes the library request the rest of piece i before other pieces.
func (w *swarm) finish(i int) {
	w.asks.Lock()
	defer w.asks.Unlock()
	w.content.mu.Lock()
	wanted := len(w.content.jobs[i]) > 0
	w.content.mu.Unlock()
	if wanted {
		w.torrent.Piece(i).SetPriority(atOnce)
	}
}

// unwant removes pieces from a job. The library cancels requests for pieces that no job wants.
func (w *swarm) unwant(j *job, pieces []int) {
	w.asks.Lock()
	defer w.asks.Unlock()
	c := w.content
	var free, idle []int
	c.mu.Lock()
	for _, i := range pieces {
		rest := slices.DeleteFunc(c.jobs[i], func(o *job) bool { return o == j })
		if c.jobs[i] = rest; len(rest) == 0 {
			delete(c.jobs, i)
			free = append(free, i)
			if c.rough[i] > 0 && !c.proven[i] {
				idle = append(idle, i)
			}
		}
	}
	c.mu.Unlock()
	for _, i := range free {
		w.torrent.CancelPieces(i, i+1)
	}
	c.idle(idle)
}

// forget removes j.
func (w *swarm) forget(j *job) {
	close(j.over)
	var rest []int
	for i := range j.left {
		rest = append(rest, i)
	}
	w.unwant(j, rest)
}
