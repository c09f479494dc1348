package render

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"braid/internal/fsys"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/report"
)

// A Page writes the page of --report about the downloads of a command.
type Page struct {
	path  string
	limit option.RatesValue // the value of --limit-rate
	now   int64             // the limit at the start of the downloads
	page  report.Page
}

// NewPage checks, before anything is transferred, that the page can be written: only an old report may be replaced. It
// returns nil if path is "".
func NewPage(path string, limit option.RatesValue) (*Page, error) {
	if path == "" {
		return nil, nil
	}
	if err := placeFor(path); err != nil {
		return nil, reportFailure(path, err)
	}
	now, _ := limit.At(time.Now())
	return &Page{path: path, limit: limit, now: now}, nil
}

// errNoReport is the error for an existing file that is not a report.
var errNoReport = errors.New("exists and is not a report by braid")

// placeFor checks that a report may be written at path.
func placeFor(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err := os.Stat(filepath.Dir(path))
		if err == nil && !dir.IsDir() {
			err = errors.New(filepath.Dir(path) + " is not a folder")
		}
		return err
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNoReport
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(report.Magic))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte(report.Magic)) {
		return errNoReport
	}
	return nil
}

func reportFailure(path string, err error) *problem.Problem {
	return problem.Local("report", path, err).WithHint("name another file with --report")
}

// fileURL returns the file URL of path, which terminals show as a link. It returns path itself if path cannot be made
// absolute.
func fileURL(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")}).String()
}

// Add adds a download that has ended to the page.
func (p *Page) Add(w *Download) {
	if p != nil {
		if w.record.Limit = p.now; p.changed() {
			w.record.Limit = -1
		}
		p.page.Add(w.record)
	}
}

// notBegun records the number of downloads that did not begin.
func (p *Page) notBegun(n int) {
	if p != nil {
		p.page.NotBegun = n
	}
}

// URL returns the file URL of the page, which terminals show as a link.
func (p *Page) URL() string { return fileURL(p.path) }

// changed reports whether the limit has changed since the downloads began.
func (p *Page) changed() bool {
	now, _ := p.limit.At(time.Now())
	return now != p.now
}

// Write writes the page, even if downloads failed. Only the user may read the file.
func (p *Page) Write() error {
	if p == nil {
		return nil
	}
	err := placeFor(p.path)
	if err == nil {
		err = fsys.WriteFile(nil, p.path, p.page.HTML(), 0o600)
	}
	if err != nil {
		return reportFailure(p.path, err)
	}
	return nil
}
