package watch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"braid/antenna"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// Memory stores which updates have failed, so that each failure is reported once, and which files are in place although
// their updates are not done. The zero Memory is not saved to disk. Its methods are safe for concurrent use.
type Memory struct {
	files fsys.FS
	path  string
	// key seals the journals of this watcher's part files.
	key *partfile.Key

	mu sync.Mutex
	remembered
}

// maxMemory limits the size of the file, in bytes.
const maxMemory = 64 << 20

// remembered is the stored form of a Memory. The keys of Failed and Placed are the name of a watch and a hash of a URL.
type remembered struct {
	Failed []failure                  `json:"failures,omitempty"` // at most mostFailed, the latest last
	Placed map[string]antenna.Outcome `json:"placed,omitempty"`
	// Versions has the files of releases that are in place, by the names of watches, the latest last. Copies has the
	// digests of the copies that replace links.
	Versions map[string][]version `json:"versions,omitempty"`
	Copies   map[string][]string  `json:"copies,omitempty"`
	// Begun has the versions with downloads that began, by the names of watches.
	Begun map[string][]begun `json:"begun,omitempty"`
}

// A failure is an update that failed, and the kind of its last error.
type failure struct {
	Key  string `json:"key"`
	Kind string `json:"kind"`
}

// mostFailed limits the remembered failures. If a feed no longer lists a URL, the update of the URL neither fails nor
// succeeds again. Its failure becomes the oldest and is forgotten first. A failure is reported again only if more
// updates than mostFailed fail at the same time.
const mostFailed = 4096

// OpenMemory reads the file at path, which may be missing. It drops entries of watches that are not in watches. A file
// that cannot be parsed is treated as empty: a failure may then be reported again, or a file requested again.
func OpenMemory(path string, watches map[string]*Rule) (*Memory, error) {
	return openMemory(fsys.OS, path, watches)
}

func openMemory(files fsys.FS, path string, watches map[string]*Rule) (*Memory, error) {
	m := &Memory{files: files, path: path}
	data, err := fsys.ReadFile(fsys.Or(files), path, maxMemory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, err
	}
	if json.Unmarshal(data, &m.remembered) != nil {
		m.remembered = remembered{}
	}
	gone := func(key string) bool { return watches[watchOf(key)] == nil }
	m.Failed = slices.DeleteFunc(m.Failed, func(f failure) bool { return gone(f.Key) })
	maps.DeleteFunc(m.Placed, func(key string, _ antenna.Outcome) bool { return gone(key) })
	maps.DeleteFunc(m.Versions, func(watch string, _ []version) bool { return watches[watch] == nil })
	maps.DeleteFunc(m.Copies, func(watch string, _ []string) bool { return watches[watch] == nil })
	maps.DeleteFunc(m.Begun, func(watch string, _ []begun) bool { return watches[watch] == nil })
	return m, nil
}

// failed records a failure and reports whether the failure is new.
func (m *Memory) failed(key, kind string) (isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := failure{key, kind}
	isNew = !slices.Contains(m.Failed, f)
	m.Failed = append(m.without(key), f)
	m.Failed = m.Failed[max(0, len(m.Failed)-mostFailed):]
	if !isNew { // the new order is saved with the next change
		return false, nil
	}
	return true, m.save()
}

// without returns the failures of all other updates.
func (m *Memory) without(key string) []failure {
	return slices.DeleteFunc(m.Failed, func(f failure) bool { return f.Key == key })
}

// succeeded records that an update is done.
func (m *Memory) succeeded(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.Failed) + len(m.Placed)
	m.Failed = m.without(key)
	delete(m.Placed, key)
	if len(m.Failed)+len(m.Placed) == before {
		return nil
	}
	return m.save()
}

// place records that a file is in place, before its update is done.
func (m *Memory) place(key string, o antenna.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Placed == nil {
		m.Placed = map[string]antenna.Outcome{}
	}
	m.Placed[key] = o
	return m.save()
}

// placed returns the outcome that place recorded.
func (m *Memory) placed(key string) (o antenna.Outcome, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok = m.Placed[key]
	return o, ok
}

// Forget removes all entries of a watch.
func (m *Memory) Forget(watch string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.Failed) + len(m.Placed)
	m.Failed = slices.DeleteFunc(m.Failed, func(f failure) bool { return watchOf(f.Key) == watch })
	maps.DeleteFunc(m.Placed, func(key string, _ antenna.Outcome) bool { return watchOf(key) == watch })
	if len(m.Failed)+len(m.Placed) == before { // a watch that never ran has no folder to save to
		return nil
	}
	return m.save()
}

// watchOf returns the name of the watch in a key.
func watchOf(key string) string { return key[:max(strings.LastIndexByte(key, ' '), 0)] }

func (m *Memory) save() error {
	if m.path == "" {
		return nil
	}
	data, err := json.Marshal(m.remembered)
	if err != nil {
		return err
	}
	return fsys.WriteFile(m.files, m.path, data, 0o600)
}
