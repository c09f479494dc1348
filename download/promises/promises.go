// Package promises remembers what URLs offered to verify their files with, from one run to the next: how strong a
// digest, a signature, pieces. A URL that offers less than before has been changed by its owner, or by somebody who
// can change the file but not forge the proof, and who cannot be told apart from a server that never had any.
//
// It refuses to be evidence: it never makes a file right, and knows no digests, keys or signers. It refuses to tell what
// was downloaded: a URL is a hash of its scheme, host, port and path, without user and query (rule 62). And it is no
// judge of URLs with a query: what such a path stands for is another file each time.
//
// A download asks it twice. Check comes as soon as all is known that servers offer (the answer to a HEAD included),
// at the latest before the file gets its name; Keep comes when it has got it, so that only promises are kept that
// were true. Where the user vouches for the file, by a hash or a pinned key, there is nothing to ask; Keep never lowers
// a promise. A user who accepts less says so (--allow-less-proof): then Forget stands in the place of Check, beside Keep.
//
//	m := promises.Open(promises.Path(os.Getenv("XDG_STATE_HOME"), home)) // "" keeps everything in memory
//	offered := promises.Of(file.Claims, types...)
//	err := m.Check(u, offered, time.Now()) // a *BrokenError
//	...
//	m.Keep(u, offered, time.Now())
//	err = m.Save(time.Now()) // at the end of the run, and in long ones now and then; never fatal
package promises

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"braid/internal/atomicfile"
	"braid/source"
)

const (
	maxURLs = 10_000
	slack   = maxURLs / 10 // more in memory, so that they are not sorted for each that is kept
	maxFile = 1 << 20      // bytes; maxURLs need less

	// Old is when a promise is forgotten that nobody asked for.
	Old = 365 * 24 * time.Hour

	day = 24 * time.Hour
)

// A Memory holds what is known. The nil Memory knows nothing and keeps nothing. It may be used by several goroutines.
type Memory struct {
	path    string
	problem string

	mu    sync.Mutex
	urls  map[key]entry
	dirty map[key]change // since the file was read
}

// A key stands for a URL.
type key [16]byte

// compare orders keys.
func (k key) compare(o key) int { return bytes.Compare(k[:], o[:]) }

// An entry is what is known of a URL.
type entry struct {
	Promise
	day int64 // of the last use, counted from 1970
}

// A change says what became of an entry since the file was read.
type change uint8

const (
	raised   change = iota + 1 // it promises more, or was used
	replaced                   // what was promised before is forgotten
)

// Path is where the promises of a user are kept: in braid/promises under the folder for state that the XDG Base Directory
// Specification names. stateHome is the value of XDG_STATE_HOME, which counts if it is an absolute path; home is the
// user's home.
func Path(stateHome, home string) string {
	if !filepath.IsAbs(stateHome) {
		if home == "" {
			return ""
		}
		stateHome = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(stateHome, "braid", "promises")
}

// Open makes a Memory that is kept in the file path; if path is empty, in no file.
func Open(path string) *Memory {
	m := &Memory{path: path, dirty: map[key]change{}}
	var err error
	if m.urls, m.problem, err = load(path); err != nil {
		m.problem = err.Error()
	}
	return m
}

// Problem says why the file cannot be read, for a message (rule 8); nothing that it held is known then. It is empty if
// all is well. A file that is damaged or of another version is set aside, as path.bad, when the next one is written.
func (m *Memory) Problem() string {
	if m == nil {
		return ""
	}
	return m.problem
}

// load reads a file that need not be there. The problem is what is wrong with its content.
func load(path string) (urls map[key]entry, problem string, err error) {
	urls = map[key]entry{}
	if path == "" {
		return urls, "", nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would wait for a writer
	if errors.Is(err, fs.ErrNotExist) {
		return urls, "", nil
	}
	if err != nil {
		return urls, "", err
	}
	defer f.Close()
	return read(f)
}

// keyOf is the key of u; there is none for what no promise is kept of.
func keyOf(u *url.URL) (k key, ok bool) {
	if u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" {
		return k, false
	}
	sum := sha256.Sum256([]byte(u.Scheme + "://" + source.HostPort(u) + "/" + strings.TrimPrefix(u.EscapedPath(), "/")))
	return key(sum[:]), true
}

// Check compares what u offers now with what it promised. The error is a *BrokenError.
func (m *Memory) Check(u *url.URL, offered Promise, now time.Time) error {
	k, ok := keyOf(u)
	if m == nil || !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.urls[k]
	if !ok || !e.fresh(now) {
		return nil
	}
	m.put(k, e.Promise, now)
	if what, broken := e.Broken(offered); broken {
		return &BrokenError{Before: e.Promise, Now: offered, What: what}
	}
	return nil
}

// Keep takes note of what u offered. What it promised before still counts.
func (m *Memory) Keep(u *url.URL, offered Promise, now time.Time) {
	k, ok := keyOf(u)
	if m == nil || !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.urls[k]; e.fresh(now) {
		offered = offered.raise(e.Promise)
	}
	if offered != (Promise{}) {
		m.put(k, offered, now)
	}
	if len(m.urls) > maxURLs+slack {
		m.bound()
	}
}

// Forget takes back what u promised.
func (m *Memory) Forget(u *url.URL) {
	k, ok := keyOf(u)
	if m == nil || !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.urls[k]; ok {
		delete(m.urls, k)
		m.dirty[k] = replaced
	}
}

// put gives an entry its value, if that is another one.
func (m *Memory) put(k key, p Promise, now time.Time) {
	e := entry{p, dayOf(now)}
	if m.urls[k] != e {
		m.urls[k] = e
		m.dirty[k] = max(m.dirty[k], raised)
	}
}

// dayOf is the day of t, counted from 1970, within what a file can hold.
func dayOf(t time.Time) int64 { return min(max(t.Unix()/int64(day/time.Second), 0), maxDay) }

// fresh tells whether e was used within a year. A use in the future is one by a clock that was wrong.
func (e entry) fresh(now time.Time) bool { return dayOf(now)-e.day < int64(Old/day) }

// bound forgets what was not used for the longest time, until there are maxURLs.
func (m *Memory) bound() {
	if len(m.urls) <= maxURLs {
		return
	}
	keys := slices.SortedFunc(maps.Keys(m.urls), func(a, b key) int {
		return cmp.Or(cmp.Compare(m.urls[a].day, m.urls[b].day), a.compare(b))
	})
	for _, k := range keys[:len(keys)-maxURLs] {
		delete(m.urls, k)
		delete(m.dirty, k)
	}
}

// Save writes what is new to the file. What others wrote meanwhile is kept, and so is what they promise more of a URL that
// is new here, unless it was forgotten here. With nothing new it does nothing.
func (m *Memory) Save(now time.Time) error {
	if m == nil || m.path == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.dirty) == 0 {
		return nil
	}
	theirs, problem, err := load(m.path)
	if err != nil {
		return err
	}
	m.merge(theirs, now)
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	if problem != "" {
		if err := os.Rename(m.path, m.path+".bad"); err != nil {
			return err
		}
	}
	if err := atomicfile.WriteFile(m.path, format(m.urls), 0o600); err != nil {
		return err
	}
	clear(m.dirty)
	return nil
}

// merge puts what is new here on top of what is in the file: what is not there any more, others have forgotten.
func (m *Memory) merge(urls map[key]entry, now time.Time) {
	for k, c := range m.dirty {
		ours, here := m.urls[k]
		theirs := urls[k]
		switch {
		case !here:
			delete(urls, k)
		case c == raised && theirs.fresh(now):
			urls[k] = entry{ours.raise(theirs.Promise), max(ours.day, theirs.day)}
		default:
			urls[k] = ours
		}
	}
	maps.DeleteFunc(urls, func(_ key, e entry) bool { return !e.fresh(now) })
	for k, e := range urls {
		e.day = min(e.day, dayOf(now))
		urls[k] = e
	}
	m.urls = urls
	m.bound()
}
