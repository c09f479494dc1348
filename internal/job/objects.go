package job

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
)

// openStore opens the object store that the options name (--to, -o s3://...).
func openStore(d *Defaults) (err error) {
	o := StoreOptions(d.Agent, time.Duration(d.Transfer.Timeout), d.Notes.Add)
	switch {
	case objectstore.IsURL(d.Out):
		d.common.Store, d.object, err = ObjectAt(d.Out, o)
	case d.To != "":
		var store *objectstore.Store
		if store, err = objectstore.Open(d.To, o); err == nil {
			d.common.Store, d.object = store, d.Out
		}
	}
	return err
}

// ObjectAt returns the store and the name of the object at word, s3://BUCKET/NAME.
func ObjectAt(word string, o objectstore.Options) (download.Store, string, error) {
	cut := strings.LastIndexByte(word, '/') + 1
	if cut <= len("s3://") || cut == len(word) {
		return nil, "", problem.Misuse(word, "a URL that ends with a slash is a prefix, not an object", "s3://BUCKET/NAME")
	}
	store, err := objectstore.Open(word[:cut], o)
	if err != nil {
		return nil, "", err
	}
	return store, word[cut:], nil
}

// StoreOptions returns the options of a store. The store calls note with messages for the user.
func StoreOptions(agent string, timeout time.Duration, note func(string)) objectstore.Options {
	o := objectstore.Options{Timeout: timeout, UserAgent: agent, Note: note}
	if state := StateFolder(); state != "" {
		o.Folder = filepath.Join(state, "uploads")
	}
	return o
}

// StoreNotes collects messages of a store during downloads.
type StoreNotes struct {
	mu    sync.Mutex
	texts []string
}

// Add appends a text for Take. It is safe for concurrent use.
func (n *StoreNotes) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

// Take returns and removes the texts added so far.
func (n *StoreNotes) Take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	texts := n.texts
	n.texts = nil
	return texts
}

// place sets the folder and name of a file of a list. With an object store, a folder or a modification time in the
// file's entry is an error. option is the option with the error.
func (e *entry) place() (option string, err error) {
	switch {
	case e.Store == nil:
		e.Dir, e.Name = placed(e.dir, e.out)
		e.MakeDir = true
		return "", nil
	case e.dir != "":
		return "dir", fmt.Errorf("does not apply, because the files go to %s", e.Store.Path(""))
	case e.RemoteTime:
		return "remote-time", errors.New("the date of an object cannot be set")
	}
	e.Name = e.out
	return "", nil
}
