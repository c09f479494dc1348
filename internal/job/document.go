package job

import (
	"context"
	"os"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
)

// An operand is an argument of the command line: one file, or the files of a document. Requests for the files of a
// document are made only when they are needed. Until then, only the document is kept in memory.
type operand struct {
	request  download.Request   // for a document, the fields that the requests for its files share
	document *download.Document // nil if the operand is a single file
	files    []int              // indexes of the chosen files in document
}

// len returns the number of files in the operand.
func (o *operand) len() int {
	if o.document == nil {
		return 1
	}
	return len(o.files)
}

// allChosen returns an error if a pattern of --select matches no file of the documents: a user who asks for two files
// must not silently get one. It checks nothing if one of words is not a document, because its server may still send one.
func (l *List) allChosen(words []string) error {
	if len(l.documents) < len(words) {
		return nil
	}
	for _, pattern := range l.of.Select {
		var missed error
		for _, d := range l.documents {
			if _, missed = d.Choose([]string{pattern}); missed == nil {
				break
			}
		}
		if missed != nil {
			return missed
		}
	}
	return nil
}

func (l *List) operand(ctx context.Context, client *download.Client, word string) (o operand, err error) {
	d := l.of
	if metainfo.IsMagnet(word) {
		doc, err := client.Magnet(ctx, d.common, word)
		if err != nil {
			return o, err
		}
		return l.described(doc, d.ofOperand())
	}
	if IsLocalDocument(word) {
		doc, err := d.readDocument(word)
		if err != nil {
			return o, err
		}
		client.Renew(ctx, doc, d.common.Access.Not)
		return l.described(doc, d.ofOperand())
	}
	u, err := d.placeURL(word)
	if err != nil {
		return o, orList(word, err)
	}
	r := d.ofOperand()
	if r.Access.User, err = d.HTTP.UserFor(u); err != nil {
		return o, err
	}
	if r.Trust.Claims, err = ClaimsOfURL(word, r.Trust.Claims, !d.NoMetalink); err != nil {
		return o, err
	}
	u.User = nil
	r.URL = u
	if err := d.HTTP.Sites.Apply(&r, u, d.demand().Said, d.limit); err != nil {
		return o, err
	}
	if err := RequireKeys(&r); err != nil {
		return o, err
	}
	if !d.NoMetalink && download.IsDocument(u.Path) {
		doc, err := client.Document(ctx, r)
		if err != nil {
			return o, err
		}
		return l.described(doc, r)
	}
	if r.Trust.Signatures, err = d.sums.OfFile(u); err != nil {
		return o, err
	}
	err = d.sums.Vouch(&r)
	return operand{request: r}, err
}

// orList returns err, the error for the operand word. If word is the path of a file, it adds a hint that the file may
// be a list of URLs.
func orList(word string, err error) error {
	f, ok := err.(*problem.Problem)
	if info, wrong := os.Stat(word); ok && wrong == nil && info.Mode().IsRegular() {
		f.Hint = "to read a list of URLs, use -i"
	}
	return err
}

// IsLocalDocument reports whether word is the path of a Metalink document or a torrent, and not a URL.
func IsLocalDocument(word string) bool {
	return download.IsDocument(word) && !strings.Contains(word, "://")
}

func (d *Defaults) readDocument(name string) (*download.Document, error) {
	if d.NoMetalink {
		return nil, problem.Misuse(name, "a document on disk is not downloaded, so --no-metalink cannot be used", "")
	}
	return OpenDocument(name)
}

// OpenDocument reads the Metalink document or torrent at the path name.
func OpenDocument(name string) (*download.Document, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, problem.Local("document", name, err)
	}
	defer f.Close()
	return download.ReadDocument(f, name)
}

// described chooses files of d. base has the fields that their requests share. Files with an unsafe name or without a
// URL are appended to l.Lost as errors. The other files are downloaded (rule 10).
func (l *List) described(d *download.Document, base download.Request) (o operand, err error) {
	if err := RequireKeys(&base); err != nil { // a local document has no site
		return o, err
	}
	chosen, err := d.Choose(base.Select)
	if err != nil {
		return o, err
	}
	l.documents = append(l.documents, d)
	refused := d.RefusedOf(base.Select)
	if n := len(chosen) + len(refused); n > 1 {
		if err := l.of.checkSeveral(d, n, &base); err != nil {
			return o, err
		}
	}
	for _, note := range slices.Concat(d.Warnings, d.Notes) {
		l.Notes = append(l.Notes, d.Name+": "+note)
	}
	for _, r := range refused {
		l.Lost = append(l.Lost, RefusedName(d.Name, r))
	}
	o = operand{request: base, document: d}
	for _, i := range chosen {
		r, err := l.of.place(&o, i)
		if err != nil {
			l.Lost = append(l.Lost, err)
			continue
		}
		if err := l.of.vouch(&r); err != nil {
			return o, err
		}
		o.files = append(o.files, i)
	}
	return o, nil
}

// place returns the request for file i of the document of o, without --checksums and --signature.
func (d *Defaults) place(o *operand, i int) (r download.Request, err error) {
	f := o.document.Files.At(i)
	if r, err = o.document.Request(f, o.request); err != nil {
		return r, err
	}
	if d.Integrity && len(f.Claims)+len(f.Pieces) > 0 {
		r.IfExists.Overwrite, r.IfExists.Rename = true, false
	}
	return r, nil
}

// vouch adds the digests of --checksums and the signatures of --signature to r, the request for a file of a document.
func (d *Defaults) vouch(r *download.Request) error {
	named, err := d.sums.OfFile(r.URL)
	if err != nil {
		return err
	}
	r.Trust.Signatures = append(named, r.Trust.Signatures...)
	return d.sums.Vouch(r)
}

// vouched returns the request for file i of the document of o, with --checksums and --signature.
func (d *Defaults) vouched(o *operand, i int) (r download.Request, err error) {
	if r, err = d.place(o, i); err == nil {
		err = d.vouch(&r)
	}
	return r, err
}

// RefusedName returns the error for r, a file of document that has an unsafe name.
func RefusedName(document string, r metalink.Refused) *problem.Problem {
	return &problem.Problem{
		Kind: download.Local, What: "document", Where: document + ", file " + source.Escape(r.Name),
		Why: r.Reason, Kept: "not downloaded",
	}
}

// checkSeveral returns an error if an option that is for one file is used with n files of doc.
func (d *Defaults) checkSeveral(doc *download.Document, n int, base *download.Request) error {
	hint := "choose one with --select NAME"
	switch what := " for " + option.Grouped(n) + " files" + " of " + doc.Name; {
	case d.Out != "":
		return problem.Misuse("-o", "one name"+what, hint+", or choose a folder for all files with -d FOLDER")
	case base.Name != "":
		return problem.Misuse("out="+source.Escape(base.Name), "one name"+what, "name the URL of one file, or a folder with dir=")
	case d.HTTP.DigestOption() != "":
		return problem.Misuse(d.HTTP.DigestOption(), "one digest"+what, hint)
	case d.HTTP.Checksums == "" && d.Anchors.NamesOne():
		return problem.Misuse("--signature", "this signature is of one file, and cannot be used"+what, hint+"; for "+
			"a signature beside each file, use --signature .asc")
	case len(d.Mirror) > 0:
		return problem.Misuse("--mirror", "this mirror has only one file, and cannot be used"+what, hint)
	}
	return nil
}
