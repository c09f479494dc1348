package download

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/verify"
)

// A Store keeps files that are uploaded to it: an object store.
type Store interface {
	// Path is what the file of a name is called in messages and results: "s3://bucket/key".
	Path(name string) string
	// Upload prepares the upload of the file of a name. Nothing is asked or sent before a method of the Upload is called.
	Upload(name string) Upload
}

// An Upload takes a file in parts: in order, each once its bytes were hashed. None is read again. It serves one
// request. Its methods are called one after the other; an error ends the download, as what it says if it is an
// *[Error].
type Upload interface {
	// Existing is the file that is there under the name. If there is none, the error is fs.ErrNotExist.
	Existing(ctx context.Context) (*Existing, error)
	// Resume takes over the parts that an earlier run has uploaded of the first size bytes. State is that of the last
	// of them. There are none if size is 0.
	Resume(ctx context.Context) (size int64, state []byte, err error)
	// PartEnd is where the part ends that begins at off, in a file of size bytes, -1 if that is not known.
	PartEnd(off, size int64) int64
	// Put takes the next part. It may return before the part is uploaded, and waits while others are on their way. An
	// error may be that of an earlier part.
	Put(ctx context.Context, p UploadPart) error
	// Restart gives up all that was put, also by an earlier run. The next part is the first one.
	Restart(ctx context.Context) error
	// Commit makes what was put the file: the Result's proof says that it is the right one. A file that is there
	// already, or has come since Existing was asked, is an fs.ErrExist, unless final replaces the one that Existing has
	// returned.
	Commit(ctx context.Context, final UploadFinal) error
	// Found is called where the file that Existing returned is the right one, as it is: what Commit would leave beside
	// it may be missing.
	Found(ctx context.Context, final UploadFinal)
	// Close ends an upload that was not committed: what was put is kept for the next Resume, or given up. Nothing is
	// read after it.
	Close(keep bool) error
}

// An UploadPart is a part of a file that is uploaded.
type UploadPart struct {
	Start int64
	Bytes *io.SectionReader // can be read until Uploaded is called
	Last  bool              // no part follows
	// URL is that of the file, masked, and Claims what is to be proven of it.
	URL    string
	Claims []verify.Claim
	// State is what a later run needs to go on behind the part. It has no secrets.
	State []byte
	// Uploaded is to be called when the part is uploaded and its state kept.
	Uploaded func()
}

// Existing is a file in a store.
type Existing struct {
	Size    int64
	ModTime time.Time
	Open    func(ctx context.Context) (io.ReadCloser, error)
}

// An UploadFinal says how an upload is committed.
type UploadFinal struct {
	URL     string // that was asked for, masked
	Result  Result
	Replace bool
}

// An uploading is the upload of a getter, of all its sessions. A nil one is none.
type uploading struct {
	to Upload

	mu       sync.Mutex
	identity partfile.Identity // of the file
	signed   []found           // the signatures that are checked
	size     int64             // -1 if it is not known
	front    int64             // where the next part begins
	check    []byte            // the state of the checker there
	uploaded byterange.Set
	freed    int64         // what is before it is uploaded
	moved    chan struct{} // closed when freed changes
	closed   bool
}

func newUploading(to Upload) *uploading {
	return &uploading{to: to, size: -1, moved: make(chan struct{})}
}

// uploadState is what goes on with an upload: which file it is of, and how far its checks are.
type uploadState struct {
	Identity   partfile.Identity `json:"identity"`
	Signatures []savedSignature  `json:"signatures,omitempty"`
	Check      json.RawMessage   `json:"check"`
}

type savedSignature struct {
	From  string `json:"from"`
	Data  []byte `json:"data"`
	Text  bool   `json:"text,omitempty"`
	Maybe bool   `json:"maybe,omitempty"`
}

// describe says which file it is that comes.
func (u *uploading) describe(id partfile.Identity) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.identity, u.size = id, id.Size
}

// begin makes check go on where the next part begins, with the signatures that are checked from there on.
func (u *uploading) begin(check *verify.Checker, signed []found) (from int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.signed = signed
	if u.front == 0 {
		return 0, nil
	}
	return u.front, check.UnmarshalBinary(u.check)
}

// next is where the part ends that is hashed.
func (u *uploading) next() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.to.PartEnd(u.front, u.size)
}

// put uploads what is before pos and was not uploaded yet, if that is a part, or the last one.
func (u *uploading) put(ctx context.Context, from io.ReaderAt, pos int64, check *verify.Checker, moved func(int64),
	last bool) error {
	p, err := u.part(from, pos, check, last)
	if p == nil || err != nil {
		return err
	}
	r := byterange.Range{Start: p.Start, End: pos}
	p.Uploaded = func() { u.release(r, moved) }
	return u.to.Put(ctx, *p)
}

// part is the part that ends at pos; nil if it goes on there.
func (u *uploading) part(from io.ReaderAt, pos int64, check *verify.Checker, last bool) (*UploadPart, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	last = last || pos == u.size
	if pos == u.front || !last && pos < u.to.PartEnd(u.front, u.size) {
		return nil, nil
	}
	p := &UploadPart{
		Start: u.front, Bytes: io.NewSectionReader(from, u.front, pos-u.front), Last: last, URL: u.identity.URL,
		Claims: u.identity.Claims,
	}
	var err error
	if u.check, err = check.MarshalBinary(); err != nil {
		return nil, err
	}
	state := uploadState{Identity: u.identity, Check: u.check}
	for _, f := range u.signed {
		if f.err == nil {
			state.Signatures = append(state.Signatures, savedSignature{f.from, f.data, f.text, f.maybe})
		}
	}
	u.front = pos
	p.State, err = json.Marshal(state)
	return p, err
}

// release notes that r is uploaded, and tells moved up to where all is.
func (u *uploading) release(r byterange.Range, moved func(int64)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return
	}
	u.uploaded.Add(r)
	if front := u.uploaded.FirstGap(u.freed); front > u.freed {
		u.freed = front
		close(u.moved)
		u.moved = make(chan struct{})
		moved(front)
	}
}

// uploadWindow is how far bytes may come ahead of those that are uploaded. What is ahead is on the local disk.
const uploadWindow = 208 << 20

// ahead is the same for an upload whose parts are large.
func (u *uploading) ahead() int64 {
	return max(uploadWindow, 3*(u.to.PartEnd(u.front, u.size)-u.front))
}

// window is how far ahead of what is uploaded ranges are given out; 0: as far as for a file.
func (u *uploading) window() int64 {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ahead()
}

// room waits until bytes that end at end may be written: a range that began in the window may go on behind it, by a quarter.
func (u *uploading) room(ctx context.Context, end int64) error {
	if u == nil {
		return nil
	}
	for {
		u.mu.Lock()
		ahead, moved := u.ahead(), u.moved
		full := end > u.freed+ahead+ahead/4
		u.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begun reports whether a part was given to the store.
func (u *uploading) begun() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.front > 0
}

// released is up to where the file is uploaded.
func (u *uploading) released() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.freed
}

// begins is where the part begins that is hashed.
func (u *uploading) begins() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.front
}

// restart gives up what was uploaded.
func (u *uploading) restart(ctx context.Context) error {
	if u == nil {
		return nil
	}
	err := u.to.Restart(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.front, u.freed, u.check, u.uploaded = 0, 0, nil, byterange.Set{}
	return err
}

// takeOver goes on behind the first size bytes.
func (u *uploading) takeOver(size int64, state uploadState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.front, u.freed, u.check, u.identity = size, size, state.Check, state.Identity
	u.uploaded = byterange.NewSet(byterange.Range{End: size})
}

// end ends an upload that was not committed. Nothing is read any more when it returns.
func (u *uploading) end(keep bool) error {
	if u == nil || u.ended() {
		return nil
	}
	return u.to.Close(keep)
}

func (u *uploading) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.closed
	u.closed = true
	return was
}

// commit makes what was uploaded the file.
func (u *uploading) commit(ctx context.Context, final UploadFinal) error {
	if err := u.to.Commit(ctx, final); err != nil {
		return err
	}
	u.ended()
	return nil
}
