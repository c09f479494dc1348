// Package watch implements the watcher: its configuration (ParseConfig), the downloads for the updates that an antenna
// delivers (Updater), the programs that run after them, its metrics, and the socket for status requests.
//
//	u := &watch.Updater{Client: client, Rules: rules}
//	err := (&antenna.Antenna{Feeds: feeds, Watches: watches, Store: store}).Watch(ctx, u.Handle)
//
// An update is only a hint. The request goes to the watch's own URL and is conditional on the validators of the current
// file. Mirrors, digests and signatures work as in every download. No file is replaced by an older one, and no verified
// file by an unverified one. An update is done when the file is in place and the program for it has succeeded; until
// then, the update is delivered again.
//
// Polling and deciding what is new belong to the antenna, and verification to the download.
package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/download/limit"
	"braid/internal/fsys"
	"braid/internal/mask"
)

// Rule is a watch with the settings of its downloads.
type Rule struct {
	*Watch
	// Request is the common part of the download requests: the required proof, trusted keys, mirrors and header fields.
	Request download.Request
	// Site applies the settings of the request's site. It may be nil.
	Site func(*download.Request) error
	// SignaturesOf returns the signatures that the user configured for the file at u. It may be nil.
	SignaturesOf func(u *url.URL) ([]download.Signature, error)
	// Limit limits the bytes a second of the watch's downloads. It replaces the limit of the client.
	Limit *limit.Limiter
}

// path returns the path of the file called name, in the object store or on disk.
func (r *Rule) path(name string) (string, error) {
	if s := r.Request.Store; s != nil {
		return s.Path(name), nil
	}
	return filepath.Abs(filepath.Join(r.Dir, filepath.FromSlash(name)))
}

// Updater handles updates. Its fields must not change after the first use. Handle may be called concurrently.
type Updater struct {
	// Client downloads the files.
	Client *download.Client
	// Get downloads instead of Client, whose limits still apply. If nil, Client downloads immediately.
	Get Getter
	// Rules maps the names of watches to their rules.
	Rules map[string]*Rule
	// runHook runs a program. If nil, the function runHook is used.
	runHook func(ctx context.Context, h hook) error
	// Log receives messages that no result contains, without secrets. It may be nil.
	Log *slog.Logger
	// Memory stores failures, and files that are in place but not acknowledged. If nil, they are lost at the end of the
	// run.
	Memory *Memory
	// Hide removes secrets from error texts that programs receive. If nil, nothing is removed.
	Hide func(string) string
	// Hidden are the names of variables that programs do not receive.
	Hidden []string
	// Programs limits the number of concurrent programs. If zero, there is no limit.
	Programs int
	// Reserved reports whether path is a file that the watcher depends on, such as its configuration or keys. A file of
	// a glob, whose name comes from a feed, must not replace such a file. If nil, no path is reserved.
	Reserved func(path string) bool
	// Grace is how long a program may continue after the context of Handle is done. If zero, it is 30 seconds.
	Grace time.Duration

	once   sync.Once
	memory *Memory
}

func (w *Updater) init() {
	w.once.Do(func() {
		if w.memory = w.Memory; w.memory == nil {
			w.memory = &Memory{}
		}
		if w.Log == nil {
			w.Log = slog.New(slog.DiscardHandler)
		}
		if w.runHook == nil {
			w.runHook = runHook
		}
		if w.Get == nil {
			w.Get = w.getNow
		}
		if w.Programs > 0 {
			w.runHook = inTurn(w.runHook, make(chan struct{}, w.Programs))
		}
		if w.Hide == nil {
			w.Hide = func(s string) string { return s }
		}
	})
}

// Handle implements antenna.Handler.
func (w *Updater) Handle(ctx context.Context, u antenna.Update) (antenna.Outcome, error) {
	w.init()
	t, err := w.task(ctx, u)
	var o antenna.Outcome
	if err == nil {
		o, err = t.run(ctx)
		err = t.late(err)
	}
	switch {
	case err == nil:
		if err := w.memory.succeeded(t.key()); err != nil {
			w.Log.Error("the state of the downloads cannot be saved", "error", err)
		}
	case t.isWaiting(err):
	case t.update.LastTry && isLate(err):
		t.tidied(abandon(t))
		w.failed(ctx, t, err)
	case ctx.Err() == nil: // otherwise the update was interrupted
		w.failed(ctx, t, err)
	}
	return o, err
}

// Moved reports whether the path of an update's file differs from the path of the last download, because the folder or
// name of its watch was changed. It is for the field Wants of an antenna. It reports false for names that depend on the
// modification time.
func (w *Updater) Moved(u antenna.Update) bool {
	r := w.Rules[u.Watch]
	if r == nil || u.Last.Path == "" || !r.File.Steady() {
		return false
	}
	name, err := r.nameOf(&u, subject{})
	if err != nil {
		return false
	}
	path, err := r.path(name)
	return err == nil && path != u.Last.Path
}

// failed runs the program for failures, if this failure is new.
func (w *Updater) failed(ctx context.Context, t *task, err error) {
	// Without such a program, the memory is not updated either, because each update of the memory rewrites its file,
	// and thousands of updates of watches may fail at once.
	if t.rule == nil || len(t.rule.OnFailure) == 0 {
		return
	}
	isNew, saved := w.memory.failed(t.key(), kindOf(err))
	if saved != nil {
		w.Log.Error("the failed downloads cannot be saved", "error", saved)
	}
	if !isNew {
		return
	}
	h := t.hook(t.rule.OnFailure, "failed")
	h.Env = append(h.Env, "BRAID_WATCH_ERROR="+mask.Escape(w.Hide(err.Error())))
	if err := w.runHook(ctx, h); err != nil {
		t.log.Error("on-failure", "error", err)
	}
}

// kindOf classifies an error. The text of an error may contain times or numbers that differ each time, so it cannot
// identify a failure.
func kindOf(err error) string {
	if e, ok := errors.AsType[*download.Error](err); ok {
		return fmt.Sprintf("download %d", e.Kind)
	}
	if _, ok := errors.AsType[*hookError](err); ok {
		return "hook"
	}
	return "other"
}

// task is an update that is being handled.
type task struct {
	*Updater
	files  fsys.FS
	rule   *Rule
	update antenna.Update
	url    *url.URL
	log    *slog.Logger
	// name is the path of the file below the folder of the watch, with slashes. path is the full path.
	name, path string
	began      time.Time
	// known is the outcome of the last successful download.
	known antenna.Outcome
	// there is set if the file exists. here is set if known describes it. unfinished is set if the program for the file
	// has not succeeded.
	there, here, unfinished bool
	modTime                 time.Time // of the current file
	// old is the path of the previous version.
	old string
	attempt
}

// attempt is one download for the update.
type attempt struct {
	prepared bool   // prepare was called
	replace  bool   // replace an existing file of another version
	foreign  bool   // braid has no record that it wrote such a file
	linked   string // the path of the link to the old version, if this update created the link
	// spent is the number of bytes subtracted from the allowance. ceiling is the size limit that the allowance set, or
	// 0.
	spent, ceiling int64
	out            bool // ended by errSpent
}

// task returns the task of an update, with the path of its file.
func (w *Updater) task(ctx context.Context, u antenna.Update) (t *task, err error) {
	t = &task{Updater: w, files: fsys.Of(ctx), update: u, rule: w.Rules[u.Watch], began: time.Now()}
	t.url, err = url.Parse(u.URL)
	t.log = w.Log.With("watch", u.Watch, "url", mask.URL(t.url))
	switch {
	case err != nil:
		return t, errors.New("not a URL")
	case t.rule == nil:
		return t, fmt.Errorf("no watch %q", u.Watch)
	}
	t.name, err = t.rule.nameOf(&u, subject{URL: t.url, At: t.version()})
	if err != nil {
		return t, err
	}
	return t, t.place(ctx)
}

// version returns the modification time of the file according to the report. The time is the same whenever the update
// is handled.
func (t *task) version() time.Time {
	r := &t.update.Record
	if at := cmp.Or(r.LastModified, r.Detected, r.Received); at != 0 {
		return at.UTC()
	}
	return t.began
}

// key returns the key of the update in the Memory. It contains a hash of the URL, because URLs may be secret.
func (t *task) key() string {
	sum := sha256.Sum256([]byte(t.update.URL))
	return fmt.Sprintf("%s %x", t.update.Watch, sum[:12])
}
