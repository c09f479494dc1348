package serve

import (
	"bytes"
	"context"
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

// list answers for a folder: the names of what is served, with sizes, and nothing that a browser would run. How long
// the page is costs as much as the page, so that HEAD leaves it out: "a server MAY omit header fields for which a value
// is determined only while generating the content" (RFC 9110, section 9.3.2).
func (s *Server) list(res *response, r *http.Request, name string) {
	folder, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		s.refuse(res, name, err)
		return
	}
	defer folder.Close()
	var page []byte
	if r.Method != http.MethodHead {
		if page, err = s.pages.of(r.Context(), s, name, folder); err != nil {
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
	res.Write(page) // an error is the client's: it is gone
}

// pages are the lists of large folders, each made once for all clients that ask at the same time, and for a while: a
// tenth of the time of one processor is the most that a folder takes.
type pages struct {
	mu   sync.Mutex
	made *recent[string, *page] // by folder
}

// A page is the list of a folder, as it was. It may be read when done is closed.
type page struct {
	folder stamp
	done   chan struct{}
	data   []byte
	err    error
	until  time.Time
}

const (
	// maxPages is how many bytes of pages are kept, about.
	maxPages = 64 << 20
	// largeFolder is how many entries a folder has whose page is kept.
	largeFolder = 1000
	// pageRest is for how many times as long as it took to make it a page is kept, while the folder has no other entries.
	pageRest = 9
)

// of returns the page of a folder, which is open.
func (p *pages) of(ctx context.Context, s *Server, name string, folder *os.File) ([]byte, error) {
	info, err := folder.Stat()
	if err != nil {
		return nil, err
	}
	made, mine := p.find(name, stampOf(info))
	if mine {
		began := time.Now()
		var entries int
		made.data, entries, made.err = s.page(name)
		p.keep(name, made, time.Now().Add(pageRest*time.Since(began)), made.err == nil && entries >= largeFolder)
		close(made.done)
	}
	select {
	case <-made.done:
		return made.data, made.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the page that is made or kept of a folder, or one that the caller has to make.
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

// keep keeps a page that is made until then, or forgets it.
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

// page makes the list of a folder.
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
	for _, e := range list {
		if safeName(e.Name()) {
			s.writeEntry(&b, here, name, e)
		}
	}
	b.WriteString("</pre>\n")
	return b.Bytes(), len(list), nil
}

// writeEntry writes the line of one file or folder. What a request for it would not find is left out, such as a
// symbolic link that leads out of the folder that is served, and what cannot be opened. What opening would wait for, as
// a pipe for a writer, is not tried.
func (s *Server) writeEntry(b *bytes.Buffer, here *os.Root, folder string, e fs.DirEntry) {
	name, kind, open := e.Name(), e.Type(), here.Open
	if kind&fs.ModeSymlink != 0 { // which may lead to another folder that is served
		name, open = filepath.FromSlash(path.Join(folder, name)), s.root.Open
		info, err := s.root.Stat(name)
		if err != nil {
			return
		}
		kind = info.Mode().Type()
	}
	if !kind.IsDir() && (!kind.IsRegular() || metalink.IsOwn(e.Name())) {
		return
	}
	f, err := open(name)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	href, text := escapePath(e.Name()), html.EscapeString(e.Name())
	switch {
	case info.IsDir():
		fmt.Fprintf(b, "<a href=\"%s/\">%s/</a>\n", href, text)
	case info.Mode().IsRegular():
		fmt.Fprintf(b, "<a href=\"%s\">%s</a> %d\n", href, text, info.Size())
	}
}
