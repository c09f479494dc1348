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

// URL returns the URL with which the download started: the URL of the document that described the file, or else the URL
// of the file.
func (r *Resumable) URL() string { return r.url.String() }

// NewResumedList returns the list of unfinished downloads. lost has the errors of downloads that are not in found.
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

// Settle reports whether the file is complete and in place, because the run that committed it was stopped before it
// removed the journal. It then removes the journal, unless dry is set. It returns false if a program must still run for
// the file, proof is required, a digest is given, the file does not have the digests in the journal, or this user's key
// did not seal the journal. A download then decides whether the file is complete.
func Settle(ctx context.Context, d *Defaults, dir, name string, dry bool) (done bool, err error) {
	l, ok, err := partfile.Look(fsys.OS, dir, name)
	if err != nil || !ok || !l.Committed || l.Due || !l.SealedBy(partfile.OpenKey(fsys.OS, JournalKey())) {
		return false, err
	}
	// Left only compares size and date, which proves nothing. If proof is required, a download reads the file.
	// Otherwise the file must at least not contradict the known digests.
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

// asRecorded reports whether a file has the digests in its journal.
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
	if err != nil { // the URL is masked
		return q.Trust.Require, nil
	}
	err = d.HTTP.Sites.Apply(&q, u, demand.Said, nil)
	return q.Trust.Require, err
}

// ResumableAt reads the journal of an unfinished file. A URL with a secret cannot be used, because journals do not keep
// secrets.
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
	case !id.Asked && id.Document == (partfile.Document{}): // an older journal does not record Asked
		return cannot("the journal lacks the URL of the document that describes the file",
			"repeat the braid get command to resume")
	}
	u, err := ParseURL(cmp.Or(id.Document.URL, id.URL))
	if err != nil || partfile.SumURL(u) != cmp.Or(id.Document.URLSum, id.URLSum) {
		return cannot("the journal has only part of the URL: the rest may be a secret and is not stored",
			"repeat the braid get command to resume")
	}
	u.User = nil // User is masked; the login is from netrc or -u
	return Resumable{dir, l, u}, nil
}

// exactly returns the pattern of Request.Select that matches only the file with the given name.
func exactly(name string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// request returns the request of the download from its journal and d.
func (r *Resumable) request(d *Defaults) (q download.Request, err error) {
	q = d.common
	id := r.left.Identity
	q.URL, q.Dir, q.Name = r.url, r.dir, r.left.Name
	if q.Access.User, err = d.HTTP.resumed(r.url); err != nil {
		return q, err
	}
	if !verify.Strong(d.common.Trust.Claims) { // otherwise the user's digest replaces the digests of the journal
		q.Trust.Claims = append(slices.Clip(q.Trust.Claims), id.Given()...)
	}
	said := d.demand().Said
	if err := d.HTTP.Sites.Apply(&q, r.url, said, d.limit); err != nil {
		return q, err
	}
	if name := id.Document.File; name != "" {
		q.Select, q.NoMetalink = []string{exactly(name)}, false // as in the first run
	}
	if !said { // at least the proof of the first run, even if the site's settings changed
		q.Trust.Require = max(q.Trust.Require, Requirement(id.Require, false))
	}
	if err := RequireKeys(&q); err != nil {
		f := problem.Of(err)
		f.Where = filepath.Join(r.dir, r.left.Name)
		f.Why = "the download was begun with a demand for a signature, and no key or certificate is trusted now"
		return q, f
	}
	if q.Trust.Signatures, err = d.sums.OfFile(r.url); err != nil {
		return q, err
	}
	return q, d.sums.Vouch(&q)
}
