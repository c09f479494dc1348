// Package state stores facts from one run to the next: the version of a downloaded file (a [Version]), the evidence
// that a URL offered (a [Pin]), digests that contradicted another host ([Store.Opposed]), and the speed of a host (a
// [Speed]).
//
// Everything is in one folder, each entry in its own file. The name of an entry is a hash, so the folder does not
// reveal the downloads. An entry is replaced as a whole, so several programs may use the folder at once. A damaged
// entry is ignored until another entry replaces it. The modification time of an entry is the time of its last use.
// Entries that were not used for long are removed. If too many entries are left, the least recently used are removed.
//
// No download needs an entry: without one, a file is compared or fetched, a URL counts as new, and a speed is measured.
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

// A Store is the folder with the entries. A nil Store has no entries and stores nothing. The fields must not be changed
// after first use. The methods may be called by several goroutines.
type Store struct {
	// Dir is the folder, which is made when needed. If empty, pins and speeds are only in memory, and versions are not
	// stored.
	Dir string
	// PinsOnly makes the Store check pins only, and write nothing. With Opposing, KeepOpposed writes nevertheless.
	PinsOnly, Opposing bool

	saving sync.Mutex // one Save at a time

	mu    sync.Mutex
	pins  map[string]Pin      // pins that could not be written, by the name of the entry
	hosts map[string]measured // speeds that were read or learned, by host
	lost  error               // why the last version could not be written
}

// A kind is a kind of entries. Each kind has its own folder.
type kind struct {
	folder string
	most   int           // maximum of entries
	old    time.Duration // time since its last use after which an entry is removed
	due    string        // tidy runs after an entry was written with a name (a hash) that has this prefix
	hint   bool          // entries are written without a sync, and reading is not a use
}

const (
	day  = 24 * time.Hour
	year = 365 * day

	maxEntry = 16 << 10 // bytes
	format   = 1        // V of all entries
)

var errNotWritten = errors.New("nothing to write")

// nameOf returns the name of an entry. 128 bits of a hash hide the key from readers of a backup.
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
	if _, err := fsys.OS.Stat(path); err != nil { // most URLs have no entry, and Stat costs less than a failed Open
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

// touch sets the time of the last use of the entry called name to at. If that fails, the entry is only removed sooner.
func (s *Store) touch(k kind, name string, at time.Time) { os.Chtimes(s.path(k, name), at, at) }

// writes reports whether entries of kind k are written.
func (s *Store) writes(k kind) bool {
	return s.Dir != "" && (!s.PinsOnly || k == opposed && s.Opposing)
}

// put writes r to the entry called name. An entry that replaces another entry is synced to disk first, so that no known
// facts are lost. A new entry is not synced.
func (s *Store) put(k kind, name string, r any) error {
	if !s.writes(k) {
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

// tidy removes entries that were not used for long. If too many are left, it removes the least recently used entries. A
// last use in the future, from a wrong clock, is set to now.
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

// encode returns r as the content of an entry: a hash, which only detects damage, and one line of JSON.
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

// decode reads data, an entry that encode wrote, into r. It reports false for any other content or format (rule 8).
func decode(data []byte, r any) bool {
	sum, text, _ := bytes.Cut(data, []byte(" "))
	var head struct{ V int }
	return len(data) <= maxEntry && string(sum) == checksum(text) &&
		json.Unmarshal(text, &head) == nil && head.V == format && json.Unmarshal(text, r) == nil
}
