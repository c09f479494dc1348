package watch

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/download/state"
	"braid/internal/fsys"
	"braid/internal/mask"
	"braid/internal/partfile"
	"braid/verify"
)

// place determines the path of the file and the state of the current file.
func (t *task) place(ctx context.Context) error {
	var err error
	if t.path, err = t.rule.path(t.name); err != nil {
		return err
	}
	if t.rule.Many() && t.rule.Request.Store == nil && t.Reserved != nil && t.Reserved(t.path) {
		return &ReservedError{t.path}
	}
	if err := errors.Join((latestLink{t.rule, t.memory}).check(), latestObject{t.rule}.check(ctx)); err != nil {
		return err
	}
	info, there, err := t.look(ctx)
	if err != nil {
		return err
	}
	if t.known, t.unfinished = t.memory.placed(t.key()); !t.unfinished {
		t.known = t.update.Last
		t.known.Declined = false
	}
	if t.there = there; there {
		t.modTime = info.ModTime
		t.here = t.known.Path == t.path && t.known.Size == info.Size && t.known.ModTime.Equal(t.modTime)
	}
	return nil
}

// ReservedError reports that a file of a glob would replace a file that the watcher depends on.
type ReservedError struct{ Path string }

func (e *ReservedError) Error() string {
	return mask.Escape(e.Path) + ": the watcher itself uses this file, so no feed may replace it"
}

// look returns the state of the current file, and creates missing folders.
func (t *task) look(ctx context.Context) (info fsys.Info, there bool, err error) {
	if t.rule.Request.Store != nil {
		info, err = t.stored(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return info, false, nil
		}
		return info, err == nil, err
	}
	if err := fsys.MkdirAll(t.files, t.rule.Dir, 0o777); err != nil {
		return info, false, err
	}
	if err := partfile.MakeFolders(t.files, t.rule.Dir, t.name); err != nil {
		return info, false, err
	}
	return partfile.Target(t.files, t.rule.Dir, t.name)
}

// stored returns the state of the object in the store.
func (t *task) stored(ctx context.Context) (fsys.Info, error) {
	u := t.rule.Request.Store.Upload(t.name)
	e, err := u.Existing(ctx)
	if err = errors.Join(err, u.Close()); err != nil {
		return fsys.Info{}, err
	}
	return fsys.Info{Size: e.Size, ModTime: e.ModTime}, nil
}

// run downloads the new version and runs the program for it. It first records that the file is in place, so that the
// file is not downloaded again if the program fails or the machine stops.
func (t *task) run(ctx context.Context) (antenna.Outcome, error) {
	o, replaced, err := t.download(ctx)
	if t.linked != "" && !replaced && (err == nil || t.stayed(t.linked)) {
		t.tidied(fsys.Remove(t.files, t.linked))
	}
	if err == ErrDeclined {
		if t.update.Release != nil {
			t.tidied(abandon(t))
		}
		o := t.update.Last
		o.At, o.Bytes, o.Changed, o.Declined = time.Time{}, 0, false, true
		return o, nil
	}
	if err != nil {
		return t.unfinishedOutcome(o.Bytes, o.Path != "" || mayBeThere(t)), err
	}
	if !replaced { // an earlier attempt put the file in place
		t.tidied(t.findOld())
	}
	o.Changed = o.Digest != t.update.Last.Digest || !t.there || t.unfinished
	if replaced {
		t.compare(&o)
	}
	if o.Changed && (t.update.Release != nil || len(t.rule.Run) > 0) {
		if err := t.memory.place(t.key(), o); err != nil {
			return t.unfinishedOutcome(o.Bytes, true), err
		}
	}
	if err := t.settle(ctx, &o); err != nil {
		return t.unfinishedOutcome(o.Bytes, true), err
	}
	if o.Changed {
		err = t.finish(ctx, o)
	}
	t.tidied(t.prune())
	t.tidied(t.pruneReleases())
	t.tidied(clearUpTo(t))
	return o, err
}

// mayBeThere reports whether an earlier attempt may have put the file of the release in place. A file that existed
// before the first attempt does not belong to the release: the user changed it, or another program wrote it.
func mayBeThere(t *task) bool {
	return t.there && (t.unfinished || t.update.Begun && (t.rule.File.PerVersion() || !t.here))
}

// unfinishedOutcome returns the outcome of a failed update. there reports that the file may be in place.
func (t *task) unfinishedOutcome(bytes int64, there bool) antenna.Outcome {
	o := antenna.Outcome{Bytes: bytes}
	if there && t.update.Release != nil {
		o.Path = t.path
	}
	return o
}

// tidied logs an error of removing old versions. The error does not fail the update, because the new version is in
// place.
func (t *task) tidied(err error) {
	if err != nil {
		t.log.Error("old versions cannot be removed", "error", err)
	}
}

func (t *task) finish(ctx context.Context, o antenna.Outcome) error {
	if len(t.rule.Run) == 0 {
		return nil
	}
	h := t.hook(t.rule.Run, "updated")
	h.Env = append(h.Env, t.fileVariables(&o)...)
	return t.runHook(ctx, h)
}

func (t *task) request() (download.Request, error) {
	r := t.rule.Request
	u := *t.url
	r.Access.User = u.User
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	r.URL, r.Dir, r.Name = &u, t.rule.Dir, filepath.FromSlash(t.name)
	if t.rule.Site != nil {
		if err := t.rule.Site(&r); err != nil {
			return r, err
		}
	}
	r.IfExists.IfNewer, r.IfExists.AllowOlder = true, t.rule.AllowOlder
	r.IfExists.NoVersions = true // the antenna stores the versions
	r.Observe = t.observe
	r.Limits.Rate = cmp.Or(t.rule.Limit, r.Limits.Rate, t.Client.Limit)
	if r.Limits.MaxSize = cmp.Or(t.rule.Size, t.Client.MaxSize); t.Client.MaxSize > 0 {
		r.Limits.MaxSize = min(r.Limits.MaxSize, t.Client.MaxSize)
	}
	if t.here {
		r.IfExists.Known = t.knownVersion()
	}
	ofFeed(&r, &t.update, t.Client.HTTP, t.rule.FeedMirrors)
	t.ofRelease(&r)
	if t.there && t.known.Evidence != "" && r.Trust.Require == download.RequireNothing && !r.Trust.LessProof {
		r.Trust.Require = download.RequireDigest // the current file was verified
	}
	if t.rule.SignaturesOf == nil {
		return r, nil
	}
	var err error
	r.Trust.Signatures, err = t.rule.SignaturesOf(&u)
	return r, err
}

// knownVersion returns the recorded validators and digest of the current file.
func (t *task) knownVersion() *state.Version {
	v := &state.Version{ETag: t.known.ETag, LastModified: t.known.LastModified, Host: t.known.Host}
	if t.known.Fleeting {
		*v = v.Before()
	}
	// Without an ETag, a server that now has an older file would answer that the file was not modified.
	if v.ETag == "" && (t.rule.AllowOlder || t.update.Release != nil) {
		v.LastModified = time.Time{}
	}
	if d, err := verify.ParseHex(verify.SHA256, t.known.Digest); err == nil {
		v.Digest = d
		if t.known.Evidence != "" {
			v.Over = verify.HTTP // the weakest channel, because the actual one is not recorded
		}
	}
	return v
}

// download requests the file. replaced reports whether the current file was replaced by a different file.
func (t *task) download(ctx context.Context) (o antenna.Outcome, replaced bool, err error) {
	if t.update.Release != nil && t.unfinished && t.here { // the file is in place, and the server may no longer have it
		o = t.known
		o.At, o.Bytes = t.began, 0
		return o, false, nil
	}
	res, err := t.get(ctx)
	if err != nil {
		return antenna.Outcome{Bytes: res.Fetched}, false, err
	}
	o = t.known
	o.At, o.Bytes = t.began, res.Fetched
	switch {
	case res.Older:
		t.log.Warn("the server has an older file, so the existing one is kept", "here",
			t.known.LastModified, "server", res.LastModified)
		return o, false, nil
	case res.NotModified:
		if o.Evidence == "" && res.Proof.Verified() {
			o.Evidence = res.Proof.String()
		}
		return o, false, nil
	}
	o, err = t.outcome(ctx, res)
	return o, !res.AlreadyComplete && (!t.there || !t.same(&o)), err
}

// outcome describes the file that is in place now.
func (t *task) outcome(ctx context.Context, res download.Result) (antenna.Outcome, error) {
	o := antenna.Outcome{
		ETag: res.ETag, LastModified: res.LastModified, Host: res.Host, Size: res.Size, Path: t.path,
		Bytes: res.Fetched, At: t.began, Fleeting: res.Fleeting,
	}
	if res.Proof.Verified() {
		o.Evidence = res.Proof.String()
	}
	o.Digest = sha256Of(res.Proof)
	info, _, err := t.look(ctx)
	if err != nil {
		return o, err
	}
	o.ModTime = info.ModTime
	return o, nil
}

// same reports whether the new file has the same bytes as the file that it replaced. A server without digests sends a
// file again if only its date has changed.
func (t *task) same(o *antenna.Outcome) bool { return t.here && t.known.Digest == o.Digest }

// compare logs where the file differs from the record of its feed. A difference is no error: it proves nothing about
// the file or the feed, and the file was verified by its own evidence.
func (t *task) compare(o *antenna.Outcome) {
	r := &t.update.Record
	for _, d := range reportedDigests(&t.update) {
		if d.Algorithm() == verify.SHA256 && o.Digest != "" && d.Hex() != o.Digest {
			t.log.Warn("feed-mismatch", "feed", t.update.Feed, "what", "sha-256", "reported", d.Hex(), "is", o.Digest)
		}
	}
	if r.Size > 0 && r.Size != o.Size {
		t.log.Warn("feed-mismatch", "feed", t.update.Feed, "what", "size", "reported", r.Size, "is", o.Size)
	}
	if r.MD5 == "" || r.Format == feed.Sitemap || t.rule.Request.Store != nil { // an object is not read again for its MD5
		return
	}
	sum, err := md5Of(t.files, t.path)
	if err != nil {
		t.log.Warn("feed-mismatch", "feed", t.update.Feed, "what", "md5", "error", err)
	} else if sum != r.MD5 {
		t.log.Warn("feed-mismatch", "feed", t.update.Feed, "what", "md5", "reported", r.MD5, "is", sum)
	}
}

func md5Of(files fsys.FS, path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := md5.New()
	if _, err := io.Copy(h, fsys.Reader(f)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (t *task) observe(ev download.Event) {
	switch ev := ev.(type) {
	case download.SourceUp:
		t.log.Debug("source", "state", "up", "source", ev.URL, "host", ev.Host)
	case download.SourceDown:
		level := t.log.Debug
		if ev.Banned {
			level = t.log.Warn
		}
		level("source", "state", "down", "source", ev.URL, "host", ev.Host, "error", ev.Err, "banned", ev.Banned,
			"back", ev.Back.Round(time.Second))
	case download.Resumed:
		t.log.Debug("resumed", "bytes", ev.Bytes)
	case download.Comparing:
		t.log.Debug("comparing", "done", ev.Done, "size", ev.Size)
	case download.Restarted:
		t.log.Info("restarted", "why", ev.Reason)
	case download.Note:
		t.log.Debug("note", "text", ev.Text)
	}
}
