package aria2c

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

// results collects the results of the downloads for the table at the end, the exit code and the session.
type results struct {
	rows []row
	last int    // error code of the last failure
	list string // the list before translation
	read bool   // the list was read, and is valid
}

// A row is the result of one download.
type row struct {
	file  int // index in the list
	state string
	speed string
	share string
	where string
	url   string
}

const (
	complete   = "OK"
	failed     = "ERR"
	unfinished = "INPR"
)

// Ended records the end of a download. file is -1 for an error that is about the list as a whole.
func (c *Call) Ended(file int, r download.Request, x download.Result, err error) {
	t := &c.results
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		t.last = problem.Aria2Code(p)
		// The error is about a URI and not about an option.
		if p.Kind == download.Usage && strings.Contains(p.Where, ":") && !strings.HasPrefix(p.Where, "--") {
			t.last = problem.Aria2Code(&problem.Problem{Kind: download.Other})
		}
		return
	}
	row := row{file: file, state: complete, speed: "n/a", share: "100", where: x.Path}
	if seconds := x.Elapsed.Seconds(); x.Fetched > 0 && seconds > 0 {
		row.speed = sizeText(int64(float64(x.Fetched)/seconds)) + "B/s"
	}
	if err != nil {
		row.state, row.share = failed, "-"
		if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Interrupted {
			row.state = unfinished
		} else {
			t.last = problem.Aria2Code(err)
		}
		if row.where == "" && r.URL != nil {
			row.where = source.Mask(r.URL)
		}
	}
	if r.URL != nil {
		row.url = r.URL.String()
	}
	if file >= 0 {
		t.rows = append(t.rows, row)
	}
}

// Fail records an error that does not belong to a download.
func (c *Call) Fail(p *problem.Problem) { c.results.last = problem.Aria2Code(p) }

// Code returns the exit code: the code of the last failure. Without a failure, it is 0 if the run did not fail, 7 if a
// download is unfinished, and otherwise the code of kind.
func (c *Call) Code(failed bool, kind download.Kind) int {
	t := &c.results
	switch {
	case t.last != 0 || !failed:
		return t.last
	case slices.ContainsFunc(t.rows, func(r row) bool { return r.state == unfinished }):
		return 7
	}
	return problem.Aria2Code(&problem.Problem{Kind: kind})
}

// ShowResults writes the table of results at the end of a run, as aria2c does. With quiet the notices about complete
// files are left out.
func (c *Call) ShowResults(quiet bool) {
	if len(c.results.rows) == 0 {
		return
	}
	slices.SortStableFunc(c.results.rows, func(x, y row) int { return x.file - y.file })
	if !quiet {
		for _, r := range c.results.rows {
			if r.state == complete {
				fmt.Fprintf(c.out, "\n%s [NOTICE] Download complete: %s\n", time.Now().Format("01/02 15:04:05"),
					source.Escape(absolute(r.where)))
			}
		}
	}
	kind := cmp.Or(c.Value("download-result"), "default")
	if c.Is("quiet") || kind == "hide" {
		return
	}
	head, line, share := "gid   |stat|avg speed  |path/URI", "======+====+===========+", func(row) string { return "" }
	if kind == "full" {
		head, line = "gid   |stat|avg speed  |  %|path/URI", line+"===+"
		share = func(r row) string { return fmt.Sprintf("%3s|", r.share) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nDownload Results:\n%s\n%s\n", head, line+strings.Repeat("=", 79-len(line)))
	states := map[string]bool{}
	gid := c.gid
	for _, r := range c.results.rows {
		states[r.state] = true
		fmt.Fprintf(&b, "%.6s|%-4s|%11s|%s%s\n", cmp.Or(gid, newGID()), r.state, r.speed, share(r),
			source.Escape(absolute(r.where)))
		gid = ""
	}
	b.WriteString("\nStatus Legend:\n")
	for _, s := range []struct{ state, text string }{
		{complete, "(OK):download completed."}, {failed, "(ERR):error occurred."},
		{unfinished, "(INPR):download in-progress."},
	} {
		if states[s.state] {
			b.WriteString(s.text)
		}
	}
	fmt.Fprintln(c.out, b.String())
}

// absolute returns the absolute path of a file, as in the output of aria2c, or a URL unchanged.
func absolute(where string) string {
	if strings.Contains(where, "://") || where == "" || filepath.IsAbs(where) {
		return where
	}
	return filepath.Join(job.WorkingFolder(), where)
}

func newGID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// sizeText formats a size as aria2c does: 71Mi, 1.0Ki.
func sizeText(n int64) string {
	units := []string{"", "Ki", "Mi", "Gi"}
	rest, unit := int64(0), 0
	for n >= 1024 && unit < len(units)-1 {
		n, rest, unit = n/1024, n%1024, unit+1
	}
	if n >= 922 && unit < len(units)-1 {
		n, rest, unit = 0, n, unit+1
	}
	text := option.Grouped(int(n))
	if n < 10 && unit > 0 {
		text += "." + strconv.FormatInt(rest*10/1024, 10)
	}
	return text + units[unit]
}

// SaveSession writes the incomplete downloads as a list for the next run (--save-session). If the list of this run could
// not be read, the session stays as it is, because it often is that list.
func (c *Call) SaveSession() *problem.Problem {
	path := c.Value("save-session")
	if path == "" || c.Is("enable-rpc") || !c.results.read {
		return nil
	}
	ended := map[string][]row{} // by URL, in the order of the list, which may have a URL more than once
	slices.SortStableFunc(c.results.rows, func(x, y row) int { return x.file - y.file })
	for _, r := range c.results.rows {
		ended[r.url] = append(ended[r.url], r)
	}
	var b strings.Builder
	for e, err := range option.Entries(c.results.list) {
		if err != nil {
			return nil
		}
		done := false
		if u, err := job.ParseURL(e.URIs[0]); err == nil {
			u.User = nil
			rows := ended[u.String()]
			done = len(rows) > 0 && rows[0].state == complete
			ended[u.String()] = rows[min(1, len(rows)):]
		}
		if !done {
			c.writeEntry(&b, e)
		}
	}
	if err := fsys.WriteFile(nil, path, []byte(b.String()), 0o600); err != nil {
		return problem.Local("session", path, err)
	}
	return nil
}

// writeEntry writes an entry of a list with its options and with the options of the command line that apply to it. It
// makes the folder absolute, because the next run may start in another folder.
func (c *Call) writeEntry(b *strings.Builder, e option.Entry) {
	dir := cmp.Or(c.Value("dir"), ".")
	settings := slices.DeleteFunc(slices.Clone(e.Options), func(o option.Setting) bool {
		if o.Name == "dir" {
			dir = o.Value
		}
		return o.Name == "dir"
	})
	settings = append(settings, option.Setting{Name: "dir", Value: absolute(dir)})
	for _, s := range c.line.Settings {
		if _, stands := option.InList(s.Name); stands && !slices.ContainsFunc(settings,
			func(o option.Setting) bool { return o.Name == s.Name && s.Name != "header" }) {
			settings = append(settings, s)
		}
	}
	b.WriteString(strings.Join(e.URIs, "\t") + "\n")
	for _, s := range settings {
		b.WriteString(" " + s.Name + "=" + s.Value + "\n")
	}
}
