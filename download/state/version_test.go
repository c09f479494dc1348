package state

import (
	"os"
	"path/filepath"
	"testing"

	"braid/verify"
)

func TestVersions(t *testing.T) {
	s, want := fresh(t), some(t)
	u := parse(t, "https://user:secret@h/a?key=1#x")
	if err := s.KeepVersion("x/a", u, want); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("x/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x/a", "./x/../x/a", abs} {
		if got, ok := s.again().Version(path, parse(t, "https://h/a?key=1")); !ok || got != want {
			t.Errorf("%s: %+v, %v", path, got, ok)
		}
	}
	here := want
	here.ETag, here.Host = "", ""
	if got, ok := s.again().VersionAt("./x/../x/a"); !ok || got != here {
		t.Errorf("of any URL: %+v, %v", got, ok)
	}
	if v, ok := s.VersionAt("x/b"); ok {
		t.Errorf("of another path: %+v", v)
	}
	for path, other := range map[string]string{"x/a": "https://h/a?key=2", "x/b": "https://h/a?key=1"} {
		if v, ok := s.Version(path, parse(t, other)); ok {
			t.Errorf("%s of %s is known: %+v", path, other, v)
		}
	}
	bare := Version{Digest: want.Digest}
	if err := s.KeepVersion("x/a", u, bare); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Version("x/a", u); !ok || got != bare || len(entries(t, s)) != 2 {
		t.Errorf("replaced: %+v, %v", got, ok)
	}
	long := want
	long.ETag = string(make([]byte, maxETag+1))
	if err := s.KeepVersion("x/a", u, long); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Version("x/a", u); !ok || v.ETag != "" {
		t.Errorf("a huge tag: %d bytes, %v", len(v.ETag), ok)
	}
}

// A version that cannot be recognized is not kept, and leaves no entry, nor does one that the caller keeps.
func TestVersionsThatAreNotKept(t *testing.T) {
	s, u, v := fresh(t), parse(t, "https://h/a"), some(t)
	v.Digest = verify.Digest{}
	for _, err := range []error{s.KeepVersion("a", u, v), s.KeepVersion("a", nil, some(t)),
		(&Store{Dir: s.Dir, PinsOnly: true}).KeepVersion("a", u, some(t))} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("something was kept")
	}
	fill(t, s)
	if _, ok := (&Store{Dir: s.Dir, PinsOnly: true}).Version("secret/disk.iso",
		parse(t, "https://mirror.example.org/secret/disk.iso")); ok {
		t.Error("something is known")
	}
}

// Entries of earlier releases are found and read.
func TestOldVersions(t *testing.T) {
	if filepath.Separator != '/' {
		return // the path is another one
	}
	s := fresh(t)
	path := filepath.Join(s.Dir, "versions", "898c61ffed922d6a0e96a5ca7e8a875b")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, path, `dc2c9589e8d5dec2 {"V":1,"ETag":"Vy8i/4Ai","Modified":1767323045,"Host":"h:80","Size":1099511627776,`+
		`"SHA256":"0707070707070707070707070707070707070707070707070707070707070707","Over":2}`)
	if got, ok := s.Version("/srv/a", parse(t, "https://h/a?key=1")); !ok || got != some(t) {
		t.Errorf("%+v, %v", got, ok)
	}
}
