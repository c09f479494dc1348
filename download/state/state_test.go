package state

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"braid/verify"
)

func parse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fresh returns a Store in a folder that does not exist yet.
func fresh(t testing.TB) *Store {
	t.Helper()
	return &Store{Dir: filepath.Join(t.TempDir(), "state", "braid")}
}

// again returns the Store of the next run.
func (s *Store) again() *Store { return &Store{Dir: s.Dir} }

func some(t testing.TB) Version {
	t.Helper()
	d, err := verify.NewDigest(verify.SHA256, bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return Version{
		ETag: "W/\"\xff\x80\"", LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Host: "h:80", Size: 1 << 40,
		Digest: d, Over: verify.HTTPS,
	}
}

// fill stores one entry of each kind.
func fill(t testing.TB, s *Store) {
	t.Helper()
	u := parse(t, "https://me:pass@mirror.example.org/secret/disk.iso#part")
	s.KeepPin(u, strong)
	s.Learn("mirror.example.org:443", Speed{5e6, time.Second})
	s.Save()
	if err := s.KeepVersion("secret/disk.iso", u, some(t)); err != nil {
		t.Fatal(err)
	}
}

// entries returns the paths of all entries.
func entries(t testing.TB, s *Store) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// setTime sets the time of the last use of the entries.
func setTime(t testing.TB, s *Store, at time.Time) {
	t.Helper()
	for _, path := range entries(t, s) {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves rule 62: only the user can read the entries, and they do not reveal the downloads.
func TestEntriesTellNothing_Rule62(t *testing.T) {
	s := fresh(t)
	fill(t, s)
	paths := entries(t, s)
	if len(paths) != 4 {
		t.Fatalf("entries: %v", paths)
	}
	for _, path := range append(paths, s.Dir, filepath.Dir(paths[0])) {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"me:", "pass", "mirror", "example", "secret", "disk", "iso", "part"} {
			if strings.Contains(filepath.Base(path)+string(data), word) {
				t.Errorf("%q is in %s: %s", word, path, data)
			}
		}
	}
}

// Proves rule 8: a damaged entry is not used, and the next one replaces it.
func TestDamaged_Rule8(t *testing.T) {
	s := fresh(t)
	fill(t, s)
	u := parse(t, "https://mirror.example.org/secret/disk.iso")
	for _, path := range entries(t, s) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r versionRecord
		for i := range whole {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1
			if decode(flipped, &r) || decode(whole[:i], &r) {
				t.Fatalf("%q or %q is an entry", flipped, whole[:i])
			}
		}
	}
	text := []byte(`{"V":2,"HTTPS":"sha-256","Rate":1}`)
	for name, write := range map[string]func(path string) error{
		"garbage": func(path string) error { return os.WriteFile(path, []byte("\x00\xff\n"), 0o600) },
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"huge": func(path string) error {
			return os.WriteFile(path, encode(map[string]any{"V": 1, "X": make([]byte, maxEntry)}), 0o600)
		},
		"another version": func(path string) error {
			return os.WriteFile(path, append([]byte(checksum(text)+" "), text...), 0o600)
		},
		"no values": func(path string) error {
			return os.WriteFile(path, encode(map[string]any{"V": 1, "HTTPS": "gold", "OpenPGP": true}), 0o600)
		},
		"FIFO":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link to nothing": func(path string) error { return os.Symlink(filepath.Join(t.TempDir(), "x"), path) },
	} {
		for _, path := range entries(t, s) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := write(path); err != nil {
				t.Fatal(err)
			}
		}
		next := s.again()
		if v, ok := next.Version("secret/disk.iso", u); ok || next.Speed("mirror.example.org:443") != (Speed{}) ||
			next.CheckPin(u, none) != nil {
			t.Errorf("%s: something is known: %+v", name, v)
		}
		fill(t, next)
		next = s.again()
		if v, ok := next.Version("secret/disk.iso", u); !ok || v != some(t) ||
			next.Speed("mirror.example.org:443").Rate != 5e6 || next.CheckPin(u, none) == nil {
			t.Errorf("%s: not begun anew: %+v", name, v)
		}
	}
}

// Entries that were not used for long are forgotten. For pins and versions a use counts, for a speed its
// measurement.
func TestForgotten(t *testing.T) {
	u := parse(t, "https://mirror.example.org/secret/disk.iso")
	for _, tt := range []struct {
		days                time.Duration
		pin, speed, version bool
	}{{13, true, true, true}, {15, true, false, true}, {364, true, false, true}, {366, false, false, false},
		{-800, true, true, true}} {
		s := fresh(t)
		fill(t, s)
		setTime(t, s, time.Now().Add(-tt.days*day))
		s = s.again()
		_, version := s.Version("secret/disk.iso", u)
		s.VersionAt("secret/disk.iso")
		if pin, speed := s.CheckPin(u, none) != nil, s.Speed("mirror.example.org:443").Rate > 0; pin != tt.pin ||
			speed != tt.speed || version != tt.version {
			t.Errorf("after %d days: pin %v, speed %v, version %v; want %+v", tt.days, pin, speed, version, tt)
		}
		for _, path := range entries(t, s) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			used := time.Since(info.ModTime()).Abs() < time.Hour
			if want := tt.pin && filepath.Base(filepath.Dir(path)) != "hosts"; used != want {
				t.Errorf("after %d days: %s is used now: %v, want %v", tt.days, path, used, want)
			}
		}
	}
}

// Of too many entries, those not used for the longest time are removed, when an entry is written whose name
// has the prefix.
func TestTidy(t *testing.T) {
	k := kind{folder: "few", most: 10, old: year, due: "00"}
	s := fresh(t)
	now := time.Now()
	write := func(name string, age time.Duration) {
		t.Helper()
		if err := s.put(k, name, pinRecord{V: format}); err != nil {
			t.Fatal(err)
		}
		s.touch(k, name, now.Add(-age))
	}
	for i := range 13 {
		write(fmt.Sprintf("1%d", i), time.Duration(i)*time.Hour)
	}
	write("2", 2*year)
	write("3", -9*year)
	if got := len(entries(t, s)); got != 15 {
		t.Errorf("%d entries before", got)
	}
	write("00", 0)
	var left []string
	for _, path := range entries(t, s) {
		left = append(left, filepath.Base(path))
	}
	if got, want := strings.Join(left, " "), "00 10 11 12 13 14 15 16 17 3"; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
	if info, err := os.Stat(s.path(k, "3")); err != nil || time.Since(info.ModTime()) < -time.Minute {
		t.Errorf("by a clock that was wrong: %v, %v", info.ModTime(), err)
	}
	for _, path := range entries(t, s) {
		if err := os.Chtimes(path, now.Add(-2*year), now.Add(-2*year)); err != nil {
			t.Fatal(err)
		}
	}
	write("00", 0)
	if got := entries(t, s); len(got) != 1 {
		t.Errorf("what is old is left: %v", got)
	}
}

// The nil Store and one without a folder know nothing of files. The latter keeps pins and speeds while it is
// used.
func TestWithoutAFolder(t *testing.T) {
	u := parse(t, "https://mirror.example.org/secret/disk.iso")
	var absent *Store
	fill(t, absent)
	absent.ForgetPin(u)
	if _, ok := absent.Version("secret/disk.iso", u); ok || absent.CheckPin(u, none) != nil ||
		absent.Speed("mirror.example.org:443") != (Speed{}) || absent.Lost() != nil || absent.Adopt("x") != nil {
		t.Error("the nil Store knows something")
	}
	s := &Store{}
	fillMemory(s, u)
	if _, ok := s.Version("a", u); ok || s.CheckPin(u, none) == nil || s.Speed("h:80").Rate != 1e6 {
		t.Error("in memory")
	}
	if s.ForgetPin(u); s.CheckPin(u, none) != nil {
		t.Error("not forgotten")
	}
}

func fillMemory(s *Store, u *url.URL) {
	s.KeepPin(u, strong)
	s.Learn("h:80", Speed{Rate: 1e6})
	s.Save()
}

// With PinsOnly pins are checked, and nothing is written.
func TestPinsOnly(t *testing.T) {
	u, other := parse(t, "https://mirror.example.org/secret/disk.iso"), parse(t, "https://h/other")
	s := fresh(t)
	fill(t, s)
	setTime(t, s, time.Now().Add(-7*day))
	before := entries(t, s)
	p := &Store{Dir: s.Dir, PinsOnly: true}
	if _, ok := p.Version("secret/disk.iso", u); ok || p.CheckPin(u, none) == nil || p.Speed("mirror.example.org:443").Rate != 0 {
		t.Error("known is not the pin, or not the pin alone")
	}
	if err := p.KeepVersion("b", u, some(t)); err != nil {
		t.Error(err)
	}
	p.KeepPin(u, signed)
	p.KeepPin(other, strong)
	if p.CheckPin(u, strong) == nil || p.CheckPin(other, none) == nil {
		t.Error("it is not kept for this run")
	}
	p.ForgetPin(u)
	p.Learn("mirror.example.org:443", Speed{Rate: 1})
	p.Save()
	if got := entries(t, s); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("entries %v, before %v", got, before)
	}
	for _, path := range before {
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < day {
			t.Errorf("%s was used: %v", path, err)
		}
	}
	if next := s.again(); next.CheckPin(u, none) == nil || next.CheckPin(other, none) != nil {
		t.Error("the next run knows of it")
	}
}

// A folder that cannot be written is an error for versions only. Pins and speeds count while the program
// runs.
func TestCannotBeWritten(t *testing.T) {
	s := fresh(t)
	if err := os.MkdirAll(filepath.Dir(s.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	u := parse(t, "https://h/a")
	fillMemory(s, u)
	if s.CheckPin(u, none) == nil || s.Speed("h:80").Rate != 1e6 || s.Lost() != nil {
		t.Errorf("in memory; %v", s.Lost())
	}
	if err := s.KeepVersion("a", u, some(t)); err == nil || s.Lost() != err {
		t.Errorf("%v, %v", err, s.Lost())
	}
	if err := os.Remove(s.Dir); err != nil {
		t.Fatal(err)
	}
	s.KeepPin(u, signed)
	if s.again().CheckPin(u, signed) == nil {
		t.Error("what could not be written is not written later")
	}
}

// Goroutines of a batch, and several programs, use one folder.
func TestTogether(t *testing.T) {
	s := fresh(t)
	var wg sync.WaitGroup
	for i := range 8 {
		u, store := parse(t, fmt.Sprintf("https://h/%d", i%4)), s
		if i%3 == 0 {
			store = s.again()
		}
		wg.Go(func() {
			store.KeepPin(u, strong)
			if err := store.CheckPin(u, strong); err != nil {
				t.Error(err)
			}
			store.Learn("h:80", Speed{Rate: 1e6})
			store.Speed("h:80")
			store.Save()
			if err := store.KeepVersion("a", u, some(t)); err != nil {
				t.Error(err)
			}
			if v, ok := store.Version("a", u); !ok || v != some(t) {
				t.Errorf("%+v, %v", v, ok)
			}
		})
	}
	wg.Wait()
	if got := entries(t, s); len(got) != 4+1+4+1 {
		t.Errorf("%v", got)
	}
}

// FuzzDecode: any entry that can be read is written in the same way again.
func FuzzDecode(f *testing.F) {
	f.Add(encode(some(f).record()))
	f.Add(encode(Pin{verify.SHA256, verify.SHA512, openPGP | sMIME, true}.record())[17:])
	f.Add(encode(speedRecord{format, 5e6, time.Second}))
	f.Add([]byte(`{"V":1,"Size":-1,"SHA256":"","HTTPS":"sha-256","Rate":-1,"RTT":99999999999999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, append([]byte(checksum(data)+" "), data...)} {
			var p, p2 pinRecord
			if decode(text, &p) {
				if pin, ok := p.pin(); ok {
					if !decode(encode(pin.record()), &p2) || p2 != pin.record() {
						t.Errorf("%q: %+v, then %+v", text, pin, p2)
					}
				}
			}
			var v, v2 versionRecord
			if decode(text, &v) {
				if version, ok := v.version(); ok {
					decode(encode(version.record()), &v2)
					if again, ok := v2.version(); len(version.ETag) <= maxETag && (!ok || again != version) {
						t.Errorf("%q: %+v, then %+v", text, version, again)
					}
				}
			}
			var r speedRecord
			if decode(text, &r) {
				if sp := (Speed{float64(r.Rate), r.RTT}).sane(); sp.Rate < 0 || sp.Rate > maxRate || sp.RTT < 0 ||
					sp.RTT > maxRTT {
					t.Errorf("%q: %+v", text, sp)
				}
			}
		}
	})
}
