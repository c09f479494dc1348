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

// A Page writes the page of --report, which shows all downloads of a command.
type Page struct {
	path  string
	limit option.RatesValue // the value of --limit-rate
	now   int64             // the limit when the downloads began
	page  report.Page
}

// NewPage returns a Page for the file at path, or nil if path is "". It checks now, before any download, that the page
// can be written there: it may replace only another report.
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

// errNoReport is the error for a file that exists and is not a report of braid.
var errNoReport = errors.New("exists and is not a report by braid")

// placeFor returns an error if no report may be written at path.
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
	return problem.Local("report", path, err).WithHint("choose another file with --report")
}

// fileURL returns path as a file URL, which terminals show as a link, or path itself if it cannot be made absolute.
func fileURL(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")}).String()
}

// Add adds to the page a download that has ended.
func (p *Page) Add(w *Download) {
	if p != nil {
		if w.record.Limit = p.now; p.changed() {
			w.record.Limit = -1
		}
		p.page.Add(w.record)
	}
}

// notBegun adds to the page how many downloads did not begin.
func (p *Page) notBegun(n int) {
	if p != nil {
		p.page.NotBegun = n
	}
}

// URL returns the page's path as a file URL, which terminals show as a link.
func (p *Page) URL() string { return fileURL(p.path) }

// changed reports whether the limit has changed since the downloads began.
func (p *Page) changed() bool {
	now, _ := p.limit.At(time.Now())
	return now != p.now
}

// Write writes the page, even if downloads have failed. Only the user may read its file.
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
