package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
	"braid/fleet"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/problem"
	"braid/metalink/metainfo"
	"braid/source"
)

// request returns the request for e. The file of the request is always below the root.
func (s *Service) request(ctx context.Context, e queue.Entry) (download.Request, error) {
	if e.Watch != "" {
		return s.Watching.Request(ctx, e)
	}
	options := maps.Clone(e.Options)
	delete(options, daemon.OptionLimit) // the daemon applies the limit, because it may change
	demanded := options["require"]
	delete(options, "require")
	listed := option.Entry{Options: option.Aria2Settings(options)}
	if len(e.Document) == 0 && !isMagnet(e) {
		listed.URIs = e.URIs
	}
	r, err := s.listed(listed, cmp.Or(options["auto-file-renaming"], strconv.FormatBool(s.Job.Rename)) == "true")
	if err != nil {
		return r, err
	}
	if r.Trust.Claims, err = job.ClaimsOfEntry(listed, &r); err != nil { // the claims are from the client
		return r, err
	}
	if err := job.DemandMore(&r, demanded); err != nil {
		return r, err
	}
	r.IfExists.Continue = r.IfExists.Continue || options["continue"] == "true"
	if err := seeding(&r, options); err != nil {
		return r, err
	}
	if err := signature(&r, options[daemon.OptionSignature]); err != nil {
		return r, err
	}
	if r.Dir, err = s.inRoot(options["dir"], r.Dir, r.Name); err != nil {
		return r, err
	}
	if begunBefore(&e, &r) {
		r.IfExists.Refresh = newLink(&e, &r)
		r.IfExists.Continue = r.IfExists.Continue || !r.IfExists.Refresh
	}
	r.CheckPath = s.notReserved
	return s.described(ctx, e, r)
}

// notReserved returns an error if path is in one of braid's own folders, which may be in the root. It also returns an
// error if path is that of a file that the daemon depends on: the queue, the token, the key of the journals, or the
// settings, which name programs.
func (s *Service) notReserved(path string) error {
	if !s.IsReserved(path) {
		return nil
	}
	return &download.Error{
		Kind: download.Local, What: "folder", Where: source.Escape(filepath.Dir(path)),
		Err: errors.New("this folder is reserved for the daemon"),
	}
}

// IsReserved reports whether path leads to a file or folder that the daemon, or the watcher in it, depends
// on.
func (s *Service) IsReserved(path string) bool {
	return s.Owns(path) || s.Watching != nil && job.LeadsTo(path, s.Watching.Own())
}

// begunBefore reports whether the entry was started under its present name, and no file has that name. Then the
// download may continue: the partial file is the entry's own, and the user resumed the entry.
func begunBefore(e *queue.Entry, r *download.Request) bool {
	path, err := r.Path()
	if err != nil || path != e.Path || e.Outcome.Attempts == 0 {
		return false
	}
	_, err = os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// newLink reports whether the URLs of the entry were changed, and its partial file is not from any of the present URLs.
func newLink(e *queue.Entry, r *download.Request) bool {
	if !e.Relinked || len(e.Document) > 0 || isMagnet(*e) {
		return false
	}
	l, ok, err := partfile.Look(fsys.OS, r.Dir, cmp.Or(r.Name, filepath.Base(e.Path)))
	if err != nil || !ok || !l.Known || l.Have.Len() == 0 {
		return false
	}
	return !slices.ContainsFunc(e.URIs, func(word string) bool {
		u, err := url.Parse(word)
		return err == nil && partfile.SumURL(u) == l.Identity.URLSum
	})
}

// listed returns the request for an entry with the options of a list.
func (s *Service) listed(e option.Entry, rename bool) (download.Request, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, err := s.Job.Request(e)
	if err == nil {
		r.IfExists.Rename = rename && !r.IfExists.Overwrite
	}
	return r, err
}

// seeding parses aria2's options for seeding. seed-time is in minutes.
func seeding(r *download.Request, options map[string]string) error {
	if word := options["seed-ratio"]; word != "" {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || n < 0 {
			return problem.Misuse("seed-ratio", "is not a number", "")
		}
		r.Seed.Ratio = n
	}
	if word := options["seed-time"]; word != "" {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || n < 0 || n > 1e6 {
			return problem.Misuse("seed-time", "is not a number of minutes", "")
		}
		r.Seed.Time = minutes(n)
	}
	return nil
}

func minutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }

// signature adds the signature that the client sent. Only keys of the daemon are trusted.
func signature(r *download.Request, text string) error {
	if text == "" {
		return nil
	}
	if !r.Trust.Anchors.Any() {
		return &problem.Problem{
			Kind: download.NoEvidence, What: "verify", Where: "signature",
			Why:  "the daemon trusts no key or certificate",
			Hint: "give the trusted keys with braid daemon --keyring FILE",
		}
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return problem.Misuse(daemon.OptionSignature, "not base64", "")
	}
	r.Trust.Signatures = append(slices.Clip(r.Trust.Signatures), download.Signature{From: "given by the client", Data: data})
	return nil
}

// inRoot returns the folder of a file, and creates the folder if it is missing. It returns an error if the folder is
// outside the root, also through a symbolic link.
func (s *Service) inRoot(asked, dir, name string) (string, error) {
	if asked != "" && !filepath.IsAbs(asked) {
		dir = filepath.Join(s.Root, dir)
	}
	below, err := filepath.Rel(s.Root, dir)
	if err != nil || !filepath.IsLocal(below) {
		return "", Outside(dir, s.Root)
	}
	if below == "." {
		return s.Root, nil
	}
	if err := partfile.MakeFolders(fsys.OS, s.Root, filepath.ToSlash(filepath.Join(below, cmp.Or(name, "x")))); err != nil {
		return "", &download.Error{Kind: download.Local, What: "folder", Where: source.Escape(dir), Err: err}
	}
	return dir, nil
}

// Outside returns the error for a folder outside the root.
func Outside(dir, root string) *problem.Problem {
	return &problem.Problem{
		Kind: download.Local, What: "folder", Where: dir,
		Why: "is outside " + root,
	}
}

func isMagnet(e queue.Entry) bool { return len(e.URIs) > 0 && metainfo.IsMagnet(e.URIs[0]) }

// described returns the request for the file that a document describes. If the document has several files, the error is
// a *download.SeveralError.
func (s *Service) described(ctx context.Context, e queue.Entry, r download.Request) (download.Request, error) {
	var doc *download.Document
	var err error
	switch {
	case len(e.Document)+len(e.URIs) == 0:
		return r, &problem.Problem{
			Kind: download.Usage, What: "document", Why: "the daemon no longer has the document or URLs of this download",
			Hint: "add the download again",
		}
	case len(e.Document) > 0:
		doc, err = download.ReadDocument(bytes.NewReader(e.Document), e.GID.String())
	case isMagnet(e):
		doc, err = s.documents.Magnet(ctx, r, e.URIs[0])
	case e.Options[daemon.OptionSelect] != "" && !r.NoMetalink && (e.Following != 0 || download.IsDocument(r.URL.Path)):
		doc, err = s.documents.Document(ctx, r)
	default:
		return r, nil
	}
	if err != nil {
		return r, err
	}
	word := e.Options[daemon.OptionSelect]
	n, err := strconv.Atoi(word)
	switch {
	case doc.Files.Len() == 0 && len(doc.Refused) > 0: // all names are unsafe
		return r, job.RefusedName(source.Escape(doc.Name), doc.Refused[0])
	case word == "" && doc.Files.Len() == 1:
		n = 1
	case err != nil:
		return r, &download.SeveralError{Document: doc}
	case n < 1 || n > doc.Files.Len():
		return r, problem.Misuse(daemon.OptionSelect+" "+word,
			"the document has "+option.Count(doc.Files.Len(), "file"), "")
	}
	return doc.Request(doc.Files.At(n-1), r)
}

// Owns reports whether path leads to a file or folder that the daemon depends on.
func (s *Service) Owns(path string) bool { return job.LeadsTo(path, s.ownFiles()) }

// ownFiles returns the files and folders that the daemon depends on.
func (s *Service) ownFiles() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Concat(job.OwnFolders(), s.Job.Files(), s.Files, []string{s.State, s.Session})
}

// jobOf returns the job for an entry. The name of the job is the path below the root. Workers place the file at the
// same path below their folder.
func (s *Service) jobOf(e queue.Entry) (fleet.Job, error) {
	listed := option.Entry{URIs: e.URIs, Options: option.Aria2Settings(e.Options)}
	switch {
	case e.Watch != "":
		return fleet.Job{}, problem.Misuse("watch "+e.Watch,
			"a download of a watch needs a daemon with --watch, without --queue",
			"use braid watch --queue")
	case len(e.Document) > 0 || len(e.URIs) == 0:
		return fleet.Job{}, problem.Misuse("document", "a job in the queue needs URLs, not a document",
			"add the URL of the document, or start braid daemon without --queue")
	case isMagnet(e):
		return fleet.Job{}, problem.Misuse("magnet link",
			"a job in the queue needs a file name, which a magnet link does not give",
			"start braid daemon without --queue")
	case e.Options[daemon.OptionSignature] != "" || e.Options[daemon.OptionSelect] != "":
		return fleet.Job{}, problem.Misuse(job.MaskWord(e.URIs[0]),
			"the options for signatures and for the selection of files do not apply to jobs in a queue",
			"give the trusted keys to the workers: braid work --keyring FILE")
	}
	r, err := s.listed(listed, false)
	if err != nil {
		return fleet.Job{}, err
	}
	if asked := e.Options["dir"]; asked != "" && !filepath.IsAbs(asked) {
		r.Dir = filepath.Join(s.Root, r.Dir)
	}
	below, err := filepath.Rel(s.Root, r.Dir)
	if err != nil || !filepath.IsLocal(below) {
		return fleet.Job{}, Outside(r.Dir, s.Root)
	}
	r.Dir = below
	return job.FleetJob(listed, &r)
}
