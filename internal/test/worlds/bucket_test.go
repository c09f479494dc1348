package worlds

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"braid/download"
)

// partSize is the size of the parts of an upload.
const partSize = 32 << 10

// A bucket is an object store with at most one object. It keeps the parts of an upload from one command to the next.
type bucket struct {
	mu       sync.Mutex
	object   []byte // nil: none
	modified time.Time
	parts    []byte // of an upload that was not committed
	state    []byte // of the last part
}

// clone returns what is left of b after a kill.
func (b *bucket) clone() *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &bucket{object: b.object, modified: b.modified, parts: bytes.Clone(b.parts), state: b.state}
}

// damage is what happens before a command.
func (b *bucket) damage(what string) {
	switch {
	case what == "remove":
		b.object = nil
	case what == "final" && b.object != nil:
		b.object = bytes.Clone(b.object)
		b.object[len(b.object)/3] ^= 0xff
	}
}

// A putting is the upload of one command. It implements download.Store and download.Upload.
type putting struct {
	*bucket
	tick    func(event string, n int)
	resumed bool // it has the parts
}

func (p *putting) Path(name string) string            { return "s3://bucket/" + name }
func (p *putting) Upload(name string) download.Upload { p.resumed = false; return p }

func (p *putting) Existing(context.Context) (*download.Existing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.object == nil {
		return nil, fs.ErrNotExist
	}
	data := p.object
	return &download.Existing{Size: int64(len(data)), ModTime: p.modified, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}, nil
}

func (p *putting) Resume(context.Context) (int64, []byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resumed = true
	return int64(len(p.parts)), p.state, nil
}

func (p *putting) PartEnd(off, size int64) int64 {
	if end := (off/partSize + 1) * partSize; size < 0 || end < size {
		return end
	}
	return size
}

func (p *putting) Put(ctx context.Context, part download.UploadPart) error {
	data, err := io.ReadAll(part.Bytes)
	if err != nil {
		return err
	}
	p.tick("put", 1)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.mu.Lock()
	if int64(len(p.parts)) != part.Start {
		p.mu.Unlock()
		return errors.New("a part in the wrong place")
	}
	p.parts, p.state = append(p.parts, data...), part.State
	p.mu.Unlock()
	part.Uploaded()
	return nil
}

func (p *putting) Restart(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed { // otherwise they are not this command's
		p.parts, p.state = nil, nil
	}
	return nil
}

func (p *putting) Commit(ctx context.Context, final download.UploadFinal) error {
	p.tick("put", 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.object != nil && !final.Replace:
		return fs.ErrExist
	}
	p.object, p.modified, p.parts, p.state = p.parts, time.Now(), nil, nil
	if p.object == nil {
		p.object = []byte{}
	}
	return nil
}

func (p *putting) Found(context.Context, download.UploadFinal) {}

func (p *putting) Keep(size int64, state []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts, p.state = p.parts[:size], state
	return nil
}

func (p *putting) Close() error { return nil }

// uploads makes the commands of a twelfth of the worlds put the file into an object store, and all commands where one
// does.
func (m *maker) uploads() {
	if !m.one(12) && !slices.ContainsFunc(m.w.Commands, func(c Command) bool { return c.Store }) {
		return
	}
	for k := range m.w.Commands {
		c := &m.w.Commands[k]
		if c.Store = true; c.Do == "resume" || c.Do == "repair" {
			c.Do = "get"
		}
		c.Rename, c.Continue, c.Refresh, c.Pipe = false, false, false, false
		if c.Turn {
			c.Turn, c.Older, c.Newer = false, false, true
		}
		switch event := parseMoment(c.End); {
		case c.Damage == "part" || c.Damage == "journal":
			c.Damage = ""
		case event.event != "bytes" && event.event != "asked" && event.event != "":
			c.End = event.how + ":put:" + pick(m, "1", "2", "3", "5")
		}
	}
}
