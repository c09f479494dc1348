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

// errChanged says that a file is not the one any more whose digest is known.
var errChanged = errors.New("the file is being changed")

// A stamp tells the versions of a file apart: by its size, when its bytes were changed, which file it is, and when
// anything about it was changed. Programs set the first time as they like. The last one they cannot set, so that it
// tells of a file that was rewritten and got its old time back. Where the system does not say the last two they are
// zero.
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

// written is when the file of s was written last, as far as the system says.
func (s stamp) written() time.Time {
	if s.ChangedSec != 0 {
		return time.Unix(s.ChangedSec, int64(s.ChangedNsec))
	}
	return time.Unix(s.Sec, int64(s.Nsec))
}

// A version is one version of a file, open. Its Read gives bytes of that version only.
type version struct {
	file *os.File
	info fs.FileInfo
	facts
	makes   wants       // what is made for it because it does not lie beside it
	changed atomic.Bool // http.ServeContent may read in another goroutine
}

// Read reads, and then looks whether the file is still the one that was hashed: the system notes the time of
// a change before what was written can be read. Looking before reading would prove nothing.
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

// sameBytes reports whether an open file still has the bytes that it had. What gets or loses a name, as a file does in
// whose place another one is put, has another time of change then, and the same bytes.
func sameBytes(before, now fs.FileInfo) bool {
	a, b := stampOf(before), stampOf(now)
	if fsys.InfoOf(before).Links != fsys.InfoOf(now).Links {
		a.ChangedSec, a.ChangedNsec = b.ChangedSec, b.ChangedNsec
	}
	return a == b
}

func (v *version) Seek(offset int64, whence int) (int64, error) { return v.file.Seek(offset, whence) }

// openTries is how often a file that changes under our hands is looked at again.
const openTries = 3

// open opens the file and learns its digest. The file may have been replaced between the two, and the
// digest must be that of the descriptor from which it will be sent.
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

// serveFile sends a file, or the part of it that was asked for, or says that the client has it already.
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
		s.warn(name, "file changed while it was sent")
		panic(http.ErrAbortHandler) // closes the connection: the client must not take this for the file
	}
}

// identify says which bytes an answer has.
func identify(h http.Header, name string, d verify.Digest) {
	h.Set("ETag", etag(d))
	h.Set("Digest", verify.Field(d))          // V1: "MUST include SHA-256" (RFC 6249, section 1.2)
	h.Set("Repr-Digest", verify.ReprField(d)) // the same for today's clients (RFC 9530)
	// A proxy that compressed the body would make ranges and digests speak of other bytes.
	h.Set("Cache-Control", "no-transform")
	h.Set("X-Content-Type-Options", "nosniff")
	if kind, ok := documentType(name); ok {
		h.Set("Content-Type", kind)
	}
}

// etag is the same for the same bytes on every server (V4), and for no others: a strong validator.
func etag(d verify.Digest) string {
	return `"sha256-` + base64.RawURLEncoding.EncodeToString(d.Bytes()) + `"`
}

// lastModified is the zero time where there is nothing to say: there is no field then, and no date that a client has
// holds. "An origin server with a clock MUST NOT generate a Last-Modified date that is later than the server's time of
// message origination" (RFC 9110, section 8.8.2.1). Nor does a date tell versions apart if the file had two of them
// with it.
func (v *version) lastModified(now time.Time) time.Time {
	if t := v.info.ModTime(); !v.twice && !t.After(now) {
		return t
	}
	return time.Time{}
}

// refuse answers for a file that cannot be served. A client that may not read a file is told that there is none, and
// the owner of the folder why.
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

// outOfOrder says that err speaks of the state of this machine and not of the name.
func outOfOrder(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO},
		func(e error) bool { return errors.Is(err, e) })
}
