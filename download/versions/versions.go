// Package versions remembers what the server said of files that were downloaded, from one run to the next: entity tag and
// date, which make the next request conditional (RFC 9110, section 13.1), and the SHA-256 of the bytes, which tells whether
// the file on disk is still that one.
//
// It refuses to tell what was downloaded: the name of an entry is a hash of path and URL. It refuses to be needed: an entry
// that is missing or damaged means that the file is compared or fetched. Each file has an entry of its own, which
// is replaced whole, so that several programs may use one folder.
//
//	s := versions.Open(filepath.Join(state, "braid", "versions"))
//	v, ok := s.Find(path, u)
//	...
//	err := s.Keep(path, u, v)
//	s.Tidy(time.Now()) // at the end of the run
package versions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"braid/internal/atomicfile"
	"braid/verify"
)

const (
	maxEntries = 10_000
	maxEntry   = 16 << 10 // bytes
	maxETag    = 4 << 10

	// Old is when an entry is forgotten that nobody has replaced or used.
	Old = 365 * 24 * time.Hour
	// used is how old an entry is at least before its use is noted.
	used = 24 * time.Hour
)

// A Version is what is known of one download.
type Version struct {
	// ETag is as the server sent it, and LastModified is zero if it sent no date that is of use. Host gave both.
	ETag         string
	LastModified time.Time
	Host         string
	// Size and Digest, a SHA-256, are those of the bytes.
	Size   int64
	Digest verify.Digest
	// Over is how the best evidence came that they were the right ones; zero if there was none.
	Over verify.Channel
}

// A Store is the folder of entries. The nil Store, and that of no folder, knows nothing and keeps nothing. It may be used
// by several goroutines.
type Store struct {
	dir  string
	kept atomic.Bool
	lost atomic.Pointer[error] // why the last entry could not be kept
}

// Open makes a Store that is kept in the folder dir, which is made when there is something to keep.
func Open(dir string) *Store { return &Store{dir: dir} }

// Err is why something could not be kept; nil if nothing was lost.
func (s *Store) Err() error {
	if s == nil {
		return nil
	}
	if err := s.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// name is the file of an entry. Secrets of the URL are as hidden in it as they are in the names of part files: 128 bits of
// a hash in a folder that nobody else may read.
func (s *Store) name(path string, u *url.URL) (string, bool) {
	if s == nil || s.dir == "" || u == nil {
		return "", false
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	sum := sha256.Sum256([]byte(path + "\x00" + c.String()))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])), true
}

// Find is what is known of the file at path as it came from u. An entry that is damaged is as if it were not there; the
// next one replaces it.
func (s *Store) Find(path string, u *url.URL) (Version, bool) {
	name, ok := s.name(path, u)
	if !ok {
		return Version{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return Version{}, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil {
		return Version{}, false
	}
	v, ok := parse(data)
	if info, err := f.Stat(); ok && err == nil && time.Since(info.ModTime()) > used {
		os.Chtimes(name, time.Now(), time.Now()) // it is only forgotten sooner if that fails
	}
	return v, ok
}

// Keep remembers v for the file at path as it came from u. Without a SHA-256 nothing would show that the file is still the one
// that came: such a Version is not kept.
func (s *Store) Keep(path string, u *url.URL, v Version) error {
	name, ok := s.name(path, u)
	if !ok || v.Digest.Algorithm() != verify.SHA256 {
		return nil
	}
	if len(v.ETag) > maxETag {
		v.ETag = ""
	}
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		s.kept.Store(true)
		err = atomicfile.WriteFile(name, v.format(), 0o600)
	}
	if err != nil {
		s.lost.Store(&err)
	}
	return err
}

// Tidy forgets what nobody has used for a year and, of more than 10,000 entries, those that nobody has used for the longest
// time. If nothing was kept there is nothing to do.
func (s *Store) Tidy(now time.Time) error {
	if s == nil || !s.kept.Load() {
		return nil
	}
	names, err := os.ReadDir(s.dir)
	var all []fs.FileInfo
	for _, n := range names {
		if info, err := n.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range all {
		if i >= maxEntries || now.Sub(info.ModTime()) > Old {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, info.Name())))
		}
	}
	return err
}

// record is the durable form, one line of JSON after the hash of it. ETag is bytes because it may be no UTF-8.
type record struct {
	V        int
	ETag     []byte `json:",omitempty"`
	Modified int64  `json:",omitempty"` // seconds since 1970
	Host     string `json:",omitempty"`
	Size     int64
	SHA256   string
	Over     verify.Channel `json:",omitempty"`
}

const version = 1

func (v Version) format() []byte {
	r := record{V: version, ETag: []byte(v.ETag), Host: v.Host, Size: v.Size, SHA256: v.Digest.Hex(), Over: v.Over}
	if !v.LastModified.IsZero() {
		r.Modified = v.LastModified.Unix()
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // of these types everything can be written
	}
	return append(append([]byte(checksum(text)), ' '), text...)
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// parse reads what format wrote. Of anything else, and of another version, nothing is used (rule 8).
func parse(data []byte) (Version, bool) {
	sum, text, _ := bytes.Cut(data, []byte(" "))
	if len(data) > maxEntry || string(sum) != checksum(text) {
		return Version{}, false
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.V != version || r.Size < 0 || r.Over > verify.User {
		return Version{}, false
	}
	d, err := verify.ParseHex(verify.SHA256, r.SHA256)
	if err != nil {
		return Version{}, false
	}
	v := Version{ETag: string(r.ETag), Host: r.Host, Size: r.Size, Digest: d, Over: r.Over}
	if r.Modified != 0 {
		v.LastModified = time.Unix(r.Modified, 0).UTC()
	}
	return v, true
}
