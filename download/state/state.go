// Package state remembers what downloads learned, from one run to the next: what the server stated about a
// file (a [Version]), which evidence a URL offered (a [Pin]), and how fast a host was (a [Speed]).
//
// Everything is in one folder, each entry in its own file. The name of an entry is a hash, so the folder does
// not reveal the downloads. An entry is replaced as a whole, so several programs may use the folder at once.
// A damaged entry is ignored until another one replaces it. The modification time is that of the last use.
// Entries that were not used for long are removed, and so are the oldest of too many.
//
// Nothing depends on it: without an entry a file is compared or fetched, a URL is a new one, and a speed is
// measured.
//
//	s := &state.Store{Dir: filepath.Join(home, ".local", "state", "braid")}
//	v, known := s.Version(path, u)
//	err := s.CheckPin(u, state.PinOf(claims, types...)) // a *DowngradeError
//	...
//	s.KeepPin(u, offered)
//	s.Save() // at the end of the run, and in long ones now and then
package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"braid/internal/fsys"
)

// A Store is the folder. The nil Store knows nothing and keeps nothing. The fields must not be changed after
// first use. The methods may be called by several goroutines.
type Store struct {
	// Dir is the folder, which is made when needed. If empty, pins and speeds are kept in memory only, and
	// versions not at all.
	Dir string
	// PinsOnly makes the Store check pins, know nothing else, and write nothing.
	PinsOnly bool

	saving sync.Mutex // one Save at a time

	mu    sync.Mutex
	pins  map[string]Pin      // those that could not be written, by the name of the entry
	hosts map[string]measured // read or learned, by host
	lost  error               // why the last version could not be kept
}

// A kind is a kind of entries, which has its own folder.
type kind struct {
	folder string
	most   int           // entries
	old    time.Duration // when an entry is forgotten
	due    string        // entries are counted after writing one with this prefix (names are hashes)
	hint   bool          // not worth waiting for the disk; reading it does not count as a use
}

const (
	day  = 24 * time.Hour
	year = 365 * day

	maxEntry = 16 << 10 // bytes
	format   = 1        // V of all entries
)

var errNotWritten = errors.New("nothing to write")

// nameOf returns the name of an entry. 128 bits of a hash hide the key from readers of a backup or over a
// shoulder; mode 0700 of the folder does the rest.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func (s *Store) path(k kind, name string) string { return filepath.Join(s.Dir, k.folder, name) }

// get reads an entry into r, and returns the time of its last use.
func (s *Store) get(k kind, name string, r any) (at time.Time, ok bool) {
	if s.Dir == "" {
		return at, false
	}
	path := s.path(k, name)
	if _, err := fsys.OS.Stat(path); err != nil { // as for most URLs; Stat costs less than a failed open
		return at, false
	}
	f, err := fsys.OS.Open(path)
	if err != nil {
		return at, false
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil || time.Since(info.ModTime) >= k.old {
		return at, false
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxEntry+1))
	if err != nil || !decode(data, r) {
		return at, false
	}
	if !k.hint && !s.PinsOnly && time.Since(info.ModTime).Abs() > day {
		s.touch(k, name, time.Now())
	}
	return info.ModTime, true
}

// touch sets the time of an entry's last use. If that fails, the entry is only removed sooner.
func (s *Store) touch(k kind, name string, at time.Time) { os.Chtimes(s.path(k, name), at, at) }

// put writes an entry. Learning more must not lose known facts: an entry that replaces another one is synced
// to disk first. A new one is not.
func (s *Store) put(k kind, name string, r any) error {
	if s.Dir == "" || s.PinsOnly {
		return errNotWritten
	}
	path := s.path(k, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	write := fsys.WriteFile
	if _, err := os.Lstat(path); k.hint || errors.Is(err, fs.ErrNotExist) {
		write = fsys.WriteHasty
	}
	if err := write(nil, path, encode(r), 0o600); err != nil {
		return err
	}
	if strings.HasPrefix(name, k.due) {
		return s.tidy(k)
	}
	return nil
}

// tidy removes entries that were not used for long. If too many are left, it removes the least recently used ones. A
// last use in the future is from a clock that was wrong.
func (s *Store) tidy(k kind) error {
	names, err := os.ReadDir(filepath.Join(s.Dir, k.folder))
	var all []fs.FileInfo
	for _, n := range names {
		if info, err := n.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	now := time.Now()
	for i, info := range all {
		switch age := now.Sub(info.ModTime()); {
		case i >= k.most || age >= k.old:
			err = errors.Join(err, os.Remove(s.path(k, info.Name())))
		case age < -day:
			s.touch(k, info.Name(), now)
		}
	}
	return err
}

// encode returns the content of an entry: one line of JSON after a hash of it, which only detects damage.
func encode(r any) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // all entries are of types that can be encoded
	}
	return append([]byte(checksum(text)+" "), text...)
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// decode reads what encode wrote. It uses nothing of anything else, or of another version of the format (rule
// 8).
func decode(data []byte, r any) bool {
	sum, text, _ := bytes.Cut(data, []byte(" "))
	var head struct{ V int }
	return len(data) <= maxEntry && string(sum) == checksum(text) &&
		json.Unmarshal(text, &head) == nil && head.V == format && json.Unmarshal(text, r) == nil
}
