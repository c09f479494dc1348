package job

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/problem"
	"braid/verify"
)

// A Resumable is an unfinished download with a URL in its journal.
type Resumable struct {
	dir  string
	left partfile.Left
	url  *url.URL
}

// URL returns the URL that the download was begun with. This is the URL of the document that described the file, or
// else the URL of the file.
func (r *Resumable) URL() string { return r.url.String() }

// NewResumedList returns a list of the downloads in found. lost has the errors of downloads that are not in found.
func NewResumedList(ctx context.Context, d *Defaults, client *download.Client, found []Resumable, lost []error) (*List, error) {
	if err := d.read(); err != nil {
		return nil, err
	}
	var urls []string
	for _, r := range found {
		urls = append(urls, r.URL())
	}
	if err := d.ReadSums(ctx, client, urls); err != nil {
		return nil, err
	}
	l := &List{of: d, Lost: lost, Notes: d.sums.Notes, Warnings: d.sums.Warnings}
	for _, r := range found {
		q, err := r.request(d)
		if err != nil {
			return nil, err
		}
		l.add(operand{request: q})
	}
	return l, l.check()
}

// Settle reports whether the file called name in dir is complete and in place, but still has a journal. This is so if the run
// that committed the file was stopped before it removed the journal. Settle then removes the journal, unless dry is true. It
// returns false if a program must still run for the file, if a proof is required or a digest given, if the file does not have
// the journal's digests, or if another key sealed the journal. A download then decides whether the file is complete.
func Settle(ctx context.Context, d *Defaults, dir, name string, dry bool) (done bool, err error) {
	l, ok, err := partfile.Look(fsys.OS, dir, name)
	if err != nil || !ok || !l.Committed || l.Due || !l.SealedBy(partfile.OpenKey(fsys.OS, JournalKey())) {
		return false, err
	}
	// Look compares only size and date, which proves nothing. If a proof is required, a download must read the file.
	// Otherwise it is enough that the file does not contradict the journal's digests.
	if len(d.common.Trust.Claims) > 0 || d.HTTP.Checksums != "" {
		return false, nil
	}
	if required, err := requiredOf(d, l); err != nil || max(required,
		Requirement(l.Identity.Require, false)) > download.RequireNothing {
		return false, err
	}
	if same, err := asRecorded(ctx, dir, name, l.Identity.Claims); err != nil || !same {
		return false, err
	}
	if dry {
		return true, nil
	}
	c, err := partfile.OpenCommitted(fsys.OS, dir, name)
	if c == nil || err != nil {
		return false, err
	}
	defer c.Close()
	return true, c.Clear()
}

// asRecorded reports whether the file has the digests in claims, which are from its journal.
func asRecorded(ctx context.Context, dir, name string, claims []verify.Claim) (bool, error) {
	if len(claims) == 0 {
		return true, nil
	}
	_, err := new(download.Client).Verify(ctx, download.Request{
		Dir: dir, Name: name, Trust: download.Trust{Claims: claims},
	})
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Mismatch {
		return false, nil
	}
	return err == nil, err
}

// requiredOf returns the proof that this run requires of the file.
func requiredOf(d *Defaults, l partfile.Left) (download.Require, error) {
	demand := d.demand()
	q := download.Request{Trust: download.Trust{Require: demand.Require}}
	u, err := ParseURL(cmp.Or(l.Identity.Document.URL, l.Identity.URL))
	if err != nil { // the URL in the journal is masked
		return q.Trust.Require, nil
	}
	err = d.HTTP.Sites.Apply(&q, u, demand.Said, nil)
	return q.Trust.Require, err
}

// ResumableAt reads the journal of the unfinished file called name in dir. If the URL contained a secret, it is an
// error, because journals do not contain secrets.
func ResumableAt(dir, name string) (Resumable, error) {
	l, ok, err := partfile.Look(fsys.OS, dir, name)
	id := &l.Identity
	cannot := func(why, hint string) (Resumable, error) {
		return Resumable{}, &problem.Problem{Kind: download.Local, What: "resume", Why: why, Hint: hint}
	}
	switch {
	case err != nil:
		return Resumable{}, err
	case !ok:
		return cannot("no unfinished download has this name", "list the unfinished downloads with braid parts")
	case l.InUse:
		return Resumable{}, &partfile.InUseError{Path: l.Path, PID: l.PID}
	case l.Due:
		hint := "repeat the braid get command to run its --on-complete command, or give that up with braid parts remove " + name
		return cannot("the file is complete, but its --on-complete command has not run and is not recorded", hint)
	case !l.Known:
		return cannot("nothing records which download this part belongs to", "remove the part with braid parts remove "+name)
	case !l.SealedBy(partfile.OpenKey(fsys.OS, JournalKey())):
		return cannot("nothing shows that the journal of this part belongs to one of your downloads",
			"repeat the braid get command to resume")
	case id.PieceSum != "":
		return cannot("the journal does not contain the torrent with the digests of the file",
			"repeat the braid get command to resume")
	case !id.Asked && id.Document == (partfile.Document{}): // a journal of an older version does not record Asked
		return cannot("the journal lacks the URL of the document that describes the file",
			"repeat the braid get command to resume")
	}
	u, err := ParseURL(cmp.Or(id.Document.URL, id.URL))
	if err != nil || partfile.SumURL(u) != cmp.Or(id.Document.URLSum, id.URLSum) {
		return cannot("the journal has only part of the URL: the rest may be a secret and is not stored",
			"repeat the braid get command to resume")
	}
	u.User = nil // the login in u is masked; use that of netrc or --user
	return Resumable{dir, l, u}, nil
}

// exactly returns a pattern for Request.Select that matches only the file with that name.
func exactly(name string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// request returns the request for the download, made from its journal and d.
func (r *Resumable) request(d *Defaults) (q download.Request, err error) {
	q = d.common
	id := r.left.Identity
	q.URL, q.Dir, q.Name = r.url, r.dir, r.left.Name
	if q.Access.User, err = d.HTTP.resumed(r.url); err != nil {
		return q, err
	}
	if !verify.Strong(d.common.Trust.Claims) { // otherwise the user's digest replaces those in the journal
		q.Trust.Claims = append(slices.Clip(q.Trust.Claims), id.Given()...)
	}
	said := d.demand().Said
	if err := d.HTTP.Sites.Apply(&q, r.url, said, d.limit); err != nil {
		return q, err
	}
	if name := id.Document.File; name != "" {
		q.Select, q.NoMetalink = []string{exactly(name)}, false // as when the download was begun
	}
	if !said { // at least the proof required then, even if the site's settings have changed
		q.Trust.Require = max(q.Trust.Require, Requirement(id.Require, false))
	}
	if err := RequireKeys(&q); err != nil {
		f := problem.Of(err)
		f.Where = filepath.Join(r.dir, r.left.Name)
		f.Why = "the download was begun with a required signature, but no key or certificate is trusted now"
		return q, f
	}
	if q.Trust.Signatures, err = d.sums.OfFile(r.url); err != nil {
		return q, err
	}
	return q, d.sums.Vouch(&q)
}
