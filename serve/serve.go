// Package serve is a Metalink/HTTP server (RFC 6249) over a folder. Each file goes out with its SHA-256 in
// Digest and Repr-Digest, an ETag made from the same hash, which mirrors of the same bytes share without
// talking to each other, and Link fields that name mirrors, signatures and other documents.
//
// It is an [http.Handler] and refuses to be more: it opens no socket, reads no configuration, writes nothing into the
// folder and runs nothing. Names that begin with a dot, names that could fool a reader symbolic links that lead out of
// the folder and the files of unfinished downloads (NAME.part) do not exist for it. A folder is answered with a plain
// list of its files; index.html is a file like any other.
//
//	s, err := serve.New("/srv/pub", serve.Options{Mirrors: mirrors})
//	...
//	defer s.Close()
//	err = serve.HTTPServer(s).Serve(listener)
package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/metalink"
)

// defaultMaxLinks is how many mirrors are named where Options does not say.
const defaultMaxLinks = 50

// Options says how a folder is served. The zero value serves it without mirrors.
type Options struct {
	// Mirrors have copies of the folder or of files in it.
	Mirrors []Mirror
	// MaxLinks limits the mirrors that one answer names, those with the lowest pri first. If zero, it is
	// defaultMaxLinks; if negative, none is named.
	MaxLinks int
	// MirrorOf is the URL under which the Metalink server that this is a mirror of has the folder. Answers
	// then name the original as rel=canonical and no mirrors, which clients would have to discard anyway.
	// If nil, this server is not a mirror.
	MirrorOf *url.URL
	// Meta4 has a Metalink document (RFC 5854) with the digests of pieces made for each file that has none beside it.
	// Files are then hashed twice in the one pass.
	Meta4 bool
	// URL is where clients find the folder, for documents that are made. If nil, it is where each client asked: right
	// unless a proxy speaks TLS for this server or puts the folder elsewhere.
	URL *url.URL
	// SecretKey signs what has no signature beside it: an export of one OpenPGP key, which Passphrase unlocks if
	// it is locked. If empty, nothing is signed.
	SecretKey, Passphrase []byte
	// Rate limits the bytes per second of all bodies together, for demonstrations. If zero, there is no limit.
	Rate int64
	// CacheFile keeps the digests of the folder's files from one run to the next. It must lie outside the
	// folder or have a name that begins with a dot. If empty, files are hashed again in each run.
	CacheFile string
	// Log gets one line for each finished request, and what the owner of the folder should know. If nil,
	// nothing is logged.
	Log *slog.Logger
}

const (
	// stallTimeout is how long a client may take no byte at all before its connection is closed.
	stallTimeout = time.Minute
	// slowest is how many bytes a second a client has to take in the mean, beside stallTimeout once.
	slowest = 2 << 10
	// bodyTime is how long a client may take to send a body that is not read, when its answer is sent.
	bodyTime = time.Second
)

// A Server serves one folder. It may be used by many goroutines at once.
type Server struct {
	root      *os.Root
	mirrors   []Mirror // by pri
	maxLinks  int
	mirrorOf  *url.URL // with a slash at the end, or nil
	meta4     bool
	self      *url.URL // with a slash at the end, or nil
	pacer     *pacer   // nil: no limit
	stall     time.Duration
	log       *slog.Logger
	digests   *digests
	documents documents
	pages     pages
}

// New makes a server of the folder dir.
func New(dir string, o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	by, err := newSigner(o.SecretKey, o.Passphrase)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	s := &Server{
		root:     root,
		mirrors:  slices.Clone(o.Mirrors),
		maxLinks: o.MaxLinks,
		mirrorOf: asFolder(o.MirrorOf),
		meta4:    o.Meta4,
		self:     asFolder(o.URL),
		stall:    stallTimeout,
		log:      o.Log,
	}
	slices.SortStableFunc(s.mirrors, byPriority)
	if s.maxLinks == 0 {
		s.maxLinks = defaultMaxLinks
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Rate > 0 {
		s.pacer = &pacer{rate: o.Rate}
	}
	s.digests = newDigests(root, folder, o.CacheFile, by, s.log)
	return s, nil
}

func (o Options) check() error {
	if o.Rate < 0 {
		return fmt.Errorf("rate %d is negative", o.Rate)
	}
	for _, m := range o.Mirrors {
		if err := m.check(); err != nil {
			return err
		}
	}
	if o.URL != nil {
		if err := checkURL(o.URL); err != nil {
			return err
		}
	}
	if o.MirrorOf == nil {
		return nil
	}
	if len(o.Mirrors) > 0 {
		return fmt.Errorf("a mirror of another server names no mirrors of its own")
	}
	if s := address.SchemeOf(o.MirrorOf); s.NoDocuments {
		return fmt.Errorf("mirror of an %s server: a Metalink server speaks http or https", s.Family)
	}
	return checkURL(o.MirrorOf)
}

// asFolder is u with a slash at the end.
func asFolder(u *url.URL) *url.URL {
	if u == nil || strings.HasSuffix(u.EscapedPath(), "/") {
		return u
	}
	return u.JoinPath("/")
}

// Close stops hashing, waits for it and writes the cache file. Requests that still come are answered with
// 503: shut the http.Server down first.
func (s *Server) Close() error {
	s.digests.close()
	return s.root.Close()
}

// HTTPServer is an http.Server for h whose limits suit large files and strangers: a client has to send its header
// fields soon, and what a Server sends it has to take, slowly if it must. LimitListener is beside it for how many there
// may be.
func HTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// ServeHTTP answers one request and logs it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := newResponse(w, r, s.pacer, s.stall)
	defer s.logRequest(r, res)
	if r.ContentLength != 0 {
		// No body is read here. It is not waited for; and of a request with both Content-Length and Transfer-Encoding "the server
		// MUST close the connection after responding" (RFC 9112, section 6.1).
		res.Header().Set("Connection", "close")
		defer res.dropBody()
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		res.Header().Set("Allow", "GET, HEAD")
		res.fail(http.StatusMethodNotAllowed)
		return
	}
	name, slash, ok := requestPath(r.URL)
	if !ok || !spelled(s.root, name) {
		res.fail(http.StatusNotFound)
		return
	}
	info, err := s.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !slash:
		s.digests.forget(name)
		s.serveMade(res, r, name)
	case err != nil:
		s.refuse(res, name, err)
	case info.IsDir() && slash:
		s.list(res, r, name)
	case info.IsDir():
		res.Header().Set("Location", escapePath(path.Base(name))+"/")
		res.fail(http.StatusMovedPermanently)
	case info.Mode().IsRegular() && !slash && !metalink.IsOwn(path.Base(name)):
		s.serveFile(res, r, name)
	default: // a device, a pipe (whose opening would wait for a writer), or a file asked for as a folder
		res.fail(http.StatusNotFound)
	}
}

// logRequest writes the line of a finished request. The query is left out: it may hold a secret (rule 62).
func (s *Server) logRequest(r *http.Request, res *response) {
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", printable(r.Method)),
		slog.String("path", printable(r.URL.EscapedPath())),
		slog.Int("status", res.status),
		slog.Int64("bytes", res.sent),
		slog.String("range", printable(r.Header.Get("Range"))))
}

// warn tells the owner of the folder something about a file.
func (s *Server) warn(file, message string) {
	s.log.Warn(printable(message), slog.String("file", printable(file)))
}
