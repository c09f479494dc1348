package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/internal/problem"
	"braid/objectstore"
)

// An objectPlace is where files go in an object store (--to, -o s3://...). The zero value is none.
type objectPlace struct {
	name string // of the one file, if -o says it

	mu    sync.Mutex
	notes []string // of the store
}

// open reads where objects go, if the user wants any.
func (p *objectPlace) open(g *getCommand) (err error) {
	switch {
	case objectstore.IsURL(g.Out):
		g.common.Store, p.name, err = objectAt(g.Out, time.Duration(g.Timeout), p.note)
	case g.To != "":
		var store *objectstore.Store
		if store, err = objectstore.Open(g.To, objectOptions(time.Duration(g.Timeout), p.note)); err == nil {
			g.common.Store, p.name = store, g.Out
		}
	}
	return err
}

// objectAt is the store of an object, and its name there.
func objectAt(word string, timeout time.Duration, note func(string)) (download.Store, string, error) {
	cut := strings.LastIndexByte(word, '/') + 1
	if cut <= len("s3://") || cut == len(word) {
		return nil, "", problem.Misuse(word, "names no object", "s3://BUCKET/NAME")
	}
	store, err := objectstore.Open(word[:cut], objectOptions(timeout, note))
	if err != nil {
		return nil, "", err
	}
	return store, word[cut:], nil
}

// objectOptions are those of a store for a command. Note is called with what the user should know.
func objectOptions(timeout time.Duration, note func(string)) objectstore.Options {
	o := objectstore.Options{Timeout: timeout, UserAgent: "braid/" + thisBuild().version, Note: note}
	if state := stateFolder(); state != "" {
		o.Folder = filepath.Join(state, "uploads")
	}
	return o
}

// note keeps a text for tell, as other goroutines write on the screen while downloads run.
func (p *objectPlace) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, text)
}

// tell shows the notes as warnings. It is called when the downloads have ended.
func (p *objectPlace) tell(to *screen) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.notes {
		to.warn("%s", text)
	}
	p.notes = nil
}

// misuses are what makes no sense for objects.
func (*objectPlace) misuses(g *getCommand) []wrongUse {
	if g.To == "" && !objectstore.IsURL(g.Out) {
		return nil
	}
	what := "--to"
	if g.To == "" {
		what = "-o"
	}
	return []wrongUse{
		{g.To != "" && !objectstore.IsURL(g.To), "--to", "not a place in an object store",
			"--to s3://BUCKET/PREFIX/; -d FOLDER puts files into a folder"},
		{g.To != "" && objectstore.IsURL(g.Out), "--to", "contradicts -o s3://...", "-o NAME is below the prefix of --to"},
		{g.To != "" && g.Out == "-", "--to", "the file goes to standard output", ""},
		{g.Dir != "", what, "contradicts -d", ""},
		{g.Rename, "--rename", "an object has the name that it is given",
			"--overwrite replaces it, --no-clobber leaves it as it is"},
		{g.Newer.RemoteTime, "--remote-time", "an object has no date of its own",
			"the server's stands in NAME.evidence.json beside it"},
		{g.Refresh, "--refresh", "goes on with a part file, and an upload has none", ""},
		{g.Peers.seeds(), "--seed-time", "the file is not on this disk", ""},
	}
}

// place is where a file of a list goes. It is an error if its line says a folder of its own, or what no object has;
// option is the one that does.
func (e *entry) place() (option string, err error) {
	switch {
	case e.Store == nil:
		e.Dir, e.Name = placed(e.dir, e.out)
		e.MakeDir = true
		return "", nil
	case e.dir != "":
		return "dir", fmt.Errorf("a folder, and the files go to %s", e.Store.Path(""))
	case e.RemoteTime:
		return "remote-time", errors.New("an object has no date of its own")
	}
	e.Name = e.out
	return "", nil
}

// keptIn is where something was kept that is no file.
func keptIn(e *download.Error) string {
	if objectstore.IsURL(e.Part) {
		return "uploaded to " + e.Part + ", where nothing is visible yet"
	}
	return "kept in " + e.Part
}
