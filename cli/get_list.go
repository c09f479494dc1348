package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
)

// maxList is the longest list of files that is read: about three million of them.
const maxList = 256 << 20

// A worklist is what one command is to download: its operands, then the entries of its list (-i). Documents and list are kept
// as they were written, and what they say is made into requests when their turn comes.
type worklist struct {
	get      *getCommand
	operands []operand
	list     string
	files    int
	err      error // why all ended before its end
}

// worklistOf is the list of operands alone.
func worklistOf(g *getCommand, operands ...operand) *worklist {
	l := &worklist{get: g, operands: operands}
	for _, o := range operands {
		l.files += o.len()
	}
	return l
}

// newWorklist reads operands and list, and checks them: what makes no sense is told before anything is downloaded.
func newWorklist(ctx context.Context, g *getCommand, client *download.Client, words []string) (*worklist, error) {
	operands, err := g.operands(ctx, client, words)
	if err != nil {
		return nil, err
	}
	l := worklistOf(g, operands...)
	if g.Input.InputFile != "" {
		if l.list, err = g.Input.read(maxList); err != nil {
			return nil, err
		}
	}
	return l, l.check()
}

// An inputList is a list of files to download: a file, or standard input for "-".
type inputList struct {
	InputFile string
	in        io.Reader
	text      string // that was read already; then InputFile is what it is called
}

// read reads the list into memory, as standard input can be read only once; most bytes are enough.
func (l inputList) read(most int64) (string, error) {
	in := l.in
	if l.text != "" {
		return l.text, nil
	}
	if l.InputFile != "-" {
		f, err := os.Open(l.InputFile)
		if err != nil {
			return "", problem.Local("list", l.String(), err)
		}
		defer f.Close()
		in = f
	}
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return "", problem.Local("list", l.String(), err)
	case n > most:
		return "", problem.Misuse(l.String(), "longer than "+sizeText(most), "take it apart")
	}
	return b.String(), nil
}

// String is what the list is called in messages.
func (l inputList) String() string {
	switch l.InputFile {
	case "-":
		return "standard input"
	case "":
		return "the queue"
	}
	return l.InputFile
}

// place names a line of the list.
func (l inputList) place(line int) string { return fmt.Sprintf("%s:%d", l, line) }

// at says which line and option of the list an error is about.
func (l inputList) at(line int, option string, err error) error {
	f := problem.Of(err)
	parts := slices.DeleteFunc([]string{option, f.Where, f.Why}, func(s string) bool { return s == "" })
	return problem.Misuse(l.place(line), strings.Join(parts, ": "), f.Hint)
}

// check counts the files, and refuses entries that make no sense and files of the same name. Of one file that is
// an operand, its download finds out.
func (l *worklist) check() error {
	if l.list == "" && l.files == 1 {
		return nil
	}
	names := namesakes{}
	for r, i := range l.named() {
		if r.err != nil {
			return r.err
		}
		if err := names.add(&r.Request, fmt.Sprintf("operand %d", i), -1); err != nil {
			return err
		}
	}
	for r, line := range l.entries() {
		if r.err != nil {
			return r.err
		}
		if err := names.add(&r.Request, l.get.Input.place(line), line); err != nil {
			return err
		}
		l.files++
	}
	if l.files == 0 && l.get.Input.InputFile != "" {
		return problem.Misuse(l.get.Input.String(), "no URL in it", "")
	}
	return nil
}

// all is everything that is to be downloaded, in order. What check has let pass can fail by now, as where a file that
// it reads is gone: then it ends, and says so in l.err.
func (l *worklist) all() iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		for _, some := range []iter.Seq2[listed, int]{l.named(), l.entries()} {
			for r := range some {
				if l.err = r.err; r.err != nil || !yield(r.Request) {
					return
				}
			}
		}
	}
}

// named makes requests of the operands, each with the number of its operand.
func (l *worklist) named() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for n, o := range l.operands {
			if o.document == nil && !yield(listed{Request: o.request}, n+1) {
				return
			}
			for _, i := range o.files {
				r, err := l.get.place(&o, i)
				if err == nil {
					err = l.get.vouch(&r)
				}
				if !yield(listed{r, err}, n+1) {
					return
				}
			}
		}
	}
}

// A listed request is one of an operand or of the list, or says why there is none.
type listed struct {
	download.Request
	err error
}

// entries makes requests of the list, each with its line.
func (l *worklist) entries() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for e, err := range option.Entries(l.list) {
			r := listed{err: err}
			var wrong *option.Error
			if errors.As(err, &wrong) {
				r.err = problem.Misuse(l.get.Input.place(wrong.Line), wrong.Why, "")
			}
			if err == nil {
				r.Request, r.err = l.entry(e)
			}
			if !yield(r, e.Line) {
				return
			}
		}
	}
}

// namesakes knows which paths are taken, by hash, and by what: a line of the list or, below zero, an operand.
type namesakes map[[16]byte]int

// add takes the path of r for an entry at place.
func (n namesakes) add(r *download.Request, place string, who int) error {
	if r.RemoteName && r.Name == "" || r.Rename { // the server says it later, or what is there
		return nil
	}
	path, err := r.Path()
	if name, ok := errors.AsType[*metalink.NameError](err); ok && name.Own {
		return &problem.Problem{
			Kind: download.Local, What: "name", Where: place, Why: err.Error(),
			Hint: "out=NAME in a list, or -o NAME for one URL, names the file",
		}
	}
	if err != nil {
		return problem.Misuse(place, err.Error(), "out=NAME in a list, or -o NAME for one URL, names the file")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(workingFolder(), path)
	}
	key := shortSum(path)
	other, taken := n[key]
	if !taken {
		n[key] = who
		return nil
	}
	where := fmt.Sprintf("on line %d", other)
	if other < 0 {
		where = "an operand"
	}
	return problem.Misuse(place, "two URLs would be saved as "+filepath.Base(path)+": the other is "+where,
		"out=NAME in a list gives another")
}
