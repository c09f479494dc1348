// Package hook runs the program of --on-complete for files that are complete.
//
// The package shows nothing: the output goes to a writer or into the Result.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/mailbox"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/plug/objectstore"
	"braid/internal/program"
	"braid/source"
	"braid/verify"
)

// A Command is a program that runs when a file is complete (--on-complete). It runs without a shell, because file names
// come from servers and a shell could interpret them as commands. Its environment has the facts about the file.
type Command struct{ args []string }

// errNoProgram is the error for a hook without a program.
var errNoProgram = errors.New("names no program")

// Set parses the command of the hook. A program that does not exist is an error, which the user sees before the
// download.
func (c *Command) Set(s string) error {
	args, err := program.Words(s)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return errNoProgram
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("%s: %w", args[0], errors.Unwrap(err))
	}
	c.args = args
	return nil
}

// Given reports whether there is a hook.
func (c *Command) Given() bool { return len(c.args) > 0 }

// Forget removes the hook.
func (c *Command) Forget() { c.args = nil }

func (c *Command) String() string { return strings.Join(c.args, " ") }

// Wanted reports whether the hook must run for a result: the file is complete, and either the file was incomplete
// before or the hook has not succeeded since.
func (c *Command) Wanted(r download.Result) bool { return len(c.args) > 0 && r.Path != "" && r.Due }

// filePrefix is the prefix of the environment variables about a file. With the prefix BRAID_, some of these variables
// would set flags of a braid process that the hook starts.
const filePrefix = "BRAID_FILE_"

// environment returns the environment variables about a file. Secrets in the URL are masked (rule 62), because other
// programs can read the environment, such as programs that the hook starts as another user.
func environment(req download.Request, r download.Result) []string {
	signers := []string{}
	for _, a := range r.Proof.Signatures() {
		signers = append(signers, a.String())
	}
	digest := ""
	for _, d := range r.Proof.Digests() {
		if d.Algorithm() == verify.SHA256 {
			digest = d.Hex()
		}
	}
	modified := ""
	if !r.LastModified.IsZero() {
		modified = r.LastModified.UTC().Format(time.RFC3339)
	}
	return []string{
		filePrefix + "PATH=" + absolute(r.Path),
		filePrefix + "SIZE=" + strconv.FormatInt(r.Size, 10),
		filePrefix + "SHA256=" + digest,
		filePrefix + "VERIFIED=" + strconv.FormatBool(r.Proof.Verified()),
		filePrefix + "EVIDENCE=" + source.Escape(r.Proof.String()),
		filePrefix + "SIGNERS=" + source.Escape(strings.Join(signers, "; ")),
		filePrefix + "URL=" + source.Mask(req.URL),
		filePrefix + "LAST_MODIFIED=" + modified,
	}
}

// absolute returns a path that is valid in any working folder and that no program mistakes for a flag.
func absolute(path string) string {
	if objectstore.IsURL(path) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// run runs the hook and waits for it. A word {} is replaced by path. Output goes to w. The hook ends when ctx is done.
func (c *Command) run(ctx context.Context, w io.Writer, path string, env []string) error {
	p := program.Program{Args: c.args, Path: absolute(path),
		Env: append(slices.DeleteFunc(os.Environ(), ofHooks), env...), Out: w}
	return p.Run(ctx)
}

// ofHooks reports whether an environment variable is withheld from hooks. These are the variables about another file,
// and the variable that would make a braid process in the hook run the hook again.
func ofHooks(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, filePrefix) || name == option.Variable("on-complete")
}

// A Result is the result of a hook.
type Result struct {
	Program, Path string
	Err           error
	Took          time.Duration
	Output        []byte // output that was not shown yet
	// Unmarked is why the journal cannot record that the hook has run, or nil. The hook then runs again next time.
	Unmarked error
}

// Complete runs the hook for a complete file. Output goes to w. The journal of the file is locked meanwhile. It marks
// the hook as due until the hook succeeds.
func (c *Command) Complete(ctx context.Context, w io.Writer, req download.Request, r download.Result) Result {
	began := time.Now()
	ended := Result{Program: c.args[0], Path: r.Path}
	if req.Store != nil { // objects have no journal
		ended.Err = c.run(ctx, w, r.Path, environment(req, r))
		ended.Took = time.Since(began)
		return ended
	}
	// An error means that another process has the journal open, or that the journal cannot be read.
	due, err := partfile.OpenCommitted(fsys.OS, filepath.Dir(r.Path), filepath.Base(r.Path))
	ended.Unmarked = err
	defer due.Close()
	if ended.Err = c.run(ctx, w, r.Path, environment(req, r)); ended.Err == nil {
		ended.Err = due.Clear()
	}
	ended.Took = time.Since(began)
	return ended
}

// mostOutput limits the output of a hook that a Queue keeps, in bytes.
const mostOutput = 64 << 10

// A beginning keeps the first mostOutput bytes that are written to it and discards the rest.
type beginning struct{ kept []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), mostOutput-len(b.kept))]...)
	return len(p), nil
}

// A Queue runs hooks one at a time, in the order of Add, while downloads continue.
type Queue struct {
	command *Command
	ctx     context.Context
	ended   func(file int, r Result)
	files   *mailbox.Mailbox[file]
	done    sync.WaitGroup
}

// A file is a complete file for which the hook has not run yet.
type file struct {
	number int
	req    download.Request
	result download.Result
}

// Start returns a queue of hooks. It calls ended for each hook that has ended, with its output.
func (c *Command) Start(ctx context.Context, ended func(file int, r Result)) *Queue {
	q := &Queue{command: c, ctx: ctx, ended: ended, files: mailbox.New(func(_, _ file) bool { return false })}
	q.done.Go(q.run)
	return q
}

// Add adds a complete file with its number. It does not wait.
func (q *Queue) Add(number int, req download.Request, r download.Result) {
	q.files.Put(file{number, req, r})
}

// Wait waits until the hooks of all files have ended. Nothing may be added afterwards.
func (q *Queue) Wait() {
	q.files.Close()
	q.done.Wait()
}

func (q *Queue) run() {
	for f := range q.files.All() {
		var out beginning
		r := q.command.Complete(q.ctx, &out, f.req, f.result)
		r.Output = out.kept
		q.ended(f.number, r)
	}
}
