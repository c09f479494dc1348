package cli

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
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/program"
	"braid/objectstore"
	"braid/source"
	"braid/verify"
)

// A hook is a program that runs when a file is complete (--on-complete). It runs without a shell, because
// file names come from servers and a shell could take them for commands. The environment has the facts about
// the file.
type hook struct{ args []string }

// errNoProgram is the error for a hook without a program.
var errNoProgram = errors.New("names no program")

// Set parses the command of the hook. A program that does not exist is an error before the download.
func (h *hook) Set(s string) error {
	args, err := splitWords(s)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return errNoProgram
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("%s: %w", args[0], errors.Unwrap(err))
	}
	h.args = args
	return nil
}

func (h *hook) String() string { return strings.Join(h.args, " ") }

// wanted reports whether the hook has to run for a result: the file is complete, and either it was not before
// or the hook has not succeeded since.
func (h *hook) wanted(r download.Result) bool { return len(h.args) > 0 && r.Path != "" && r.Due }

// forgotten warns if the hook of an earlier run failed for the file and this run has none.
func (h *hook) forgotten(screen *screen, r download.Result) {
	if r.Due && len(h.args) == 0 {
		path := source.Escape(r.Path)
		const text = "%s: --on-complete failed last time; repeat that command, or give it up with braid parts remove %s"
		screen.warn(text, path, path)
	}
}

// filePrefix is the prefix of the environment variables about a file. With BRAID_ alone, some of them would
// be flags of a braid that the hook runs.
const filePrefix = "BRAID_FILE_"

// fileEnvironment returns the environment variables about a file. Secrets in the URL are masked (rule 62),
// because other programs can read the environment, such as those that the hook starts as other users.
func fileEnvironment(req download.Request, r download.Result) []string {
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

// absolute returns a path that is valid in any folder and that no program takes for a flag.
func absolute(path string) string {
	if objectstore.IsURL(path) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// run runs the hook and waits for it. A word {} is replaced by the path. Output goes to w. The end of ctx
// ends the hook.
func (h *hook) run(ctx context.Context, w io.Writer, path string, env []string) error {
	p := program.Program{Args: h.args, Path: absolute(path),
		Env: append(slices.DeleteFunc(os.Environ(), ofHooks), env...), Out: w}
	return p.Run(ctx)
}

// ofHooks reports whether an environment variable is withheld from hooks: those about another file, and the
// one that would make a braid that the hook runs run the hook again.
func ofHooks(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, filePrefix) || name == option.Variable("on-complete")
}

// A hooked is the result of a hook.
type hooked struct {
	path   string
	err    error
	took   time.Duration
	output []byte // output that was not shown yet
}

// complete runs the hook for a complete file. Output goes to w. The journal of the file, which is locked
// meanwhile, marks the hook as due until it succeeds.
func (h *hook) complete(ctx context.Context, screen *screen, w io.Writer, req download.Request, r download.Result) hooked {
	began := time.Now()
	if req.Store != nil { // objects have no journal
		err := h.run(ctx, w, r.Path, fileEnvironment(req, r))
		return hooked{path: r.Path, err: err, took: time.Since(began)}
	}
	due, err := partfile.OpenCommitted(fsys.OS, filepath.Dir(r.Path), filepath.Base(r.Path))
	// another process has the journal open, or it is unreadable: the hook runs again next time
	if err != nil {
		screen.detail("%s: that its program has run cannot be told: %v", source.Escape(r.Path), err)
	}
	defer due.Close()
	err = h.run(ctx, w, r.Path, fileEnvironment(req, r))
	if err == nil {
		err = due.Clear()
	}
	return hooked{path: r.Path, err: err, took: time.Since(began)}
}

// mostOutput limits the output of a hook that is shown after the hook has run beside downloads.
const mostOutput = 64 << 10

// A beginning keeps the first mostOutput bytes that are written to it and discards the rest.
type beginning struct{ kept []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), mostOutput-len(b.kept))]...)
	return len(p), nil
}

// report shows the result of a hook and returns its exit code.
func (h *hook) report(ctx context.Context, screen *screen, lines *lineWriter, m moment, ended hooked) int {
	e := hookEvent{head: m.head("hook"), Path: ended.path, Elapsed: ended.took.Seconds(), Why: why(ended.err)}
	if exit, ok := errors.AsType[*exec.ExitError](ended.err); ok {
		e.Code = exit.ExitCode()
	} else if ended.err != nil {
		e.Code = -1
	}
	lines.write(e)
	screen.pass(ended.output)
	if ended.err == nil {
		screen.detail("%s: %s has run in %s", source.Escape(ended.path), h.args[0], timeText(ended.took))
		return exitDone
	}
	f := problemOf(ctx, ended.err)
	f.What, f.Where, f.Kept = "--on-complete", h.args[0], ended.path+" is in place"
	screen.fail(f)
	return exitCode(f)
}

var (
	errQuote = errors.New("a quote is not closed, or a backslash ends it")
	errShell = errors.New("there is no shell that would know what to do with | & ; < > ( ) $ and `; write sh -c '...', or put it in quotes")
)

// splitWords splits a command into words at spaces, with quotes and backslashes as in shells. It has no other
// syntax of shells; text that uses one is an error.
func splitWords(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n")
		if s == "" {
			return words, nil
		}
		var word string
		if word, s, err = consumeWord(s); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
}

// consumeWord splits s after its first word. The caller has removed leading spaces.
func consumeWord(s string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n", c) >= 0:
			return b.String(), s[i:], nil
		case c == '\'' || c == '"':
			n, ok := consumeQuoted(&b, s[i+1:], c)
			if !ok {
				return "", "", errQuote
			}
			i += n
		case c == '\\':
			if i++; i == len(s) {
				return "", "", errQuote
			}
			b.WriteByte(s[i])
		case strings.IndexByte("|&;<>()$`", c) >= 0:
			return "", "", errShell
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", nil
}

// consumeQuoted appends the text before the closing quote to b and returns the number of bytes it used,
// including the quote. Within double quotes a backslash escapes a backslash, a double quote, a dollar sign
// and a backquote.
func consumeQuoted(b *strings.Builder, s string, quote byte) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return i + 1, true
		case c == '\\' && quote == '"' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return 0, false
}
