package cli

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

// aria2Results collects the results of the downloads for the table at the end, the exit code and the session.
type aria2Results struct {
	rows []aria2Row
	last int    // the error code of the last failure
	list string // the list before translation
}

// An aria2Row is the result of one download.
type aria2Row struct {
	file  int // the index in the list
	state string
	speed string
	share string
	where string
	url   string
}

const (
	aria2OK         = "OK"
	aria2Error      = "ERR"
	aria2Unfinished = "INPR"
)

// add records the end of a download. The number of an error that is about the list as a whole is -1.
func (t *aria2Results) add(file int, r download.Request, x download.Result, err error) {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		t.last = problem.Aria2Code(p)
		// The error is about a URI and not about an option.
		if p.Kind == download.Usage && strings.Contains(p.Where, ":") && !strings.HasPrefix(p.Where, "--") {
			t.last = problem.Aria2Code(&problem.Problem{Kind: download.Other})
		}
		return
	}
	row := aria2Row{file: file, state: aria2OK, speed: "n/a", share: "100", where: x.Path}
	if seconds := x.Elapsed.Seconds(); x.Fetched > 0 && seconds > 0 {
		row.speed = aria2Size(int64(float64(x.Fetched)/seconds)) + "B/s"
	}
	if err != nil {
		row.state, row.share = aria2Error, "-"
		if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Interrupted {
			row.state = aria2Unfinished
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

func (t *aria2Results) any() bool { return len(t.rows) > 0 }

// code returns the exit code: the code of the last failure; without one, 7 if a download is unfinished.
func (t *aria2Results) code(err error) int {
	code, _ := errors.AsType[reported](err)
	switch {
	case t.last != 0 || err == nil:
		return t.last
	case slices.ContainsFunc(t.rows, func(r aria2Row) bool { return r.state == aria2Unfinished }):
		return 7
	}
	if code == exitDone {
		return 0
	}
	return problem.Aria2Code(&problem.Problem{Kind: exitKind(int(code))})
}

// showResults writes the table of results at the end of a run, as aria2c does.
func (a *aria2c) showResults() {
	slices.SortStableFunc(a.results.rows, func(x, y aria2Row) int { return x.file - y.file })
	if !a.get.Quiet {
		for _, r := range a.results.rows {
			if r.state == aria2OK {
				fmt.Fprintf(a.out, "\n%s [NOTICE] Download complete: %s\n", time.Now().Format("01/02 15:04:05"),
					source.Escape(aria2Path(r.where)))
			}
		}
	}
	kind := cmp.Or(a.value("download-result"), "default")
	if a.is("quiet") || kind == "hide" {
		return
	}
	head, line, share := "gid   |stat|avg speed  |path/URI", "======+====+===========+", func(aria2Row) string { return "" }
	if kind == "full" {
		head, line = "gid   |stat|avg speed  |  %|path/URI", line+"===+"
		share = func(r aria2Row) string { return fmt.Sprintf("%3s|", r.share) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nDownload Results:\n%s\n%s\n", head, line+strings.Repeat("=", 79-len(line)))
	states := map[string]bool{}
	gid := a.gid
	for _, r := range a.results.rows {
		states[r.state] = true
		fmt.Fprintf(&b, "%.6s|%-4s|%11s|%s%s\n", cmp.Or(gid, newGID()), r.state, r.speed, share(r),
			source.Escape(aria2Path(r.where)))
		gid = ""
	}
	b.WriteString("\nStatus Legend:\n")
	for _, s := range []struct{ state, text string }{
		{aria2OK, "(OK):download completed."}, {aria2Error, "(ERR):error occurred."},
		{aria2Unfinished, "(INPR):download in-progress."},
	} {
		if states[s.state] {
			b.WriteString(s.text)
		}
	}
	fmt.Fprintln(a.out, b.String())
}

// aria2Path returns the absolute path of a file, as in the output of aria2c, or a URL unchanged.
func aria2Path(where string) string {
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

// aria2Size formats a size as aria2c does: 71Mi, 1.0Ki.
func aria2Size(n int64) string {
	units := []string{"", "Ki", "Mi", "Gi"}
	rest, unit := int64(0), 0
	for n >= 1024 && unit < len(units)-1 {
		n, rest, unit = n/1024, n%1024, unit+1
	}
	if n >= 922 && unit < len(units)-1 {
		n, rest, unit = 0, n, unit+1
	}
	text := grouped(int(n))
	if n < 10 && unit > 0 {
		text += "." + strconv.FormatInt(rest*10/1024, 10)
	}
	return text + units[unit]
}

// saveSession writes the incomplete downloads as a list for the next run (--save-session).
func (a *aria2c) saveSession() *problem.Problem {
	path := a.value("save-session")
	if path == "" || a.is("enable-rpc") {
		return nil
	}
	done := map[string]bool{}
	for _, r := range a.results.rows {
		done[r.url] = r.state == aria2OK
	}
	var b strings.Builder
	for e, err := range option.Entries(a.results.list) {
		if err != nil {
			break
		}
		u, err := job.ParseURL(e.URIs[0])
		if err == nil {
			u.User = nil
		}
		if err != nil || !done[u.String()] {
			a.writeEntry(&b, e)
		}
	}
	if err := fsys.WriteFile(nil, path, []byte(b.String()), 0o600); err != nil {
		return problem.Local("session", path, err)
	}
	return nil
}

// writeEntry writes an entry of a list with its options and those of the command line that apply to it. It
// makes the folder absolute, because the next run may start in another one.
func (a *aria2c) writeEntry(b *strings.Builder, e option.Entry) {
	dir := cmp.Or(a.value("dir"), ".")
	settings := slices.DeleteFunc(slices.Clone(e.Options), func(o option.Setting) bool {
		if o.Name == "dir" {
			dir = o.Value
		}
		return o.Name == "dir"
	})
	settings = append(settings, option.Setting{Name: "dir", Value: aria2Path(dir)})
	for _, s := range a.line.Settings {
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
