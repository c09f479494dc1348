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
	"braid/source"
)

// A List has the files that a run downloads: its operands, followed by the entries of its list (-i). Requests are made
// from documents and the list one at a time, so that they are not all in memory at once.
type List struct {
	Files    int      // number of files
	Warnings []string // about the list of digests
	Notes    []string // about the list of digests and documents
	Lost     []error  // errors of files of documents that cannot be downloaded
	Err      error    // error that ended All early

	of        *Defaults
	operands  []operand
	text      string               // the content of the list (-i)
	documents []*download.Document // documents of the operands
}

// NewList reads and checks words, the operands, and the list (-i), so that errors are found before any download.
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

// NewListOf returns a list of the files that doc describes. A server sent doc in place of the file of r. It is an error if
// the list of --checksums has a digest of that file.
func NewListOf(d *Defaults, doc *download.Document, r download.Request) (*List, error) {
	if d.sums.List != nil && slices.ContainsFunc(r.Trust.Claims, d.sums.List.Has) {
		return nil, &problem.Problem{
			Kind: download.Protocol, What: "document", Where: source.Mask(r.URL), Kept: "not downloaded",
			Why: fmt.Sprintf("the list of --checksums has a digest of this file, and the server sent a document with %d files",
				doc.Files.Len()),
		}
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

// check counts the files. It returns an error for an invalid entry, and if two files have the same path. It checks
// nothing for a single operand without a list, because the download reports these errors.
func (l *List) check() error {
	if l.text == "" && l.Files == 1 {
		return nil
	}
	names := namesakes{}
	for r, i := range l.named() {
		if r.err != nil {
			return r.err
		}
		if err := names.add(&r.req, fmt.Sprintf("operand %d", i), -1); err != nil {
			return err
		}
	}
	for r, line := range l.entries() {
		if r.err != nil {
			return r.err
		}
		if err := names.add(&r.req, l.of.Input.place(line), line); err != nil {
			return err
		}
		l.Files++
	}
	if l.Files == 0 && len(l.operands) == 0 && l.of.Input.InputFile != "" {
		return problem.Misuse(l.of.Input.String(), "the list has no URL", "")
	}
	return nil
}

// All returns the requests for all files, in order. If a request fails although check accepted it, for example because
// a file that it reads was removed, the sequence ends and Err is set.
func (l *List) All() iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		for _, some := range []iter.Seq2[listed, int]{l.named(), l.entries()} {
			for r := range some {
				if l.Err = r.err; r.err != nil || !yield(r.req) {
					return
				}
			}
		}
	}
}

// named returns the requests for the operands, with the numbers of the operands.
func (l *List) named() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for n, o := range l.operands {
			if o.document == nil && !yield(listed{req: o.request}, n+1) {
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

// A listed is the request for a file, or the error that prevents it.
type listed struct {
	req download.Request
	err error
}

// entries returns the requests for the entries of the list, with their lines.
func (l *List) entries() iter.Seq2[listed, int] {
	return func(yield func(listed, int) bool) {
		for e, err := range option.Entries(l.text) {
			r := listed{err: err}
			var wrong *option.Error
			if errors.As(err, &wrong) {
				r.err = problem.Misuse(l.of.Input.place(wrong.Line), wrong.Why, "")
			}
			if err == nil {
				r.req, r.err = l.entry(e)
			}
			if !yield(r, e.Line) {
				return
			}
		}
	}
}

// entry returns the request for listed, an entry of the list.
func (l *List) entry(listed option.Entry) (download.Request, error) {
	d := l.of
	r, wrong := d.request(listed)
	if wrong != nil && wrong.line == 0 {
		return r, wrong.err
	}
	if wrong == nil {
		var err error
		if r.Trust.Claims, err = ClaimsOfEntry(listed, &r); err != nil {
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

// namesakes maps hashes of file paths to where the files come from: a line of the list, or -1 for an operand.
type namesakes map[[16]byte]int

// add records the path of r. place and who identify where r comes from. It is an error if another request has the same path.
func (n namesakes) add(r *download.Request, place string, who int) error {
	if r.RemoteName && r.Name == "" || r.IfExists.Rename { // the server or existing files will decide about the name
		return nil
	}
	path, err := r.Path()
	if name, ok := errors.AsType[*metalink.NameError](err); ok && name.Own {
		return &problem.Problem{
			Kind: download.Local, What: "name", Where: place, Why: err.Error(),
			Hint: "name the file with -o NAME, or in a list with out=NAME",
		}
	}
	if err != nil {
		return problem.Misuse(place, err.Error(), "name the file with -o NAME, or in a list with out=NAME")
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
		"give one of the files another name with out=NAME in a list")
}

// shortSum returns a hash of path that needs little memory.
func shortSum(path string) [16]byte {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:])
}

// WorkingFolder returns the current folder, or "" if it is unknown. In that case, relative paths are compared unchanged.
var WorkingFolder = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
})
