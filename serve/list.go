package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"braid/metalink"
)

// list answers a request for a folder with a list of the served names and sizes, without anything that a browser would
// execute. For HEAD it omits Content-Length, because computing that costs as much as the page: "a server MAY omit
// header fields for which a value is determined only while generating the content" (RFC 9110, section 9.3.2).
func (s *Server) list(res *response, r *http.Request, name string) {
	folder, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		s.refuse(res, name, err)
		return
	}
	defer folder.Close()
	var page []byte
	if r.Method != http.MethodHead {
		if page, err = s.pages.of(r.Context(), name, folder, func() ([]byte, int, error) { return s.page(name) }); err != nil {
			s.refuse(res, name, err)
			return
		}
	}
	h := res.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		res.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(page)))
	res.WriteHeader(http.StatusOK)
	res.Write(page) // an error means that the client has left
}

// pages caches the lists of large folders. Each list is made once for all concurrent requests, and is kept for a while.
// So a folder uses at most a tenth of the time of one processor.
type pages struct {
	mu   sync.Mutex
	made *recent[string, *page] // by path of the folder or of its SHA256SUMS
}

// page is the list of a folder at one time. data and err may be read after done was closed.
type page struct {
	folder stamp
	done   chan struct{}
	data   []byte
	err    error
	until  time.Time
}

const (
	// maxPages is the approximate limit of the memory for the kept pages, in bytes.
	maxPages = 64 << 20
	// largeFolder is the minimum number of entries of a folder for its page to be kept.
	largeFolder = 1000
	// pageRest is the ratio between the time that a page is kept and the time that it took to make. A page is dropped
	// earlier if the folder changes.
	pageRest = 9
)

// of returns the list with that name about folder, which make makes.
func (p *pages) of(ctx context.Context, name string, folder *os.File, make func() ([]byte, int, error)) ([]byte, error) {
	info, err := folder.Stat()
	if err != nil {
		return nil, err
	}
	made, mine := p.find(name, stampOf(info))
	if mine {
		began := time.Now()
		var entries int
		made.data, entries, made.err = make()
		lasts := made.err == nil || errors.Is(made.err, fs.ErrNotExist)
		p.keep(name, made, time.Now().Add(pageRest*time.Since(began)), lasts && entries >= largeFolder)
		close(made.done)
	}
	select {
	case <-made.done:
		return made.data, made.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the page of a folder that is kept or being made. If mine is true, the caller must make the page.
func (p *pages) find(name string, folder stamp) (found *page, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil {
		p.made = newRecent[string](maxPages, func(m *page) int { return 1<<10 + len(m.data) })
	}
	found, ok := p.made.get(name)
	if ok && found.folder == folder && (found.until.IsZero() || time.Now().Before(found.until)) {
		return found, false
	}
	found = &page{folder: folder, done: make(chan struct{})}
	p.made.put(name, found)
	return found, true
}

// keep keeps a finished page until the given time, or drops it.
func (p *pages) keep(name string, made *page, until time.Time, keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made.until = until
	now, _ := p.made.get(name)
	switch {
	case now != made:
	case keep:
		p.made.put(name, made)
	default:
		p.made.forget(name)
	}
}

func (s *Server) page(name string) (page []byte, entries int, err error) {
	list, err := fs.ReadDir(s.root.FS(), name) // sorted
	if err != nil {
		return nil, 0, err
	}
	here, err := s.root.OpenRoot(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	defer here.Close()
	title := html.EscapeString(path.Join("/", name))
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<title>%s</title>\n<h1>%s</h1>\n<pre>\n", title, title)
	if name != "." {
		b.WriteString("<a href=\"../\">../</a>\n")
	}
	files := false
	for _, e := range list {
		if safeName(e.Name()) {
			files = s.writeEntry(&b, here, name, e) || files
		}
	}
	if files && len(list) <= maxSums && s.makesSums(path.Join(name, sumsName)) {
		fmt.Fprintf(&b, "<a href=\"%s\">%[1]s</a>\n", sumsName)
		if by := s.digests.signer; by != nil {
			fmt.Fprintf(&b, "<a href=\"%s\">%[1]s</a>\n", sumsName+by.Kind().Beside[0])
		}
	}
	b.WriteString("</pre>\n")
	return b.Bytes(), len(list), nil
}

// writeEntry writes the line of a file or folder, and reports whether the entry is a file. It leaves out entries that a
// request would not find, such as symbolic links out of the served folder and files that cannot be opened. It does not
// open entries that would block, such as pipes.
func (s *Server) writeEntry(b *bytes.Buffer, here *os.Root, folder string, e fs.DirEntry) (file bool) {
	name, kind, open := e.Name(), e.Type(), here.Open
	if kind&fs.ModeSymlink != 0 { // the link may lead to another served folder
		name, open = filepath.FromSlash(path.Join(folder, name)), s.root.Open
		info, err := s.root.Stat(name)
		if err != nil {
			return false
		}
		kind = info.Mode().Type()
	}
	if !kind.IsDir() && (!kind.IsRegular() || metalink.IsOwn(e.Name())) {
		return false
	}
	f, err := open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	href, text := escapePath(e.Name()), html.EscapeString(e.Name())
	switch {
	case info.IsDir():
		fmt.Fprintf(b, "<a href=\"%s/\">%s/</a>\n", href, text)
	case info.Mode().IsRegular():
		fmt.Fprintf(b, "<a href=\"%s\">%s</a> %d\n", href, text, info.Size())
	}
	return !info.IsDir()
}
