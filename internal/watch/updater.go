// Package watch is the watcher: its configuration (ParseConfig), the downloads for the updates that an antenna hands on
// (Updater), the programs that run after them, its metrics, and the socket at which it is asked how it stands.
//
//	u := &watch.Updater{Client: client, Rules: rules}
//	err := (&antenna.Antenna{Feeds: feeds, Watches: watches, Store: store}).Watch(ctx, u.Handle)
//
// An update is a hint. The request is for the watch's own URL, conditional by the validators of the file that is there,
// with mirrors, digests and signatures as for every download. Nothing is replaced by something older, nor anything
// verified by something that is not. An update is done when the file is in place and the program that waits for it has
// ended well; until then it comes again.
//
// Polling and the decision what is news belong to the antenna, verification to the download.
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
	"braid/internal/fsys"
	"braid/internal/mask"
)

// A Rule is a watch with what its downloads take.
type Rule struct {
	*Watch
	// Request is what all downloads have in common: what is required, trusted keys, mirrors, fields.
	Request download.Request
	// Site applies the settings of the request's site. It may be nil.
	Site func(*download.Request) error
	// SignaturesOf returns the signatures that the user names for the file at a URL. It may be nil.
	SignaturesOf func(u *url.URL) ([]download.Signature, error)
	// Limit holds the downloads of the watch to a number of bytes a second, in place of that of the client.
	Limit *download.Limiter
}

// path is where the file of a name goes.
func (r *Rule) path(name string) (string, error) {
	if s := r.Request.Store; s != nil {
		return s.Path(name), nil
	}
	return filepath.Abs(filepath.Join(r.Dir, filepath.FromSlash(name)))
}

// An Updater handles updates. Its fields are not changed after use; several updates may be handled at once.
type Updater struct {
	// Client downloads.
	Client *download.Client
	// Get downloads in place of Client, whose limits count all the same. If nil, Client does at once.
	Get Getter
	// Rules are those of watches, by name.
	Rules map[string]*Rule
	// runHook runs a program. If nil, the function of that name does.
	runHook func(ctx context.Context, h hook) error
	// Log gets what an update does not tell, without secrets. It may be nil.
	Log *slog.Logger
	// Memory keeps what has failed, and what is not acknowledged though it is in place. If nil, that is known in this run only.
	Memory *Memory
	// Hide takes secrets out of what programs are told of errors. If nil, nothing is taken out.
	Hide func(string) string
	// Hidden are names of variables that programs do not get.
	Hidden []string
	// Programs is how many programs run at once. If zero, that is not limited.
	Programs int
	// Reserved reports whether a path leads to what the watcher goes by, as its configuration and keys. The file of a
	// glob, whose name a feed has chosen, replaces none of that. If nil, nothing is reserved.
	Reserved func(path string) bool
	// Grace is how long a program may go on when ctx has ended. If zero, it is 30 seconds.
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

// Handle is an antenna.Handler.
func (w *Updater) Handle(ctx context.Context, u antenna.Update) (antenna.Outcome, error) {
	w.init()
	t, err := w.task(ctx, u)
	var o antenna.Outcome
	if err == nil {
		o, err = t.run(ctx)
	}
	switch {
	case err == nil:
		if err := w.memory.succeeded(t.key()); err != nil {
			w.Log.Error("it cannot be remembered what is done", "error", err)
		}
	case ctx.Err() == nil: // else it was interrupted
		w.failed(ctx, t, err)
	}
	return o, err
}

// Moved reports whether the file of an update has its place somewhere else than it was put the last time, as its watch
// has another folder or name since. It is an antenna's Wants. Names that differ by version say nothing about that.
func (w *Updater) Moved(u antenna.Update) bool {
	r := w.Rules[u.Watch]
	if r == nil || u.Last.Path == "" || !r.File.Steady() {
		return false
	}
	at, err := url.Parse(u.URL)
	if err != nil {
		return false
	}
	name, err := r.File.Name(subject{URL: at, Watch: u.Watch})
	if err != nil {
		return false
	}
	path, err := r.path(name)
	return err == nil && path != u.Last.Path
}

// failed runs the program that wants to know of failures, if this is a new one.
func (w *Updater) failed(ctx context.Context, t *task, err error) {
	if t.rule == nil || len(t.rule.OnFailure) == 0 { // the memory is written anew each time, and thousands may fail at once
		return
	}
	isNew, saved := w.memory.failed(t.key(), kindOf(err))
	if saved != nil {
		w.Log.Error("failures cannot be remembered", "error", saved)
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

// kindOf tells failures apart. What they say may have a time or a number in it that differs each time.
func kindOf(err error) string {
	if e, ok := errors.AsType[*download.Error](err); ok {
		return fmt.Sprintf("download %d", e.Kind)
	}
	if _, ok := errors.AsType[*hookError](err); ok {
		return "hook"
	}
	return "other"
}

// A task is one update while it is handled.
type task struct {
	*Updater
	files  fsys.FS
	rule   *Rule
	update antenna.Update
	url    *url.URL
	log    *slog.Logger
	// name is the file in its folder with slashes, and path both.
	name, path string
	began      time.Time
	// known is what is known of the file that was put in place last.
	known antenna.Outcome
	// there: there is a file, and here: it is the one that is known. unfinished: a program that waited for it did not end well.
	there, here, unfinished bool
	modTime                 time.Time // of the file that is there
	// old is where the version before was kept.
	old string
	attempt
}

// An attempt is a download for the update.
type attempt struct {
	prepared bool   // it is not the first one, or it has begun
	linked   string // old, if this update made it
	// spent is what it has cost so far, and ceiling what its size is limited to by what its feed may still bring.
	spent, ceiling int64
	out            bool // errSpent ended it
}

// task says where the file of an update goes.
func (w *Updater) task(ctx context.Context, u antenna.Update) (t *task, err error) {
	t = &task{Updater: w, files: fsys.Of(ctx), update: u, rule: w.Rules[u.Watch], began: time.Now()}
	t.url, err = url.Parse(u.URL)
	t.log = w.Log.With("watch", u.Watch, "url", mask.URL(t.url))
	switch {
	case err != nil:
		return t, errors.New("not a URL")
	case t.rule == nil:
		return t, fmt.Errorf("there is no watch %q", u.Watch)
	}
	t.name, err = t.rule.File.Name(subject{URL: t.url, Watch: u.Watch, At: t.version()})
	if err != nil {
		return t, err
	}
	return t, t.place(ctx)
}

// version is when the file was modified, as far as the report says. It is the same whenever the update is handled.
func (t *task) version() time.Time {
	r := &t.update.Record
	if at := cmp.Or(r.LastModified, r.Detected, r.Received); at != 0 {
		return at.UTC()
	}
	return t.began
}

// key is what the memory knows the update by. URLs may be secret.
func (t *task) key() string {
	sum := sha256.Sum256([]byte(t.update.URL))
	return fmt.Sprintf("%s %x", t.update.Watch, sum[:12])
}
