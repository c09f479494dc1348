package job

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
)

// A List is what one run is to download: its operands, then the entries of its list (-i). Documents and list are kept
// as they were written, and what they say is made into requests when their turn comes.
type List struct {
	Files    int      // how many it has
	Warnings []string // about the list of digests
	Notes    []string // about that, and about documents
	Lost     []error  // of files of documents that cannot be downloaded
	Err      error    // why All ended before its end

	of        *Defaults
	operands  []operand
	text      string               // of Input
	documents []*download.Document // of operands
}

// NewList reads operands and list, and checks them: what makes no sense is an error before anything is downloaded.
func NewList(ctx context.Context, d *Defaults, client *download.Client, words []string) (*List, error) {
	if err := d.Prepare(client); err != nil {
		return nil, err
	}
	if err := d.ReadSums(ctx, client, words); err != nil {
		return nil, err
	}
	l := &List{of: d, Notes: d.sums.Notes, Warnings: d.sums.Warnings}
	for _, word := range words {
		o, err := l.operand(ctx, client, word)
		if err != nil {
			return nil, err
		}
		l.add(o)
	}
	if err := l.allChosen(words); err != nil {
		return nil, err
	}
	if d.Input.InputFile != "" {
		var err error
		if l.text, err = d.Input.Read(MaxList); err != nil {
			return nil, err
		}
	}
	return l, l.check()
}

// NewListOf returns the list of the files of a document that came in place of the file of r. What the list of digests says
// of that file it does not say of these.
func NewListOf(d *Defaults, doc *download.Document, r download.Request) (*List, error) {
	if d.sums.List != nil {
		r.Claims = slices.DeleteFunc(slices.Clone(r.Claims), d.sums.List.Has)
	}
	l := &List{of: d}
	o, err := l.described(doc, r)
	if err != nil {
		return nil, err
	}
	l.add(o)
	return l, l.check()
}

func (l *List) add(o operand) {
	l.operands = append(l.operands, o)
	l.Files += o.len()
}

// check counts the files, and refuses entries that make no sense and files of the same name. Of one file that is
// an operand, its download finds out.
func (l *List) check() error {
	if l.text == "" && l.Files == 1 {
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
		if err := names.add(&r.Request, l.of.Input.place(line), line); err != nil {
			return err
		}
		l.Files++
	}
	if l.Files == 0 && l.of.Input.InputFile != "" {
		return problem.Misuse(l.of.Input.String(), "no URL in it", "")
	}
	return nil
}

// All is everything that is to be downloaded, in order. What check has let pass can fail by now, as where a file that
// it reads is gone: then it ends, and says so in Err.
func (l *List) All() iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		for _, some := range []iter.Seq2[listed, int]{l.named(), l.entries()} {
			for r := range some {
				if l.Err = r.err; r.err != nil || !yield(r.Request) {
					return
				}
			}
		}
	}
}

// named makes requests of the operands, each with the number of its operand.
func (l *List) named() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for n, o := range l.operands {
			if o.document == nil && !yield(listed{Request: o.request}, n+1) {
				return
			}
			for _, i := range o.files {
				r, err := l.of.vouched(&o, i)
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
func (l *List) entries() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for e, err := range option.Entries(l.text) {
			r := listed{err: err}
			var wrong *option.Error
			if errors.As(err, &wrong) {
				r.err = problem.Misuse(l.of.Input.place(wrong.Line), wrong.Why, "")
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

// entry makes a request of an entry of the list.
func (l *List) entry(listed option.Entry) (download.Request, error) {
	d := l.of
	r, wrong := d.request(listed)
	if wrong != nil && wrong.line == 0 {
		return r, wrong.err
	}
	if wrong == nil {
		var err error
		if r.Claims, err = ClaimsOfEntry(listed, &r); err != nil {
			wrong = &wrongEntry{line: listed.Line, err: err}
		}
	}
	if wrong != nil {
		return r, d.Input.at(wrong.line, wrong.option, wrong.err)
	}
	err := d.sums.Vouch(&r)
	if e, ok := errors.AsType[*download.Error](err); ok {
		at := *e
		at.Where = d.Input.place(listed.Line) + ", " + e.Where
		err = &at
	}
	return r, err
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
		path = filepath.Join(WorkingFolder(), path)
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

// shortSum stands for a path.
func shortSum(path string) [16]byte {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:])
}

// WorkingFolder is where relative paths begin. If it is not known, they are compared as they are.
var WorkingFolder = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
})
