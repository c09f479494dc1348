package cli

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/problem"
	"braid/objectstore"
	"braid/source"
	"braid/verify"
)

// partsResume is one run of "braid parts resume": a braid get whose words are in the journals of part files.
type partsResume struct {
	*getCommand
	complete []string // files that are in place, of which only the journal was left
}

func newPartsResume(s streams) (action, targets) {
	v := &partsResume{getCommand: newGetCommand(s)}
	return v.run, targetsOf(v)
}

// A resumable is an unfinished download that says what it is a part of.
type resumable struct {
	dir  string
	left partfile.Left
	url  *url.URL
}

func (v *partsResume) run(ctx context.Context, words []string) error {
	v.sites = newSites(configurationOf(ctx))
	found, lost := v.find(words)
	var urls []string
	for _, r := range found {
		urls = append(urls, r.url.String())
	}
	return v.getCommand.carryOut(ctx, urls, func(ctx context.Context, client *download.Client) (*worklist, error) {
		v.lost = append(v.lost, lost...)
		return v.worklist(ctx, client, found, urls)
	})
}

// find looks at what the words name or, without any, at all that can be resumed in this folder.
func (v *partsResume) find(words []string) (found []resumable, lost []*problem.Problem) {
	if len(words) == 0 {
		left, _, err := partfile.List(fsys.OS, ".")
		if err != nil {
			return nil, []*problem.Problem{{Kind: download.Local, What: "parts", Where: ".", Why: problem.Reason(err)}}
		}
		for _, l := range left {
			if !l.InUse {
				words = append(words, l.Path)
			}
		}
	}
	for _, word := range words {
		if objectstore.IsURL(word) {
			lost = append(lost, &problem.Problem{
				Kind: download.Usage, What: "resume", Where: word,
				Why:  "an upload goes on with the command that began it",
				Hint: "braid get -o " + word + " URL; braid parts shows the URL",
			})
			continue
		}
		dir, name := placeOfPart(word)
		done, err := v.settle(dir, name)
		if done {
			v.complete = append(v.complete, word)
			continue
		}
		var r resumable
		if err == nil {
			r, err = resumableAt(dir, name)
		}
		if f, ok := errors.AsType[*problem.Problem](err); ok {
			f.Where = word
			lost = append(lost, f)
		} else if err != nil {
			lost = append(lost, partFailure("resume", word, err))
		} else {
			found = append(found, r)
		}
	}
	return found, lost
}

// settle reports whether the file is in place, with nothing due, and the run that put it there was stopped before it
// removed the journal. It is removed. Where proof is demanded, a digest is given, or nothing shows that it was this
// user's, it is for a download to say whether the file is complete.
func (v *partsResume) settle(dir, name string) (done bool, err error) {
	l, ok, err := partfile.Look(fsys.OS, dir, name)
	if err != nil || !ok || !l.Committed || l.Due || !l.SealedBy(partfile.OpenKey(fsys.OS, journalKey())) {
		return false, err
	}
	// The size and date that Left compares prove no byte. Where proof is demanded, a download reads the file.
	if len(v.common.Claims) > 0 || v.Checksums != "" {
		return false, nil
	}
	if required, err := v.requiredOf(l); err != nil || max(required,
		requirement(l.Identity.Require, false)) > download.RequireNothing {
		return false, err
	}
	if v.DryRun {
		return true, nil
	}
	c, err := partfile.OpenCommitted(fsys.OS, dir, name)
	if c == nil || err != nil {
		return false, err
	}
	defer c.Close()
	return true, c.Clear()
}

// requiredOf is what this run demands of a file.
func (v *partsResume) requiredOf(l partfile.Left) (download.Require, error) {
	d := v.demand()
	q := download.Request{Require: d.require}
	u, err := placeURL(l.Identity.URL)
	if err != nil { // it is masked
		return q.Require, nil
	}
	err = v.sites.apply(&q, u, d.said, nil)
	return q.Require, err
}

// resumableAt reads what is there of a file. Its URL is of use only if nothing in it was a secret, which the journal
// does not keep (rule 62).
func resumableAt(dir, name string) (resumable, error) {
	l, ok, err := partfile.Look(fsys.OS, dir, name)
	cannot := func(why, hint string) (resumable, error) {
		return resumable{}, &problem.Problem{Kind: download.Local, What: "resume", Why: why, Hint: hint}
	}
	switch {
	case err != nil:
		return resumable{}, err
	case !ok:
		return cannot("nothing unfinished of that name is there", "braid parts shows what there is")
	case l.InUse:
		return resumable{}, &partfile.InUseError{Path: l.Path, PID: l.PID}
	case l.Due:
		hint := "the same braid get as before runs it; braid parts remove " + name + " gives it up"
		return cannot("it is in place, and what --on-complete was to run is not in its journal", hint)
	case !l.Known:
		return cannot("nothing says what it is a part of", "braid parts remove "+name)
	case !l.SealedBy(partfile.OpenKey(fsys.OS, journalKey())):
		return cannot("nothing shows that its journal is of a download of yours", "the same braid get as before goes on")
	case l.Identity.PieceSum != "":
		return cannot("it is proven by the pieces of a torrent, which are not in its journal",
			"the same braid get as before goes on")
	}
	u, err := placeURL(l.Identity.URL)
	if err != nil || partfile.SumURL(u) != l.Identity.URLSum {
		return cannot("its URL had something in it that is not kept, as it may be a secret",
			"the same braid get as before goes on")
	}
	u.User = nil // stars, if there was a name; netrc or -u say it again
	return resumable{dir, l, u}, nil
}

// worklist makes the requests.
func (v *partsResume) worklist(ctx context.Context, client *download.Client, found []resumable,
	urls []string) (*worklist, error) {
	l := &worklist{get: v.getCommand, files: len(found)}
	if err := v.prepare(); err != nil {
		return nil, err
	}
	if err := v.readSums(ctx, client, urls); err != nil {
		return nil, err
	}
	for _, word := range v.complete {
		v.screen.say("%s: already complete", source.Escape(partfile.NameOf(word)))
	}
	if len(found) == 0 && len(v.lost) == 0 && len(v.complete) == 0 {
		v.screen.say("nothing is unfinished here")
		return l, nil
	}
	for _, r := range found {
		q, err := v.request(r)
		if err != nil {
			return nil, err
		}
		l.operands = append(l.operands, operand{request: q})
	}
	return l, l.check()
}

// request is what was asked for, as far as the journal says.
func (v *partsResume) request(r resumable) (q download.Request, err error) {
	q = v.common
	id := r.left.Identity
	q.URL, q.Dir, q.Name = r.url, r.dir, r.left.Name
	if q.User, err = v.resumed(r.url); err != nil {
		return q, err
	}
	for _, c := range id.Claims {
		if c.Channel == verify.User && !verify.Strong(v.common.Claims) { // else the user corrects it
			q.Claims = append(slices.Clip(q.Claims), c)
		}
	}
	said := v.demand().said
	if err := v.sites.apply(&q, r.url, said, v.limit); err != nil {
		return q, err
	}
	if !said { // no less than the run that began it, whatever the settings say of the site by now
		q.Require = max(q.Require, requirement(id.Require, false))
	}
	if err := requireKeys(&q); err != nil {
		f := problem.Of(err)
		f.Where = filepath.Join(r.dir, r.left.Name)
		f.Why = "a signature was demanded when it was begun, and no key or certificate is trusted"
		return q, f
	}
	if q.Signatures, err = v.sums.ofFile(r.url); err != nil {
		return q, err
	}
	return q, v.sums.vouch(&q)
}
