package state

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/verify"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// today is the present day in the format of the old file.
var today = time.Now().Unix() / int64(day/time.Second)

// oldPinsOf returns an old file of pins.
func oldPinsOf(lines string) string {
	return fmt.Sprintf("braid promises 1 crc32c=%08x\n", crc32.Checksum([]byte(lines), crc32.MakeTable(crc32.Castagnoli))) + lines
}

// threePins are of https://example.org/0 to 2. The last one was not used for long.
var threePins = fmt.Sprintf("1aaee5d36f07553af1bfffb617f44b90 https=sha-256,http=sha-512,openpgp,smime,pieces %d\n"+
	"1ffd8e075306610f573605cbce9e6ce7 openpgp %d\nfaad116bcd9530c24c126fe97e65c251 http=md5 %d\n", today-100, today-365, today)

// gone reports whether nothing exists at path.
func gone(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

func TestAdoptPins(t *testing.T) {
	s := fresh(t)
	path := filepath.Join(s.Dir, "promises")
	put(t, path, oldPinsOf(threePins))
	s.KeepPin(parse(t, "https://example.org/1"), Pin{HTTPS: verify.SHA1})
	p := &Store{Dir: s.Dir, PinsOnly: true}
	if err := p.Adopt(path); err != nil || gone(path) || p.CheckPin(parse(t, "https://example.org/0"), none) == nil {
		t.Errorf("with PinsOnly: %v", err)
	}
	if got := len(entries(t, s)); got != 2 {
		t.Errorf("%d files: something was written", got)
	}
	if err := s.Adopt(path); err != nil || !gone(path) {
		t.Errorf("%v; gone: %v", err, gone(path))
	}
	for name, want := range map[string]Pin{"0": {verify.SHA256, verify.SHA512, openPGP | sMIME, true},
		"1": {HTTPS: verify.SHA1, HTTP: verify.MD5}, "2": none} {
		u := parse(t, "https://example.org/"+name)
		if name, ok := s.pinName(u); !ok || name == "1aaee5d36f07553af1bfffb617f44b90" {
			info, err := os.Stat(s.path(pinned, name))
			if err != nil || time.Since(info.ModTime()) < 99*day {
				t.Errorf("used: %v, %v", info, err)
			}
		}
		if got := s.again().pinAt(t, u); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if err := s.Adopt(path); err != nil {
		t.Errorf("when it is gone: %v", err)
	}
}

func TestAdoptSpeeds(t *testing.T) {
	s := fresh(t)
	s.Learn("known:80", Speed{Rate: 1e6})
	s.Save()
	path, now := filepath.Join(t.TempDir(), "speeds"), time.Now().Unix()
	put(t, path, fmt.Sprintf("braid speeds 1\n* 9000000 0 %d\na.example:80 4000000 40000 %d\nold:80 1 1 %d\nknown:80 5 5 %d\n"+
		"bad:80 x 1 1\nbad:81 1 1\nbad:82 1 99999999999999999999 1\nfast:80 999999999999999999 -1 %d\n", now, now-86400,
		now-15*86400, now, now))
	if err := s.Adopt(path); err != nil || !gone(path) {
		t.Errorf("%v; gone: %v", err, gone(path))
	}
	s = s.again()
	for host, want := range map[string]Speed{
		AllHosts: {Rate: 9e6}, "a.example:80": {4e6, 40 * time.Millisecond}, "old:80": {}, "known:80": {Rate: 1e6},
		"bad:80": {}, "bad:81": {}, "bad:82": {}, "fast:80": {Rate: maxRate},
	} {
		if got := s.Speed(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
	if info, err := os.Stat(s.path(speeds, nameOf("a.example:80"))); err != nil || time.Since(info.ModTime()) < 23*time.Hour {
		t.Errorf("measured: %v, %v", info, err)
	}
}

// Proves rule 8: a damaged old file is set aside, with a message, and is never fatal.
func TestAdoptDamaged_Rule8(t *testing.T) {
	line := fmt.Sprintf("1aaee5d36f07553af1bfffb617f44b90 openpgp %d\n", today)
	whole := oldPinsOf(line)
	files := map[string]string{
		"empty": "", "garbage": "\x00\xff\xfe\n\n", "another version": strings.Replace(whole, " 1 ", " 2 ", 1),
		"speeds of another version": "braid speeds 2\na:80 1 1 1\n",
		"cut":                       whole[:len(whole)-1], "huge": oldPinsOf(strings.Repeat(line, maxOld/len(line))),
		"short name": oldPinsOf(line[2:]), "no name": oldPinsOf("x" + line[1:]),
		"no day": oldPinsOf(line[:40] + "\n"), "day before 1970": oldPinsOf(line[:40] + " -1\n"),
		"day of doom": oldPinsOf(line[:40] + " 99999999\n"),
	}
	for i := range whole {
		files[fmt.Sprint("flipped ", i)] = whole[:i] + string(whole[i]^1) + whole[i+1:]
	}
	for name, text := range files {
		s := fresh(t)
		path := filepath.Join(s.Dir, "promises")
		put(t, path, text)
		if err := (&Store{Dir: s.Dir, PinsOnly: true}).Adopt(path); err == nil || gone(path) {
			t.Errorf("%s: with PinsOnly %v; gone: %v", name, err, gone(path))
		}
		err := s.Adopt(path)
		if err == nil || !strings.Contains(err.Error(), "promises is not imported: it is damaged or in another format") {
			t.Errorf("%s: %v", name, err)
		}
		if bad, err := os.ReadFile(path + ".bad"); err != nil || string(bad) != text || !gone(path) {
			t.Errorf("%s: set aside %.100q, %v", name, bad, err)
		}
		if got := entries(t, s); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A file that cannot be read or imported is unchanged.
func TestAdoptFails(t *testing.T) {
	s := fresh(t)
	path := filepath.Join(s.Dir, "promises")
	put(t, filepath.Join(path, "x"), "")
	if err := s.Adopt(path); err == nil || gone(path) {
		t.Errorf("a folder: %v", err)
	}
	path = filepath.Join(t.TempDir(), "promises")
	put(t, path, oldPinsOf(threePins))
	put(t, filepath.Join(s.Dir, "pins"), "")
	if err := s.Adopt(path); err == nil || gone(path) {
		t.Errorf("pins that cannot be written: %v", err)
	}
	if err := (&Store{}).Adopt(path); err != nil || gone(path) {
		t.Errorf("without a folder: %v", err)
	}
}

// Two programs that import at once lose nothing.
func TestAdoptAtOnce(t *testing.T) {
	s := fresh(t)
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "%032x openpgp %d\n", i, today)
	}
	path := filepath.Join(s.Dir, "promises")
	put(t, path, oldPinsOf(lines.String()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := s.again()
			if err := s.Adopt(path); err != nil {
				t.Error(err)
			}
			for i := range 100 {
				if p := s.pin(fmt.Sprintf("%032x", i)); p != signed {
					t.Errorf("%d: %+v", i, p)
				}
			}
		})
	}
	wg.Wait()
	if got := entries(t, s); len(got) != 100 || !gone(path) {
		t.Errorf("%d files", len(got))
	}
	if err := os.Remove(path + ".bad"); !os.IsNotExist(err) {
		t.Errorf("set aside: %v", err)
	}
}
