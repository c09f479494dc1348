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

// A content is what is known of the bytes of a torrent, as a storage for the library. What comes from peers is on the
// shelf until it is proven and written by the jobs that want it. What is in the parts of members is read there. Its
// mutex is held by calls of the library, which has its own lock then: the library is never called with the mutex.
type content struct {
	length, size int64 // of a piece, of all
	shelf        *shelf
	closed       chan struct{} // when the library begins to end
	over         chan struct{} // when it has ended, and nothing is sent any more

	mu      sync.Mutex
	members []member
	jobs    map[int][]*job // that want a piece
	proven  map[int]bool   // pieces whose digest was right
	rough   map[int]int64  // pieces with bytes on the shelf: how many
	stale   map[int]bool   // pieces of which the library has to ask again whether they are here
	checks  []int          // pieces that are in parts, and were not checked
	err     error          // of the scratch file
}

// A member is a file that a source stands for.
type member struct {
	source *Source
	here   byterange.Set // in its part
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

// at is the range of a piece in the torrent.
func (c *content) at(i int) byterange.Range {
	return byterange.Range{Start: int64(i) * c.length, End: min(int64(i+1)*c.length, c.size)}
}

// enter makes a source a member, with what is here of its file.
func (c *content) enter(s *Source, here byterange.Set) {
	c.mu.Lock()
	c.members = append(c.members, member{source: s})
	c.mu.Unlock()
	for r := range here.All() {
		c.here(s, r)
	}
}

// exit forgets a member. What only it had is not here any more.
func (c *content) exit(s *Source) {
	c.gone(s, byterange.Range{Start: 0, End: s.file.Size})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = slices.DeleteFunc(c.members, func(m member) bool { return m.source == s })
}

// here notes that bytes are in the part of a member, and tells whether there is something to check now.
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

// gone notes that bytes are in the part of a member no more.
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

// backed says that all of a piece is in parts.
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

// holder is the member whose part has the byte at an offset of the torrent, and up to where it has what follows.
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

// read fills p with bytes of piece i from off on: from the parts if they have all of it, else from the shelf.
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

// write takes what came of a piece from a peer.
func (c *content) write(i int, p []byte, off int64) (int, error) {
	n, err := c.shelf.WriteAt(i, p, off)
	c.mu.Lock()
	if len(c.jobs[i]) > 0 && c.rough[i] == 0 {
		defer c.jobs[i][0].swarm.finish(i) // without the mutex
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

// failure is why nothing more can be kept.
func (c *content) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// right gives a piece that is right to the jobs that want it, and waits until they have written it.
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
	if !c.backed(i) || len(c.jobs[i]) > 0 { // no part has it, or a job wants it anew
		delete(c.proven, i)
		c.stale[i] = true
	}
	if len(c.jobs[i]) == 0 {
		c.drop(i)
	}
}

// wrong forgets what came of a piece.
func (c *content) wrong(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.proven, i)
	for _, j := range c.jobs[i] {
		j.note(-c.rough[i])
	}
	delete(c.rough, i)
}

// drop gives the room of a piece on the shelf back.
func (c *content) drop(i int) {
	if _, ok := c.rough[i]; !ok {
		return
	}
	delete(c.rough, i)
	c.fails(c.shelf.drop(i))
}

// idle is told of pieces that no job waits for any more, and that are not complete.
func (c *content) idle(pieces []int) {
	for _, i := range pieces {
		if err := c.shelf.put(i); err != nil {
			c.mu.Lock()
			c.fails(err)
			c.mu.Unlock()
		}
	}
}

// fails notes that the scratch file does, if it does.
func (c *content) fails(err error) {
	if c.err == nil {
		c.err = err
	}
}

// complete says whether peers can have a piece, and we want it no more.
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

// ReadAt reads for a peer. The library ends the program when such a read fails and the torrent is closed before it has
// heard of it. So what cannot be read is answered late: when all is over, where the answer reaches no peer.
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

// lateAnswer is after how long a peer hears that we have not what it was told that we have.
const lateAnswer = time.Minute

// WriteTo implements io.WriterTo: all of a piece, for its digest.
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

// Bytes are copied in these.
const copySize = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// MarkComplete is called when the digest of a piece is right.
func (p piece) MarkComplete() error {
	p.c.right(p.i)
	return nil
}

// MarkNotComplete is called when it is wrong.
func (p piece) MarkNotComplete() error {
	p.c.wrong(p.i)
	return nil
}

// Completion implements storage.PieceImpl. It is always known: nothing is to be hashed at the start.
func (p piece) Completion() storage.Completion {
	return storage.Completion{Ok: true, Complete: p.c.complete(p.i)}
}
