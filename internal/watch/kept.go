package watch

import (
	"slices"
	"time"
)

// A version is a file of a release that braid put in place.
type version struct {
	Name    string    `json:"name"` // with slashes, in the folder of its watch
	Size    int64     `json:"size"`
	ModTime time.Time `json:"modified"`
}

// kept records that a file is the latest version of a watch.
func (m *Memory) kept(watch string, v version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.Versions[watch]
	if n := len(list); n > 0 && list[n-1].Name == v.Name && list[n-1].Size == v.Size && list[n-1].ModTime.Equal(v.ModTime) {
		return nil
	}
	if m.Versions == nil {
		m.Versions = map[string][]version{}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(old version) bool { return old.Name == v.Name })
	m.Versions[watch] = append(list, v)
	return m.save()
}

// prune keeps the latest versions of a watch; most is their maximum number. It calls remove for each older version, and
// forgets the version if remove returns true.
func (m *Memory) prune(watch string, most int, remove func(version) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.Versions[watch]
	surplus := len(list) - most
	if surplus <= 0 {
		return nil
	}
	left := slices.Clone(list[surplus:])
	for i := surplus - 1; i >= 0; i-- {
		if !remove(list[i]) {
			left = slices.Insert(left, 0, list[i])
		}
	}
	m.Versions[watch] = left
	return m.save()
}

// copy records the digest of a copy that replaces the link of a watch, before the copy is in place.
func (m *Memory) copy(watch, digest string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Copies == nil {
		m.Copies = map[string][]string{}
	}
	list := append(m.Copies[watch], digest)
	m.Copies[watch] = list[max(0, len(list)-2):] // the current copy, and the next copy
	return m.save()
}

// copied reports whether a copy with this digest was recorded.
func (m *Memory) copied(watch, digest string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.Copies[watch], digest)
}
