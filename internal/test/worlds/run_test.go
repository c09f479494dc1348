package worlds

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/internal/test/oracle"
)

const (
	folder   = "/d"
	fileName = "f.bin"
	longest  = 6 * time.Hour // that a command may take
	realTime = time.Hour     // that a story may take: nearly all take milliseconds, and one that does not end some minutes
	password = "secret"
)

// A run is a story as it goes on.
type run struct {
	w       *World
	disk    *fsystest.Disk
	bucket  *bucket // with Command.Store, in place of the disk
	state   string  // folder of the host's own file system, for what is remembered and the key
	renames bool    // files of other names are to be expected
	dirs    string  // where such folders are
	kills   int
	process *process // of the last command
	watched recorded
}

// tell lets a world's story happen, and returns what happened.
func tell(t *testing.T, w *World) oracle.Story {
	dirs, err := os.MkdirTemp(scratch(), "braid-worlds-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dirs)
	story := oracle.Story{Contents: map[string][]byte{}, HTTPS: map[string]bool{}, Signed: w.signed()}
	for _, p := range w.Parties {
		story.HTTPS[p.Name] = p.HTTPS
		for _, f := range p.Faces {
			story.Contents[f.has()] = w.content(f.has()).data
		}
	}
	spins := time.AfterFunc(realTime, func() { panic("this story takes no time of its own and does not end:\n" + w.String()) })
	defer spins.Stop()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)))
		r := &run{w: w, disk: fsystest.NewDisk(), bucket: &bucket{}, dirs: dirs, state: filepath.Join(dirs, "0")}
		if err := errors.Join(os.Mkdir(r.state, 0o700), fsys.MkdirAll(r.disk, folder, 0o777)); err != nil {
			t.Fatal(err)
		}
		for k := range w.Commands {
			story.Commands = append(story.Commands, r.command(k))
			time.Sleep(time.Minute)
		}
	})
	return story
}

// scratch is a folder in memory, if there is one.
func scratch() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// files looks at what is there.
func (r *run) files() (f oracle.Files) {
	d, err := r.disk.OpenDir(folder)
	if err != nil {
		return f
	}
	defer d.Close()
	names, _ := d.Names()
	for _, name := range names {
		read := func() []byte {
			data, err := fsys.ReadFile(r.disk, filepath.Join(folder, name), math.MaxInt32)
			if err != nil || data == nil {
				return []byte{}
			}
			return data
		}
		switch name {
		case fileName:
			f.Final = read()
		case fileName + ".part":
			f.Part = read()
		case fileName + ".part.journal":
			f.Journal = true
		case fileName + ".part.bad", fileName + ".part.journal.bad":
		default:
			if r.renames || strings.HasSuffix(name, ".bad") {
				continue
			}
			f.Strange = append(f.Strange, name)
		}
	}
	return f
}

// stored returns the files of a command: on disk or in the object store.
func (r *run) stored(c Command) oracle.Files {
	if !c.Store {
		return r.files()
	}
	r.bucket.mu.Lock()
	defer r.bucket.mu.Unlock()
	return oracle.Files{Final: r.bucket.object, Part: bytes.Clone(r.bucket.parts), Journal: len(r.bucket.parts) > 0}
}

// A moment is when a command is ended.
type moment struct {
	how   string
	event string
	n     int
}

func parseMoment(s string) (m moment) {
	if parts := strings.Split(s, ":"); len(parts) == 3 {
		m.how, m.event = parts[0], parts[1]
		m.n, _ = strconv.Atoi(parts[2])
	}
	return m
}

// A cutter ends a command at a moment.
type cutter struct {
	r      *run
	moment moment
	cancel context.CancelCauseFunc
	net    *network

	mu      sync.Mutex
	left    int
	killed  *fsystest.Disk
	bucket  *bucket
	state   string
	ended   string
	stopped string
}

var errStopped = errors.New("stopped by the machine")

// tick counts an event, before it takes place.
func (c *cutter) tick(event string, n int) {
	c.mu.Lock()
	if event != c.moment.event || c.ended != "" {
		c.mu.Unlock()
		return
	}
	if c.left -= n; c.left > 0 {
		c.mu.Unlock()
		return
	}
	c.ended = c.moment.how
	if c.ended == "kill" {
		c.r.kills++
		c.killed = c.r.disk.Crash(c.r.disk.Changes(), fsystest.Kept)
		c.bucket = c.r.bucket.clone()
		c.state = filepath.Join(c.r.dirs, strconv.Itoa(c.r.kills))
		copyFolder(c.r.state, c.state)
	}
	c.mu.Unlock()
	if c.ended == "kill" && event != "asked" {
		c.net.kill()
	}
	c.cancel(context.Canceled)
}

// copyFolder copies what is remembered, which only its owner may read.
func copyFolder(from, to string) {
	err := os.CopyFS(to, os.DirFS(from))
	err = errors.Join(err, filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return errors.Join(err, os.Chmod(path, 0o600))
	}))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a temporary file may go meanwhile
		panic(err)
	}
}

// stop ends a command that does not end.
func (c *cutter) stop(why string) {
	c.mu.Lock()
	if c.stopped == "" {
		c.stopped = why
	}
	c.mu.Unlock()
	c.cancel(errStopped)
}

// command runs the k-th command.
func (r *run) command(k int) oracle.Command {
	cmd := r.w.Commands[k]
	if r.damage(cmd.Damage); cmd.Store {
		r.bucket.damage(cmd.Damage)
	}
	r.renames = r.renames || cmd.Rename
	r.disk.Settle()
	c := oracle.Command{
		Do: cmd.Do, Asked: "a", Require: cmd.Require, User: r.w.digest(cmd.Sha, ""), Mirrors: list(cmd.Mirrors), Fed: cmd.Mirror,
		Overwrite: cmd.Overwrite, Newer: cmd.Newer || cmd.Turn, Turn: cmd.Turn, Continue: cmd.Continue,
		LessProof: cmd.LessProof, Refresh: cmd.Refresh,
		Rename: cmd.Rename, Pipe: cmd.Pipe, Damage: cmd.Damage, Document: cmd.Doc, List: cmd.List, Key: cmd.Key,
		Lookup: cmd.Lookup || cmd.Feed != "", Forge: forgeName, Older: cmd.Older, NoLinks: cmd.NoLinks, Store: cmd.Store,
		Places: map[string]oracle.Place{}, Before: r.stored(cmd),
	}
	for i := range r.w.Parties {
		c.Places[r.w.Parties[i].Name] = r.w.place(&r.w.Parties[i], k)
	}
	word, torrent := strings.CutPrefix(cmd.Doc, "t")
	if cmd.Doc != "" && cmd.Doc != "url" && !(torrent && cmd.List != "") { // a digest outweighs the pieces of a torrent
		c.User = r.w.digest(word, "")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	cut := &cutter{r: r, moment: parseMoment(cmd.End), cancel: cancel}
	cut.left = cut.moment.n
	n := &network{w: r.w, k: k, began: time.Now(), tick: cut.tick, stop: cut.stop, asked: map[string]int{}}
	cut.net = n
	files := fsystest.Tap(r.disk, func(op fsystest.Op) error {
		if op.Changes || op.Syncs {
			cut.tick(op.Name, 1)
		}
		return nil
	})
	u := &user{run: r, cmd: cmd, c: &c, files: files, process: r.enter(cmd, n), to: &putting{bucket: r.bucket, tick: cut.tick}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.do(fsys.With(ctx, files))
	}()
	select {
	case <-done:
	case <-time.After(longest):
		cut.stop("it does not end")
		select {
		case <-done:
		case <-time.After(longest):
			panic("a command does not end when its context does")
		}
	}
	cancel(nil)
	u.process.http.CloseIdle()
	synctest.Wait()
	c.Took = time.Since(n.began)
	c.Answers, c.Lookups = n.log()
	if cmd.Feed != "" {
		feed := oracle.Answer{Party: "a", File: oracle.Feed, Status: http.StatusOK, Digest: r.w.digest(cmd.Feed, "")}
		c.Lookups = append([]oracle.Answer{feed}, c.Lookups...)
	}
	c.Stopped = cut.stopped
	c.Cut = cut.ended
	if c.Cut == "interrupt" && c.Code == 0 { // it was through
		c.Cut = ""
	}
	if c.Cut == "kill" {
		r.disk, r.bucket, r.state, r.process = cut.killed, cut.bucket, cut.state, nil
	}
	c.After = r.stored(cmd)
	if r.renames {
		c.Kept = 0 // of which file is not known
	}
	return c
}
