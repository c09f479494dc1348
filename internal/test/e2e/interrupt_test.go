package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/mirrortest"
)

// A progressSeen is what a command with --json has reported.
type progressSeen struct {
	fetching bool
	failed   bool
	done     map[int]int64 // by the number of the file
}

// take takes up a line.
func (p *progressSeen) take(line []byte) {
	var e struct {
		Event string
		File  int
		Done  int64
	}
	json.Unmarshal(line, &e)
	p.fetching = p.fetching || e.Event == "range"
	p.failed = p.failed || e.Event == "error"
	if e.Event == "progress" && p.fetching {
		p.done[e.File] = max(p.done[e.File], e.Done)
	}
}

// reaches reports whether so many files have so many bytes.
func (p *progressSeen) reaches(files int, bytes int64) bool {
	for _, done := range p.done {
		if done >= bytes {
			files--
		}
	}
	return files <= 0
}

// interrupt [Nx]BYTES[,error] CODE COMMAND ARG... runs a command with --json until it reports so many bytes done, of N
// files each, and the failure of another if that is wanted. Then it sends it what Ctrl-C sends, and wants this exit
// code. Its standard error is then in the file interrupt.err. Mirrors send no more than twice those bytes meanwhile: a
// download that is to be interrupted cannot be complete before, however late the signal is.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || args[2] != "braid" {
		ts.Fatalf("usage: interrupt [Nx]BYTES[,error] CODE braid ARG...")
	}
	size, failure := strings.CutSuffix(args[0], ",error")
	files := 1
	if n, each, ok := strings.Cut(size, "x"); ok {
		var err error
		files, err = strconv.Atoi(n)
		ts.Check(err)
		size = each
	}
	want, err := parseSize(size)
	ts.Check(err)
	defer budgeted(ts, files, 2*want)()
	cmd := exec.Command(binary, args[3:]...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = ts.Getenv("WORK"), &stderr, scriptEnv(ts)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	seen := progressSeen{done: map[int]int64{}}
	lines := bufio.NewScanner(stdout)
	for sent := false; lines.Scan(); {
		seen.take(lines.Bytes())
		if !sent && seen.reaches(files, want) && (seen.failed || !failure) {
			sent = true
			ts.Check(cmd.Process.Signal(os.Interrupt))
		}
	}
	err = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("interrupt.err"), stderr.Bytes(), 0o644))
	ts.Logf("[stderr]\n%s", stderr.Bytes())
	if code := exitCode(ts, err); strconv.Itoa(code) != args[1] {
		ts.Fatalf("ended with exit code %d, want %s", code, args[1])
	}
}

// budgeted keeps the mirrors of a script within so many bytes, together if they have one file, until the function is called.
func budgeted(ts *testscript.TestScript, files int, bytes int64) (lift func()) {
	all := []*mirrortest.Budget{mirrortest.NewBudget(bytes)}
	for _, s := range stateOf(ts).mirrors {
		if files > 1 {
			all = append(all, mirrortest.NewBudget(bytes))
		}
		s.Set(mirrortest.Within(all[len(all)-1]))
	}
	return func() {
		for _, b := range all {
			b.Lift()
		}
	}
}
