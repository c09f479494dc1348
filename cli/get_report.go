package cli

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
	"braid/internal/problem"
	"braid/internal/report"
)

// A reporter draws what happened in the downloads of one command, if the user named a file for that.
type reporter struct {
	path  string
	limit rates // of --limit-rate
	now   int64 // what it was when the downloads began
	page  report.Page
}

// newReporter makes sure, before anything is transferred, that the page will have a place: an old report may be
// replaced, and no other file (rule 3). The reporter is nil if no page is wanted.
func newReporter(path string, limit rates) (*reporter, error) {
	if path == "" {
		return nil, nil
	}
	if err := placeFor(path); err != nil {
		return nil, reportFailure(path, err)
	}
	now, _ := limit.At(time.Now())
	return &reporter{path: path, limit: limit, now: now}, nil
}

// errNoReport keeps a file that is not a report.
var errNoReport = errors.New("exists, and is not a report of braid")

// placeFor finds out whether a report may be written at path.
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
	return problem.Local("report", path, err).WithHint("--report takes another name")
}

// fileURL is what a terminal makes a link of, and a browser takes; the path itself if it cannot be made absolute.
func fileURL(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")}).String()
}

// add puts a download that ended on the page.
func (p *reporter) add(r *report.Recorder) {
	if p != nil {
		if r.Limit = p.now; p.changed() {
			r.Limit = -1
		}
		p.page.Add(r)
	}
}

// changed reports whether the limit became another one meanwhile.
func (p *reporter) changed() bool {
	now, _ := p.limit.At(time.Now())
	return now != p.now
}

// write writes the page, also when downloads failed. Only the user may read it.
func (p *reporter) write() error {
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
