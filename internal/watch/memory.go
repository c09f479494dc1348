package watch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"

	"braid/antenna"
	"braid/internal/fsys"
)

// A Memory knows what has failed, so that a failure is told of once, and which files are in place though their updates
// are not done. The zero Memory forgets that at the end of the run. It may be used by several goroutines.
type Memory struct {
	files fsys.FS
	path  string

	mu sync.Mutex
	remembered
}

// maxMemory is more than what any number of watches has to remember.
const maxMemory = 64 << 20

// A remembered is what is stored. Keys are names of watches and hashes of URLs.
type remembered struct {
	Failed map[string]string          `json:"failed,omitempty"`
	Placed map[string]antenna.Outcome `json:"placed,omitempty"`
}

// OpenMemory reads the file at path, which need not exist. Of watches other than these nothing is kept. What cannot be
// read is as if it was not there: then a failure is told of again, or a file asked for once more.
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
	maps.DeleteFunc(m.Failed, func(key, _ string) bool { return gone(key) })
	maps.DeleteFunc(m.Placed, func(key string, _ antenna.Outcome) bool { return gone(key) })
	return m, nil
}

// failed notes a failure and reports whether it is a new one.
func (m *Memory) failed(key, kind string) (isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Failed[key] == kind {
		return false, nil
	}
	if m.Failed == nil {
		m.Failed = map[string]string{}
	}
	m.Failed[key] = kind
	return true, m.save()
}

// succeeded notes that an update is done.
func (m *Memory) succeeded(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, placed := m.Placed[key]
	if m.Failed[key] == "" && !placed {
		return nil
	}
	delete(m.Failed, key)
	delete(m.Placed, key)
	return m.save()
}

// place notes that a file is in place, before its update is done.
func (m *Memory) place(key string, o antenna.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Placed == nil {
		m.Placed = map[string]antenna.Outcome{}
	}
	m.Placed[key] = o
	return m.save()
}

// placed returns what place noted.
func (m *Memory) placed(key string) (o antenna.Outcome, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok = m.Placed[key]
	return o, ok
}

// Forget forgets a watch.
func (m *Memory) Forget(watch string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.Failed) + len(m.Placed)
	maps.DeleteFunc(m.Failed, func(key, _ string) bool { return watchOf(key) == watch })
	maps.DeleteFunc(m.Placed, func(key string, _ antenna.Outcome) bool { return watchOf(key) == watch })
	if len(m.Failed)+len(m.Placed) == before { // of a watch that never ran there is no folder either
		return nil
	}
	return m.save()
}

// watchOf is the name of the watch in a key.
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
