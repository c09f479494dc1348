package state

import (
	"net/url"
	"path/filepath"
	"time"

	"braid/verify"
)

const maxETag = 4 << 10

var versions = kind{folder: "versions", most: 10_000, old: year, due: "000"}

// A Version is the known version of a downloaded file. It makes the next request conditional (RFC 9110, section 13.1),
// and can show whether the file on disk is unchanged.
type Version struct {
	// ETag is as the server sent it. LastModified is zero without a usable date. Host is the host:port that sent both.
	ETag         string
	LastModified time.Time
	Host         string
	// Size and Digest, a SHA-256, are those of the bytes of the file.
	Size   int64
	Digest verify.Digest
	// Over is the channel of the best evidence for these bytes; zero without evidence.
	Over verify.Channel
}

// Before returns v with validators that no later version has, if a later version may have those of v: without the ETag,
// and with a date one second earlier. The next request then transfers the file again.
func (v Version) Before() Version {
	v.ETag = ""
	if !v.LastModified.IsZero() {
		v.LastModified = v.LastModified.Add(-time.Second)
	}
	return v
}

// Version returns the known version of the file at path that came from u.
func (s *Store) Version(path string, u *url.URL) (Version, bool) {
	name, ok := s.versionName(path, u)
	return s.version(name, ok)
}

// VersionAt returns the known version of the file at path, whatever URL the file came from. ETag and Host are empty,
// because they mean nothing to another server.
func (s *Store) VersionAt(path string) (Version, bool) {
	name, ok := s.versionName(path, &url.URL{})
	return s.version(name, ok)
}

// version returns the entry of that name. It reports false if ok is false.
func (s *Store) version(name string, ok bool) (Version, bool) {
	if !ok {
		return Version{}, false
	}
	var r versionRecord
	if _, ok := s.get(versions, name, &r); !ok {
		return Version{}, false
	}
	return r.version()
}

// KeepVersion records v for the file at path that came from u, and for VersionAt. A Version without a SHA-256 is not
// recorded, because nothing would show whether the file is unchanged.
func (s *Store) KeepVersion(path string, u *url.URL, v Version) error {
	name, ok := s.versionName(path, u)
	if !ok || v.Digest.Algorithm() != verify.SHA256 {
		return nil
	}
	err := s.put(versions, name, v.record())
	if here, ok := s.versionName(path, &url.URL{}); ok && err == nil {
		v.ETag, v.Host = "", ""
		err = s.put(versions, here, v.record())
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost = err
	}
	return err
}

// Lost returns the last error of KeepVersion, or nil.
func (s *Store) Lost() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// versionName returns the name of the entry for path and u, whose user name and password are ignored. For an empty URL,
// it is the entry of VersionAt.
func (s *Store) versionName(path string, u *url.URL) (string, bool) {
	if s == nil || s.Dir == "" || s.PinsOnly || u == nil {
		return "", false
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	return nameOf(path + "\x00" + c.String()), true
}

// A versionRecord is the entry of a Version. ETag has the type []byte because it may not be valid UTF-8.
type versionRecord struct {
	V        int
	ETag     []byte `json:",omitempty"`
	Modified int64  `json:",omitempty"` // seconds since 1970
	Host     string `json:",omitempty"`
	Size     int64
	SHA256   string
	Over     verify.Channel `json:",omitempty"`
}

func (v Version) record() versionRecord {
	r := versionRecord{V: format, Host: v.Host, Size: v.Size, SHA256: v.Digest.Hex(), Over: v.Over}
	if len(v.ETag) <= maxETag {
		r.ETag = []byte(v.ETag)
	}
	if !v.LastModified.IsZero() {
		r.Modified = v.LastModified.Unix()
	}
	return r
}

// version returns the Version in r. It reports false if r is not a valid result of record.
func (r versionRecord) version() (Version, bool) {
	d, err := verify.ParseHex(verify.SHA256, r.SHA256)
	if err != nil || r.Size < 0 || r.Over > verify.User {
		return Version{}, false
	}
	v := Version{ETag: string(r.ETag), Host: r.Host, Size: r.Size, Digest: d, Over: r.Over}
	if r.Modified != 0 {
		v.LastModified = time.Unix(r.Modified, 0).UTC()
	}
	return v, true
}
