package download

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/verify"
)

// A Store keeps uploaded files, for example an object store.
type Store interface {
	// Path returns the path of the named file for messages and results: "s3://bucket/key".
	Path(name string) string
	// Upload prepares the upload of the named file. It sends no request before a method of the Upload is called.
	Upload(name string) Upload
}

// An Upload receives a file in parts, in order. A part is uploaded after its bytes were hashed, and is not read again.
// An Upload serves one request. Its methods are called one after another. An error ends the download, with that error
// if it is an *[Error].
type Upload interface {
	// Existing returns the existing file of that name. Without one, the error is fs.ErrNotExist.
	Existing(ctx context.Context) (*Existing, error)
	// Resume continues an upload of an earlier run, whose parts have the first size bytes. state is the
	// UploadPart.State of the last of these parts, or what Keep has put in its place. If size is 0, no part was uploaded.
	Resume(ctx context.Context) (size int64, state []byte, err error)
	// PartEnd returns the end of the part that begins at off, in a file of size bytes (-1: unknown).
	PartEnd(off, size int64) int64
	// Put uploads the next part. It may return before the part is uploaded, and may block while other parts are in
	// progress. The error may be about an earlier part.
	Put(ctx context.Context, p UploadPart) error
	// Restart discards all parts, also those of an earlier run. The next part is the first one.
	Restart(ctx context.Context) error
	// Commit makes the file from the uploaded parts. final.Result.Proof proves them. If a file exists, the error is
	// fs.ErrExist, unless final.Replace is set and the file is the one that Existing returned.
	Commit(ctx context.Context, final UploadFinal) error
	// Found is called if the file that Existing returned is the right file. Found may add files that Commit would store
	// beside that file.
	Found(ctx context.Context, final UploadFinal)
	// Keep makes the next Resume return size and state, in place of the UploadPart.State of the part that ends at size.
	// Later parts are discarded. No method but Close is called after Keep.
	Keep(size int64, state []byte) error
	// Close ends an upload that was not committed. Its parts stay. After Close, no bytes are read.
	Close() error
}

// An UploadPart is a part of a file to be uploaded.
type UploadPart struct {
	Start int64
	Bytes *io.SectionReader // can be read until Uploaded is called
	Last  bool              // no part follows
	// URL is the URL of the file, masked. Claims are the claims that the file must have.
	URL    string
	Claims []verify.Claim
	// State is stored for Resume, so that a later run can continue after the part. It has no secrets.
	State []byte
	// Uploaded must be called by the Upload once the part is uploaded and State is stored.
	Uploaded func()
}

// An Existing is a file in a store.
type Existing struct {
	Size    int64
	ModTime time.Time
	Open    func(ctx context.Context) (io.ReadCloser, error)
}

// An UploadFinal describes how an upload is committed.
type UploadFinal struct {
	URL     string // the requested URL, masked
	Result  Result
	Replace bool
}

// An uploading is the upload of a getter, for all its sessions. It is nil without a Store.
type uploading struct {
	to Upload

	mu       sync.Mutex
	identity partfile.Identity // facts about the file
	signed   []found           // the signatures that are checked
	size     int64             // -1 if unknown
	front    int64             // offset of the next part
	checks   map[int64][]byte  // states of the checker at the ends of parts, from freed to front
	uploaded byterange.Set
	freed    int64         // all bytes before this offset are uploaded
	moved    chan struct{} // closed when freed changes
	closed   bool
}

// uploadState is the content of UploadPart.State: the facts about the file, and the state of its checks.
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

// describe records id, the facts about the uploaded file.
func (u *uploading) describe(id partfile.Identity) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.identity, u.size = id, id.Size
}

// recorded returns the facts that the record of the uploaded parts has.
func (u *uploading) recorded() partfile.Identity {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.identity
}

// begin restores the state of check at the beginning of the next part, and returns that offset. signed are the
// signatures that check includes.
func (u *uploading) begin(check *verify.Checker, signed []found) (from int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.signed = signed
	if u.front == 0 {
		return 0, nil
	}
	return u.front, check.UnmarshalBinary(u.checks[u.front])
}

// next returns the end of the part being hashed, in a file of size bytes (-1: unknown).
func (u *uploading) next(size int64) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.to.PartEnd(u.front, size)
}

// put uploads the bytes before pos that were not uploaded yet, if they are a complete part of a file of size bytes (-1:
// unknown).
func (u *uploading) put(ctx context.Context, from io.ReaderAt, pos, size int64, check *verify.Checker, moved func(int64)) error {
	p, err := u.part(from, pos, size, check)
	if p == nil || err != nil {
		return err
	}
	r := byterange.Range{Start: p.Start, End: pos}
	p.Uploaded = func() { u.release(r, moved) }
	return u.to.Put(ctx, *p)
}

// part returns the part that ends at pos, or nil if the part is not complete there.
func (u *uploading) part(from io.ReaderAt, pos, size int64, check *verify.Checker) (*UploadPart, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := pos == size
	if pos == u.front || !last && pos < u.to.PartEnd(u.front, size) {
		return nil, nil
	}
	p := &UploadPart{
		Start: u.front, Bytes: io.NewSectionReader(from, u.front, pos-u.front), Last: last, URL: u.identity.URL,
		Claims: u.identity.Claims,
	}
	sum, err := check.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if u.front = pos; u.checks == nil {
		u.checks = map[int64][]byte{}
	}
	u.checks[pos] = sum
	p.State, err = u.state(pos)
	return p, err
}

// state returns what is stored with the part that ends at pos. The mutex is held.
func (u *uploading) state(pos int64) ([]byte, error) {
	state := uploadState{Identity: u.identity, Check: u.checks[pos]}
	for _, f := range u.signed {
		if f.err == nil {
			state.Signatures = append(state.Signatures, savedSignature{f.from, f.data, f.text, f.maybe})
		}
	}
	return json.Marshal(state)
}

// release records that r is uploaded, and calls moved with the end of the uploaded bytes.
func (u *uploading) release(r byterange.Range, moved func(int64)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return
	}
	u.uploaded.Add(r)
	if front := u.uploaded.FirstGap(u.freed); front > u.freed {
		maps.DeleteFunc(u.checks, func(pos int64, _ []byte) bool { return pos < front })
		u.freed = front
		close(u.moved)
		u.moved = make(chan struct{})
		moved(front)
	}
}

// uploadWindow is how far received bytes, which are on the local disk, may be ahead of the uploaded bytes.
const uploadWindow = 208 << 20

// ahead returns uploadWindow, or more for an upload in large parts.
func (u *uploading) ahead() int64 {
	return max(uploadWindow, 3*(u.to.PartEnd(u.front, u.size)-u.front))
}

// window returns how far ahead of the uploaded bytes ranges are assigned. It returns 0 without an upload.
func (u *uploading) window() int64 {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ahead()
}

// room blocks until bytes up to end may be written: at most one and a quarter windows ahead of the uploaded bytes.
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

// released returns the offset before which all bytes are uploaded.
func (u *uploading) released() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.freed
}

// begins returns the offset of the part that is being hashed.
func (u *uploading) begins() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.front
}

// restart discards the uploaded parts.
func (u *uploading) restart(ctx context.Context) error {
	if u == nil {
		return nil
	}
	err := u.to.Restart(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.front, u.freed, u.checks, u.uploaded = 0, 0, nil, byterange.Set{}
	return err
}

// takeOver makes the upload continue after the first size bytes, which an earlier run uploaded.
func (u *uploading) takeOver(size int64, state uploadState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.front, u.freed, u.identity = size, size, state.Identity
	u.checks, u.uploaded = map[int64][]byte{size: state.Check}, byterange.NewSet(byterange.Range{End: size})
}

// end ends an upload that was not committed. If keep is set, the parts are kept for a later run, with the facts that
// amend has changed.
func (u *uploading) end(keep bool, amend func(*partfile.Identity)) error {
	if u == nil || u.ended() {
		return nil
	}
	u.mu.Lock()
	size := u.freed
	u.mu.Unlock()
	switch {
	case !keep:
		return errors.Join(u.to.Restart(context.Background()), u.to.Close())
	case size == 0: // no part is uploaded; to end the upload would take time
		return u.to.Close()
	}
	amend(&u.identity)
	state, err := u.state(size)
	if err == nil {
		err = u.to.Keep(size, state)
	}
	return errors.Join(err, u.to.Close())
}

// close ends an upload whose parts were not looked at.
func (u *uploading) close() error {
	u.ended()
	return u.to.Close()
}

func (u *uploading) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.closed
	u.closed = true
	return was
}

// commit makes the file from the uploaded parts.
func (u *uploading) commit(ctx context.Context, final UploadFinal) error {
	if err := u.to.Commit(ctx, final); err != nil {
		return err
	}
	u.ended()
	return nil
}
