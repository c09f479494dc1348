package torrentsource

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/anacrolix/torrent/metainfo"
	"github.com/anacrolix/torrent/storage"

	"braid/byterange"
	"braid/source"
)

// A content is the storage of a torrent for the library. The shelf keeps received bytes until their piece is verified
// and written by the jobs that want the piece. Bytes that the Part of a member has are read from that Part. The library
// calls content while it holds a lock of its own, so the library must never be called with mu held.
type content struct {
	length, size int64 // of a piece, and of the torrent
	shelf        *shelf
	closed       chan struct{} // closed when the library begins to close
	over         chan struct{} // closed when the library has closed and sends nothing more

	mu      sync.Mutex
	members []member
	jobs    map[int][]*job // jobs that want a piece
	proven  map[int]bool   // pieces with a verified digest
	rough   map[int]int64  // number of unverified bytes in the shelf, by piece
	stale   map[int]bool   // pieces whose completion the library must read again
	checks  []int          // pieces in the files of members that were not checked yet
	err     error          // error of the scratch file
}

// A member is a file of the torrent with a source.
type member struct {
	source *Source
	here   byterange.Set // ranges in its Part
}

func newContent(length, size int64, scratch source.Scratch) *content {
	return &content{
		length: length, size: size, shelf: newShelf(length, scratch), closed: make(chan struct{}), over: make(chan struct{}),
		jobs: map[int][]*job{}, proven: map[int]bool{}, rough: map[int]int64{}, stale: map[int]bool{},
	}
}

// OpenTorrent implements storage.ClientImpl.
func (c *content) OpenTorrent(context.Context, *metainfo.Info, metainfo.Hash) (storage.TorrentImpl, error) {
	return storage.TorrentImpl{
		Piece: func(p metainfo.Piece) storage.PieceImpl { return piece{c, p.Index()} },
		Close: func() error { return nil },
	}, nil
}

// at returns the range of piece i in the torrent.
func (c *content) at(i int) byterange.Range {
	return byterange.Range{Start: int64(i) * c.length, End: min(int64(i+1)*c.length, c.size)}
}

// enter adds s as a member. here are the ranges of its file that are on disk.
func (c *content) enter(s *Source, here byterange.Set) {
	c.mu.Lock()
	c.members = append(c.members, member{source: s})
	c.mu.Unlock()
	for r := range here.All() {
		c.here(s, r)
	}
}

// exit removes the member s. Bytes that only this member had are then missing.
func (c *content) exit(s *Source) {
	c.gone(s, byterange.Range{Start: 0, End: s.file.Size})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = slices.DeleteFunc(c.members, func(m member) bool { return m.source == s })
}

// here records that r is in the Part of s. It reports whether pieces must be checked.
func (c *content) here(s *Source, r byterange.Range) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.memberOf(s)
	if i < 0 || s.options.Part == nil {
		return false
	}
	c.members[i].here.Add(r)
	before := len(c.checks)
	for p, last := s.pieces(r); p < last; p++ {
		if !c.proven[p] && len(c.jobs[p]) == 0 && c.backed(p) {
			c.checks = append(c.checks, p)
		}
	}
	return len(c.checks) > before
}

// gone records that r is no longer in the Part of s. It reports whether a verified piece was there.
func (c *content) gone(s *Source, r byterange.Range) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.memberOf(s)
	if i < 0 {
		return false
	}
	c.members[i].here.Remove(r)
	for p, last := s.pieces(r); p < last; p++ {
		if c.proven[p] {
			delete(c.proven, p)
			c.stale[p], changed = true, true
		}
	}
	return changed
}

func (c *content) memberOf(s *Source) int {
	return slices.IndexFunc(c.members, func(m member) bool { return m.source == s })
}

// backed reports whether all bytes of piece i are in the Parts of members.
func (c *content) backed(i int) bool {
	r := c.at(i)
	for at := r.Start; at < r.End; {
		m, end := c.holder(at)
		if m == nil {
			return false
		}
		at = end
	}
	return true
}

// holder returns the member whose Part has the byte at an offset of the torrent, and the end of the range with that byte.
func (c *content) holder(at int64) (m *member, end int64) {
	for i := range c.members {
		m := &c.members[i]
		off := at - m.source.file.Offset
		if off < 0 || off >= m.source.file.Size {
			continue
		}
		if gap := m.here.FirstGap(off); gap > off {
			return m, m.source.file.Offset + min(gap, m.source.file.Size)
		}
	}
	return nil, at
}

// read reads bytes of piece i at off. They are in the Parts if these have the whole piece, else in the shelf.
func (c *content) read(i int, p []byte, off int64) (n int, err error) {
	at := int64(i)*c.length + off
	p = p[:min(int64(len(p)), c.at(i).End-at)]
	c.mu.Lock()
	backed := c.backed(i)
	c.mu.Unlock()
	if !backed {
		return c.shelf.ReadAt(i, p, off)
	}
	for n < len(p) && err == nil {
		var k int
		k, err = c.readPart(p[n:], at+int64(n))
		n += k
	}
	return n, err
}

func (c *content) readPart(p []byte, at int64) (int, error) {
	c.mu.Lock()
	m, end := c.holder(at)
	if m == nil {
		c.mu.Unlock()
		return 0, io.ErrUnexpectedEOF
	}
	part, off := m.source.options.Part, at-m.source.file.Offset
	c.mu.Unlock()
	return part.ReadAt(p[:min(int64(len(p)), end-at)], off)
}

// write stores the bytes p of piece i, which a peer sent.
func (c *content) write(i int, p []byte, off int64) (int, error) {
	n, err := c.shelf.WriteAt(i, p, off)
	c.mu.Lock()
	if len(c.jobs[i]) > 0 && c.rough[i] == 0 {
		defer c.jobs[i][0].swarm.finish(i) // after mu is unlocked
	}
	defer c.mu.Unlock()
	if err != nil {
		c.fails(err)
		for _, j := range c.jobs[i] {
			j.note(0)
		}
		return n, err
	}
	c.rough[i] += int64(n)
	for _, j := range c.jobs[i] {
		j.note(int64(n))
	}
	return n, nil
}

// failure returns the error of the scratch file, if any.
func (c *content) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// right passes piece i, which is verified, to the jobs that want it, and waits until they have written it.
func (c *content) right(i int) {
	c.mu.Lock()
	c.proven[i] = true
	jobs := slices.Clone(c.jobs[i])
	c.mu.Unlock()
	for _, j := range jobs {
		j.give(i, c.closed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.backed(i) || len(c.jobs[i]) > 0 { // no Part has it, or a job wants it again
		delete(c.proven, i)
		c.stale[i] = true
	}
	if len(c.jobs[i]) == 0 {
		c.drop(i)
	}
}

// wrong discards the received bytes of piece i.
func (c *content) wrong(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.proven, i)
	for _, j := range c.jobs[i] {
		j.note(-c.rough[i])
	}
	delete(c.rough, i)
}

// drop discards the bytes of piece i in the shelf.
func (c *content) drop(i int) {
	if _, ok := c.rough[i]; !ok {
		return
	}
	delete(c.rough, i)
	c.fails(c.shelf.drop(i))
}

// idle moves incomplete pieces that no job wants any more from memory to the file.
func (c *content) idle(pieces []int) {
	for _, i := range pieces {
		if err := c.shelf.put(i); err != nil {
			c.mu.Lock()
			c.fails(err)
			c.mu.Unlock()
		}
	}
}

// fails records err, an error of the scratch file.
func (c *content) fails(err error) {
	if c.err == nil {
		c.err = err
	}
}

// complete reports whether piece i can be uploaded to peers and no job wants it.
func (c *content) complete(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proven[i] && len(c.jobs[i]) == 0 && c.backed(i)
}

// A piece implements storage.PieceImpl.
type piece struct {
	c *content
	i int
}

func (p piece) WriteAt(b []byte, off int64) (int, error) { return p.c.write(p.i, b, off) }

// ReadAt reads bytes that a peer requested. The library panics if the torrent is closed while it handles an error of
// ReadAt. So ReadAt waits before it returns an error. If the library has ended within lateAnswer, ReadAt returns no
// error, and no peer gets the bytes.
func (p piece) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.c.read(p.i, b, off)
	if err == nil {
		return n, nil
	}
	late := time.NewTimer(lateAnswer)
	defer late.Stop()
	select {
	case <-p.c.over:
		return len(b), nil
	case <-late.C:
		return n, err
	}
}

// lateAnswer is how long an error of a read for a peer is delayed.
const lateAnswer = time.Minute

// WriteTo implements io.WriterTo. It writes the whole piece to w, to compute its digest.
func (p piece) WriteTo(w io.Writer) (n int64, err error) {
	buf := copyBuffers.Get().(*[copySize]byte)
	defer copyBuffers.Put(buf)
	for size := p.c.at(p.i).Len(); n < size; {
		k, err := p.c.read(p.i, buf[:min(copySize, size-n)], n)
		if k > 0 {
			k, err = w.Write(buf[:k])
		}
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// copySize is the size of buffers for copying.
const copySize = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// MarkComplete is called when the digest of a piece is right.
func (p piece) MarkComplete() error {
	p.c.right(p.i)
	return nil
}

// MarkNotComplete is called when the digest of a piece is wrong.
func (p piece) MarkNotComplete() error {
	p.c.wrong(p.i)
	return nil
}

// Completion implements storage.PieceImpl. The state is always known, so that the library hashes nothing at the start.
func (p piece) Completion() storage.Completion {
	return storage.Completion{Ok: true, Complete: p.c.complete(p.i)}
}
