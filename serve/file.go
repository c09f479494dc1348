package serve

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"braid/internal/fsys"
	"braid/verify"
)

// errChanged reports that a file is no longer the version with the known digest.
var errChanged = errors.New("the file is being changed")

// stamp identifies a version of a file by its size, modification time, file ID and change time. Programs can set the
// modification time but not the change time, which therefore reveals a file that was rewritten and given its old
// modification time. File ID and change time are zero if the system does not provide them.
type stamp struct {
	Size        int64  `json:"size"`
	Sec         int64  `json:"sec"`
	Nsec        int    `json:"nsec"`
	ChangedSec  int64  `json:"changed-sec,omitempty"`
	ChangedNsec int    `json:"changed-nsec,omitempty"`
	Device      uint64 `json:"device,omitempty"`
	Inode       uint64 `json:"inode,omitempty"`
}

func stampOf(info fs.FileInfo) stamp {
	of := fsys.InfoOf(info)
	s := stamp{Size: of.Size, Sec: of.ModTime.Unix(), Nsec: of.ModTime.Nanosecond(), Device: of.ID.Dev, Inode: of.ID.Ino}
	if !of.Changed.IsZero() {
		s.ChangedSec, s.ChangedNsec = of.Changed.Unix(), of.Changed.Nanosecond()
	}
	return s
}

// written returns when the file of s was last written, as far as the system reports it.
func (s stamp) written() time.Time {
	if s.ChangedSec != 0 {
		return time.Unix(s.ChangedSec, int64(s.ChangedNsec))
	}
	return time.Unix(s.Sec, int64(s.Nsec))
}

// version is an open file in one version. Its Read method returns only bytes of that version.
type version struct {
	file *os.File
	info fs.FileInfo
	facts
	makes   wants       // documents that are generated because no such document is beside the file
	changed atomic.Bool // http.ServeContent may read in another goroutine
}

// Read reads, and then checks that the file is still the version that was hashed. The system updates the change time
// before written bytes can be read. So the check must follow the reading.
func (v *version) Read(p []byte) (int, error) {
	n, err := v.file.Read(p)
	info, statErr := v.file.Stat()
	if statErr != nil {
		return 0, statErr
	}
	if !sameBytes(v.info, info) {
		v.changed.Store(true)
		return 0, errChanged
	}
	return n, err
}

// sameBytes reports whether an open file still has the same bytes. A file that gains or loses a name, for example
// because another file replaced it, gets a new change time but keeps its bytes.
func sameBytes(before, now fs.FileInfo) bool {
	a, b := stampOf(before), stampOf(now)
	if fsys.InfoOf(before).Links != fsys.InfoOf(now).Links {
		a.ChangedSec, a.ChangedNsec = b.ChangedSec, b.ChangedNsec
	}
	return a == b
}

func (v *version) Seek(offset int64, whence int) (int64, error) { return v.file.Seek(offset, whence) }

// openTries is the number of attempts to open a file that is being changed.
const openTries = 3

// open opens the file name and determines its digest. If the file is replaced between these two steps, open tries
// again, because the digest must be that of the opened file.
func (s *Server) open(ctx context.Context, name string) (*version, error) {
	for range openTries - 1 {
		v, err := s.openOnce(ctx, name)
		if !errors.Is(err, errChanged) {
			return v, err
		}
	}
	return s.openOnce(ctx, name)
}

func (s *Server) openOnce(ctx context.Context, name string) (*version, error) {
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	v := &version{file: f, makes: s.makes(name)}
	if v.info, err = f.Stat(); err == nil {
		v.facts, err = s.digests.of(ctx, name, v.info, v.makes)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return v, nil
}

// serveFile sends a file or the requested part of it, or reports that the client's copy is current.
func (s *Server) serveFile(res *response, r *http.Request, name string) {
	v, err := s.open(r.Context(), name)
	if err != nil {
		s.refuse(res, name, err)
		return
	}
	defer v.file.Close()
	h := res.Header()
	identify(h, name, v.digest)
	for _, link := range s.links(r, name, v) {
		h.Add("Link", link)
	}
	now := time.Now()
	if !dateHolds(r, now) {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	http.ServeContent(res, withRanges(r, v.info.Size()), path.Base(name), v.lastModified(now), v)
	if v.changed.Load() {
		s.warn(name, "the file changed while it was sent")
		panic(http.ErrAbortHandler) // closes the connection, so that the client does not accept the truncated body
	}
}

// identify sets the header fields that identify the bytes of an answer.
func identify(h http.Header, name string, d verify.Digest) {
	h.Set("ETag", etag(d))
	h.Set("Digest", verify.Field(d))          // V1: "MUST include SHA-256" (RFC 6249, section 1.2)
	h.Set("Repr-Digest", verify.ReprField(d)) // the same for current clients (RFC 9530)
	// If a proxy compressed the body, ranges and digests would refer to other bytes.
	h.Set("Cache-Control", "no-transform")
	h.Set("X-Content-Type-Options", "nosniff")
	if kind, ok := documentType(name); ok {
		h.Set("Content-Type", kind)
	}
}

// etag returns a strong validator: on every server, equal bytes have the same validator (V4), and different bytes have
// different ones.
func etag(d verify.Digest) string {
	return `"sha256-` + base64.RawURLEncoding.EncodeToString(d.Bytes()) + `"`
}

// lastModified returns the value of Last-Modified. It returns the zero time if the field must be left out, so that no
// date in a condition matches. "An origin server with a clock MUST NOT generate a Last-Modified date that is later than
// the server's time of message origination" (RFC 9110, section 8.8.2.1). If the file had two versions with one date,
// the date identifies neither.
func (v *version) lastModified(now time.Time) time.Time {
	if t := v.info.ModTime(); !v.twice && !t.After(now) {
		return t
	}
	return time.Time{}
}

// refuse answers a request for a file that cannot be served. A client gets a 404 for a file without permission, and the
// reason is logged for the owner of the folder.
func (s *Server) refuse(res *response, name string, err error) {
	busy := errors.Is(err, errChanged) || errors.Is(err, errClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	broken := outOfOrder(err)
	if broken || errors.Is(err, fs.ErrPermission) {
		s.warn(name, "cannot read: "+err.Error())
	}
	if busy || broken {
		res.fail(http.StatusServiceUnavailable)
		return
	}
	res.fail(http.StatusNotFound)
}

// outOfOrder reports whether err is about the state of this machine and not about the name.
func outOfOrder(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO},
		func(e error) bool { return errors.Is(err, e) })
}
