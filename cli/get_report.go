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

// A reporter writes the page of --report about the downloads of a command.
type reporter struct {
	path  string
	limit rates // the value of --limit-rate
	now   int64 // the limit when the downloads began
	page  report.Page
}

// newReporter checks, before anything is transferred, that the page can be written: an old report may be
// replaced, any other file may not (rule 3). It returns nil if path is "".
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

// errNoReport is the error for an existing file that is not a report.
var errNoReport = errors.New("exists, and is not a report of braid")

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
	return problem.Local("report", path, err).WithHint("--report takes another name")
}

// fileURL returns the file URL of path, which terminals show as a link; path itself if it cannot be made
// absolute.
func fileURL(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")}).String()
}

// add adds an ended download to the page.
func (p *reporter) add(r *report.Recorder) {
	if p != nil {
		if r.Limit = p.now; p.changed() {
			r.Limit = -1
		}
		p.page.Add(r)
	}
}

// changed reports whether the limit has changed since the downloads began.
func (p *reporter) changed() bool {
	now, _ := p.limit.At(time.Now())
	return now != p.now
}

// write writes the page, even if downloads failed. Only the user may read the file.
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
