package versions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"braid/verify"
)

func link(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func some(t testing.TB) Version {
	t.Helper()
	d, err := verify.NewDigest(verify.SHA256, bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return Version{
		ETag: "W/\"\xff\x80\"", LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Host: "h:80", Size: 1 << 40, Digest: d, Over: verify.HTTPS,
	}
}

func TestKeepAndFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "versions")
	s, want := Open(dir), some(t)
	u := link(t, "https://user:secret@h/a?key=1#x")
	if err := s.Keep("x/a", u, want); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("x/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x/a", "./x/../x/a", abs} {
		if got, ok := Open(dir).Find(path, link(t, "https://h/a?key=1")); !ok || got != want {
			t.Errorf("%s: %+v, %v", path, got, ok)
		}
	}
	for path, other := range map[string]string{"x/a": "https://h/a?key=2", "x/b": "https://h/a?key=1"} {
		if v, ok := s.Find(path, link(t, other)); ok {
			t.Errorf("%s of %s is known: %+v", path, other, v)
		}
	}
	bare := Version{Digest: want.Digest}
	if err := s.Keep("x/a", u, bare); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Find("x/a", u); !ok || got != bare {
		t.Errorf("replaced: %+v, %v", got, ok)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if info, err := names[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the entry: %v, %v", info, err)
	}
}

func TestNothing(t *testing.T) {
	var none *Store
	u := link(t, "https://h/a")
	for _, s := range []*Store{none, Open("")} {
		if err := s.Keep("a", u, some(t)); err != nil {
			t.Error(err)
		}
		if _, ok := s.Find("a", u); ok || s.Tidy(time.Now()) != nil {
			t.Error("it knows something")
		}
	}
	if err := Open(filepath.Join(t.TempDir(), "none")).Tidy(time.Now()); err != nil {
		t.Error(err)
	}
	long := some(t)
	long.ETag = string(make([]byte, maxETag+1))
	s := Open(t.TempDir())
	if err := s.Keep("a", u, long); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Find("a", u); !ok || v.ETag != "" {
		t.Errorf("a huge tag: %d bytes, %v", len(v.ETag), ok)
	}
}

// Proves rule 8: of what is damaged nothing is used, and the next one replaces it.
func TestDamaged_Rule8(t *testing.T) {
	dir := t.TempDir()
	s, u, v := Open(dir), link(t, "https://h/a"), some(t)
	if err := s.Keep("a", u, v); err != nil {
		t.Fatal(err)
	}
	name, _ := s.name("a", u)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		for _, text := range [][]byte{damaged, whole[:i]} {
			if _, ok := parse(text); ok {
				t.Fatalf("%q is an entry", text)
			}
		}
	}
	if err := os.WriteFile(name, make([]byte, maxEntry+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Find("a", u); ok {
		t.Error("it is known")
	}
	if err := s.Keep("a", u, v); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Find("a", u); !ok || got != v {
		t.Errorf("%+v, %v", got, ok)
	}
}

func TestTidy(t *testing.T) {
	dir := t.TempDir()
	s, now := Open(dir), time.Now()
	old, young := link(t, "https://h/old"), link(t, "https://h/young")
	for _, u := range []*url.URL{old, young} {
		if err := s.Keep("a", u, some(t)); err != nil {
			t.Fatal(err)
		}
		name, _ := s.name("a", u)
		then := now.Add(-Old - time.Hour)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.Find("a", young); !ok { // a use
		t.Fatal("not there")
	}
	if err := s.Tidy(now); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Find("a", old); ok {
		t.Error("what is old is there")
	}
	for i := range maxEntries + 3 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := now.Add(-time.Duration(i+1) * time.Minute)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Tidy(now); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != maxEntries {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if _, ok := s.Find("a", young); !ok {
		t.Error("what was used last is gone")
	}
}

// Whatever is in a file, what is read of it is written the same way again.
func FuzzParse(f *testing.F) {
	whole := some(f).format()
	f.Add(whole)
	f.Add(whole[17:])
	f.Add([]byte(`{"V":1,"Size":-1,"SHA256":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, append([]byte(checksum(data)+" "), data...)} {
			v, ok := parse(text)
			if !ok {
				continue
			}
			if again, ok := parse(v.format()); !ok || again != v {
				t.Errorf("%q: %+v, then %+v", text, v, again)
			}
		}
	})
}

// What cannot be told to be the same file is not kept, and leaves nothing behind.
func TestKeepWithoutDigest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "versions")
	v := some(t)
	v.Digest = verify.Digest{}
	if err := Open(dir).Keep("a", &url.URL{Scheme: "https", Host: "example.org", Path: "/a"}, v); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was kept: %v", err)
	}
}
