// Package serve is a Metalink/HTTP server (RFC 6249) for a folder. It sends each file with its SHA-256 in Digest and
// Repr-Digest and with an ETag derived from the same hash, so that mirrors of the same bytes send the same ETag without
// coordination. Link fields name mirrors, signatures and other documents.
//
// The package provides an [http.Handler] and nothing more: it opens no socket, reads no configuration, writes nothing
// into the folder and executes nothing. It does not serve names that begin with a dot, names that could mislead a
// reader, symbolic links that lead out of the folder, and the files of unfinished downloads (NAME.part). The answer for
// a folder is a plain list of its files; index.html is an ordinary file. SHA256SUMS in a folder that has none is generated
// from the digests of its files.
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

// defaultMaxLinks is the default of Options.MaxLinks.
const defaultMaxLinks = 50

// Options configures how a folder is served. The zero value serves it without mirrors.
type Options struct {
	// Mirrors are copies of the folder or of files in it.
	Mirrors []Mirror
	// MaxLinks limits the number of mirrors that one response lists. Mirrors with the lowest pri come first. If
	// MaxLinks is zero, the limit is 50. If it is negative, no mirror is listed.
	MaxLinks int
	// MirrorOf is the URL of the folder on the Metalink server that this server is a mirror of. Responses then link to
	// the original with rel=canonical. They list no mirrors, because clients must discard mirrors that a mirror lists.
	// If nil, this server is not a mirror.
	MirrorOf *url.URL
	// Meta4 enables the generation of a Metalink document (RFC 5854) with digests of pieces for each file that has no
	// such document beside it. The file and its pieces are hashed in one pass.
	Meta4 bool
	// URL is the public URL of the folder, for generated documents. If nil, the URL is derived from each request, which
	// is wrong if a proxy provides TLS for this server or changes the path.
	URL *url.URL
	// SecretKey is the file of a secret key, of OpenPGP (one exported key) or minisign. It signs the files that have no
	// signature. Passphrase unlocks the key if it is locked. If SecretKey is empty, nothing is signed.
	SecretKey, Passphrase []byte
	// Rate limits the bytes per second of all bodies together, for demonstrations. If zero, there is no limit.
	Rate int64
	// CacheFile stores the digests of the folder's files between runs. It must be outside the folder or have a name
	// that begins with a dot. If empty, files are hashed again in each run.
	CacheFile string
	// Log receives one line for each finished request, and messages for the owner of the folder. If nil, nothing is
	// logged.
	Log *slog.Logger
}

const (
	// stallTimeout is the time after which the connection of a client that accepts no data is closed.
	stallTimeout = time.Minute
	// slowest is the minimum mean speed of a client in bytes per second. The first stallTimeout is not counted.
	slowest = 2 << 10
	// bodyTime limits how long the server waits, after its response, for a request body. The body is discarded.
	bodyTime = time.Second
)

// Server serves one folder. It is safe for concurrent use.
type Server struct {
	root      *os.Root
	mirrors   []Mirror // sorted by pri
	maxLinks  int
	mirrorOf  *url.URL // with a slash at the end, or nil
	meta4     bool
	self      *url.URL // with a slash at the end, or nil
	pacer     *pacer   // nil without a limit
	stall     time.Duration
	sumsTime  time.Duration // sumsTime, shorter in tests
	log       *slog.Logger
	digests   *digests
	documents documents
	pages     pages
}

// New returns a server for the folder dir.
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
		sumsTime: sumsTime,
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
		return fmt.Errorf("a mirror of another server cannot name mirrors")
	}
	if s := address.SchemeOf(o.MirrorOf); s.NoDocuments {
		return fmt.Errorf("a mirror of an %s server is not possible: a Metalink server speaks http or https", s.Family)
	}
	return checkURL(o.MirrorOf)
}

// asFolder returns u with a slash at the end.
func asFolder(u *url.URL) *url.URL {
	if u == nil || strings.HasSuffix(u.EscapedPath(), "/") {
		return u
	}
	return u.JoinPath("/")
}

// Close stops hashing, waits for it and writes the cache file. Later requests are answered with 503, so the http.Server
// should be shut down first.
func (s *Server) Close() error {
	s.digests.close()
	return s.root.Close()
}

// HTTPServer returns an http.Server for h with limits that suit large files and untrusted clients: a client must send
// its header fields soon, but may receive files slowly from a Server. LimitListener limits the number of connections.
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
		// Request bodies are not read or waited for. After a request with both Content-Length and Transfer-Encoding
		// "the server MUST close the connection after responding" (RFC 9112, section 6.1).
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
	default: // a device, a pipe (opening it would block), or a file requested as a folder
		res.fail(http.StatusNotFound)
	}
}

// logRequest logs a finished request, without the query, which may contain a secret (rule 62).
func (s *Server) logRequest(r *http.Request, res *response) {
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", printable(r.Method)),
		slog.String("path", printable(r.URL.EscapedPath())),
		slog.Int("status", res.status),
		slog.Int64("bytes", res.sent),
		slog.String("range", printable(r.Header.Get("Range"))))
}

// warn logs a message about a file for the owner of the folder.
func (s *Server) warn(file, message string) {
	s.log.Warn(printable(message), slog.String("file", printable(file)))
}
