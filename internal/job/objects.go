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

// openStore opens the object store that --to or -o names, if any.
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

// ObjectAt returns the object store and the name of the object at word, which has the form s3://BUCKET/NAME.
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

// StoreOptions returns the options for an object store. The store will call note with messages for the user.
func StoreOptions(agent string, timeout time.Duration, note func(string)) objectstore.Options {
	o := objectstore.Options{Timeout: timeout, UserAgent: agent, Note: note}
	if state := StateFolder(); state != "" {
		o.Folder = filepath.Join(state, "uploads")
	}
	return o
}

// StoreNotes collects an object store's messages for the user during downloads.
type StoreNotes struct {
	mu    sync.Mutex
	texts []string
}

// Add adds a message. It is safe for concurrent use.
func (n *StoreNotes) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

// Take returns the messages added since the last call.
func (n *StoreNotes) Take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	texts := n.texts
	n.texts = nil
	return texts
}

// place sets the folder and the name of the entry's file. If the file goes to an object store, a folder or a
// modification time in the entry is an error. option is the name of the option in error.
func (e *entry) place() (option string, err error) {
	switch {
	case e.req.Store == nil:
		e.req.Dir, e.req.Name = placed(e.dir, e.out)
		e.req.MakeDir = true
		return "", nil
	case e.dir != "":
		return "dir", fmt.Errorf("does not apply, because the files go to %s", e.req.Store.Path(""))
	case e.req.RemoteTime:
		return "remote-time", errors.New("the date of an object cannot be set")
	}
	e.req.Name = e.out
	return "", nil
}
