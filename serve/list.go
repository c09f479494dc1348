package serve

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"strconv"

	"braid/metalink"
)

// list answers for a folder: the names of what is served, with sizes, and nothing that a browser would run.
func (s *Server) list(res *response, r *http.Request, name string) {
	page, err := s.page(name)
	if err != nil {
		s.refuse(res, name, err)
		return
	}
	h := res.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	res.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		res.Write(page) // an error is the client's: it is gone
	}
}

func (s *Server) page(name string) ([]byte, error) {
	entries, err := fs.ReadDir(s.root.FS(), name)
	if err != nil {
		return nil, err
	}
	title := html.EscapeString(path.Join("/", name))
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<title>%s</title>\n<h1>%s</h1>\n<pre>\n", title, title)
	if name != "." {
		b.WriteString("<a href=\"../\">../</a>\n")
	}
	for _, e := range entries {
		if safeName(e.Name()) {
			s.writeEntry(&b, name, e.Name())
		}
	}
	b.WriteString("</pre>\n")
	return b.Bytes(), nil
}

// writeEntry writes the line of one file or folder. What a request for it would not find is left out, such
// as a symbolic link that leads out of the folder, and what cannot be read.
func (s *Server) writeEntry(b *bytes.Buffer, folder, name string) {
	info, err := s.root.Stat(filepath.FromSlash(path.Join(folder, name)))
	if err != nil || !s.readable(path.Join(folder, name), info) {
		return
	}
	href, text := escapePath(name), html.EscapeString(name)
	switch {
	case info.IsDir():
		fmt.Fprintf(b, "<a href=\"%s/\">%s/</a>\n", href, text)
	case info.Mode().IsRegular():
		fmt.Fprintf(b, "<a href=\"%s\">%s</a> %d\n", href, text, info.Size())
	}
}

// readable reports whether a file or folder can be opened. Anything else is not tried: opening a pipe would wait for a writer.
func (s *Server) readable(name string, info fs.FileInfo) bool {
	if info.Mode().IsRegular() && metalink.IsOwn(path.Base(name)) || !info.Mode().IsRegular() && !info.IsDir() {
		return false
	}
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return false
	}
	f.Close()
	return true
}
