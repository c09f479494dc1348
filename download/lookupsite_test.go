package download_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/download"
)

// A folderSite is a server of a folder that sends no digests. It lists what it has, and remembers what was asked for.
type folderSite struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string
	kinds map[string]string // media types
	tags  map[string]string // ETags
	asked []string
	index bool // it lists /pub/
	other http.HandlerFunc
}

// newFolderSite makes a folderSite of pairs of name and content, of which the first is the file that is downloaded.
func newFolderSite(t *testing.T, pairs ...string) *folderSite {
	s := &folderSite{files: map[string]string{}, kinds: map[string]string{}, tags: map[string]string{}, index: true}
	for i := 0; i < len(pairs); i += 2 {
		s.files[pairs[i]] = pairs[i+1]
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *folderSite) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	name, below := strings.CutPrefix(q.URL.Path, "/pub/")
	if q.Method != http.MethodHead {
		s.asked = append(s.asked, name)
	}
	content, ok := s.files[name]
	other := s.other
	if name == "" && below && s.index {
		ok = true
		content = "<html><title>Index of /pub/</title><a href=\"../\">../</a>"
		for n := range s.files {
			content += fmt.Sprintf("<a href=%q>%.10s..&gt;</a>", n, n)
		}
	}
	kind, tag := s.kinds[name], s.tags[name]
	s.mu.Unlock()
	if !ok && other != nil {
		other(w, q)
		return
	}
	if !ok {
		http.NotFound(w, q)
		return
	}
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	http.ServeContent(w, q, "", time.Time{}, strings.NewReader(content))
}

// put replaces a file and its ETag.
func (s *folderSite) put(name, content, tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name], s.tags[name] = content, tag
}

// fail makes the server fail to send a list and the index. Only requests for file are answered as before.
func (s *folderSite) fail(list, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, list)
	before := s.other
	s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
		if before != nil && strings.HasSuffix(q.URL.Path, "/"+file) {
			before(w, q)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// requests are the names that were asked for, in alphabetical order and without the file.
func (s *folderSite) requests(file string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.DeleteFunc(slices.Clone(s.asked), func(n string) bool { return n == file })
	for i, n := range names {
		if n == "" {
			names[i] = "INDEX"
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// lookingUp is a run that looks for the digest of a file of the site.
func lookingUp(t *testing.T, s *folderSite, file string) *run {
	r := newRun(t, s.URL+"/pub/"+file)
	r.req.Trust.Lookup, r.req.Name = true, "file.bin"
	r.ctx = download.WithLookupGrace(t.Context(), time.Hour)
	return r
}

const bookBytes = 300_000

func book() string { return strings.Repeat("0123456789abcdef", bookBytes/16) }

func sum256(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
func sum512(s string) string { return fmt.Sprintf("%x", sha512.Sum512([]byte(s))) }

// digesting adds the Digest of a file to every answer.
type digesting struct {
	http.Handler
	file string
}

func (d digesting) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	sum := digestOf([]byte(d.file))
	w.Header().Set("Digest", "sha-256="+sum.Base64())
	d.Handler.ServeHTTP(w, q)
}

// linking adds a Link to the answers about the file.
type linking struct {
	http.Handler
	link string
}

func (l linking) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if strings.HasSuffix(q.URL.Path, "/file.bin") {
		w.Header().Set("Link", l.link)
	}
	l.Handler.ServeHTTP(w, q)
}

func kindOfError(err error) download.Kind {
	e, _ := errors.AsType[*download.Error](err)
	if e == nil {
		return download.Other
	}
	return e.Kind
}
