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

// place looks at what is there.
func (t *task) place(ctx context.Context) error {
	var err error
	if t.path, err = t.rule.path(t.name); err != nil {
		return err
	}
	if t.rule.Glob && t.rule.Request.Store == nil && t.Reserved != nil && t.Reserved(t.path) {
		return &ReservedError{t.path}
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

// A ReservedError says that the file of a glob would replace what the watcher goes by.
type ReservedError struct{ Path string }

func (e *ReservedError) Error() string {
	return mask.Escape(e.Path) + ": the watcher goes by what is there, and no feed may name it"
}

// look looks for the file, and makes its folders.
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

// stored looks for the object.
func (t *task) stored(ctx context.Context) (fsys.Info, error) {
	u := t.rule.Request.Store.Upload(t.name)
	e, err := u.Existing(ctx)
	if err = errors.Join(err, u.Close(true)); err != nil {
		return fsys.Info{}, err
	}
	return fsys.Info{Size: e.Size, ModTime: e.ModTime}, nil
}

// run downloads what is new, and runs what waits for it.
func (t *task) run(ctx context.Context) (antenna.Outcome, error) {
	o, replaced, err := t.download(ctx)
	if t.linked != "" && !replaced && (err == nil || t.stayed(t.linked)) {
		t.tidied(fsys.Remove(t.files, t.linked))
	}
	if err == ErrDeclined {
		o := t.update.Last
		o.At, o.Bytes, o.Changed, o.Declined = time.Time{}, 0, false, true
		return o, nil
	}
	if err != nil {
		return antenna.Outcome{Bytes: o.Bytes}, err
	}
	if !replaced { // it is the one of an earlier try
		t.tidied(t.findOld())
	}
	o.Changed = o.Digest != t.update.Last.Digest || !t.there || t.unfinished
	if replaced {
		t.compare(&o)
	}
	if o.Changed {
		err = t.finish(ctx, o)
	}
	t.tidied(t.prune())
	return o, err
}

// tidied tells when an old version could not be removed. The new one is in place all the same.
func (t *task) tidied(err error) {
	if err != nil {
		t.log.Error("old versions", "error", err)
	}
}

// finish runs the program that waits for the file. What is in place is remembered before: should it not end well, or
// the machine stop, the file is not fetched again with the update.
func (t *task) finish(ctx context.Context, o antenna.Outcome) error {
	if len(t.rule.Run) == 0 {
		return nil
	}
	if err := t.memory.place(t.key(), o); err != nil {
		return err
	}
	h := t.hook(t.rule.Run, "updated")
	h.Env = append(h.Env, t.fileVariables(&o)...)
	return t.runHook(ctx, h)
}

// request is what is asked for.
func (t *task) request() (download.Request, error) {
	r := t.rule.Request
	u := *t.url
	r.User = u.User
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	r.URL, r.Dir, r.Name = &u, t.rule.Dir, filepath.FromSlash(t.name)
	if t.rule.Site != nil {
		if err := t.rule.Site(&r); err != nil {
			return r, err
		}
	}
	r.IfNewer, r.AllowOlder, r.NoVersions = true, t.rule.AllowOlder, true // the antenna remembers them
	r.Observe = t.observe
	r.Limit = cmp.Or(t.rule.Limit, r.Limit, t.Client.Limit)
	if r.MaxSize = cmp.Or(t.rule.Size, t.Client.MaxSize); t.Client.MaxSize > 0 {
		r.MaxSize = min(r.MaxSize, t.Client.MaxSize)
	}
	if t.here {
		r.Known = t.knownVersion()
	}
	if t.there && t.known.Evidence != "" && r.Require == download.RequireNothing && !r.LessProof {
		r.Require = download.RequireDigest // what is there was verified
	}
	if t.rule.SignaturesOf == nil {
		return r, nil
	}
	var err error
	r.Signatures, err = t.rule.SignaturesOf(&u)
	return r, err
}

// knownVersion is what is known of the file that is there.
func (t *task) knownVersion() *state.Version {
	v := &state.Version{ETag: t.known.ETag, Host: t.known.Host}
	if t.known.ETag != "" || !t.rule.AllowOlder { // of an older file a server says that it was not modified since
		v.LastModified = t.known.LastModified
	}
	if d, err := verify.ParseHex(verify.SHA256, t.known.Digest); err == nil {
		v.Digest = d
		if t.known.Evidence != "" {
			v.Over = verify.HTTP // over no less
		}
	}
	return v
}

// download asks for the file. Replaced says that there is another one now.
func (t *task) download(ctx context.Context) (o antenna.Outcome, replaced bool, err error) {
	res, err := t.get(ctx)
	if err != nil {
		return antenna.Outcome{Bytes: res.Fetched}, false, err
	}
	o = t.known
	o.At, o.Bytes = t.began, res.Fetched
	switch {
	case res.Older:
		t.log.Warn("the server has an older file than the one that is here, which stays", "here", t.known.LastModified, "server", res.LastModified)
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
		ETag: res.ETag, LastModified: res.LastModified, Host: res.Host, Size: res.Size, Path: t.path, Bytes: res.Fetched, At: t.began,
	}
	if res.Proof.Verified() {
		o.Evidence = res.Proof.String()
	}
	for _, d := range res.Proof.Digests() {
		if d.Algorithm() == verify.SHA256 {
			o.Digest = d.Hex()
		}
	}
	info, _, err := t.look(ctx)
	if err != nil {
		return o, err
	}
	o.ModTime = info.ModTime
	return o, nil
}

// same reports whether the file that was replaced had the same bytes: a server without digests sends a file again of
// which it only knows that its date is another.
func (t *task) same(o *antenna.Outcome) bool { return t.here && t.known.Digest == o.Digest }

// compare reports where a file is not what its feed says. That proves nothing about either, and the file was verified by its own
// evidence: a log line says so.
func (t *task) compare(o *antenna.Outcome) {
	r := &t.update.Record
	if r.Size > 0 && r.Size != o.Size {
		t.log.Warn("feed-mismatch", "feed", t.update.Feed, "what", "size", "reported", r.Size, "is", o.Size)
	}
	if r.MD5 == "" || r.Format == feed.Sitemap || t.rule.Request.Store != nil { // an object is not read again for that
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

// observe logs what happens in the download.
func (t *task) observe(ev download.Event) {
	switch ev := ev.(type) {
	case download.SourceUp:
		t.log.Debug("source", "state", "up", "source", ev.URL, "host", ev.Host)
	case download.SourceDown:
		level := t.log.Debug
		if ev.Banned {
			level = t.log.Warn
		}
		level("source", "state", "down", "source", ev.URL, "host", ev.Host, "error", ev.Err, "banned", ev.Banned, "back", ev.Back.Round(time.Second))
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
