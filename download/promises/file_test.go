package promises

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"braid/verify"
)

// withHeader makes lines the content of a file that is not damaged.
func withHeader(lines string) string { return headerOf([]byte(lines)) + lines }

const (
	keyA = "00112233445566778899aabbccddeeff"
	keyB = "ff112233445566778899aabbccddeeff"
)

func TestFormat(t *testing.T) {
	lines := keyA + " https=sha-256,http=sha-512,openpgp,smime,pieces 20000\n" + keyB + " http=md5 0\n"
	urls, problem := parse([]byte(withHeader(lines)))
	if problem != "" || len(urls) != 2 {
		t.Fatalf("%s, %v", problem, urls)
	}
	want := entry{Promise{verify.SHA256, verify.SHA512, true, true, true}, 20000}
	if got := urls[key{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if urls, problem := parse([]byte(withHeader(many(maxURLs)))); problem != "" || len(urls) != maxURLs {
		t.Errorf("%s, %d URLs", problem, len(urls))
	}
	if got := string(format(urls)); got != withHeader(lines) {
		t.Errorf("written again: %q", got)
	}
}

// Proves rule 8: what is damaged, garbage or of another version is not used, set aside, and never fatal.
func TestDamagedFiles_Rule8(t *testing.T) {
	const damaged, otherVersion = "it is damaged, or something else", "it is of another version"
	line := keyA + " openpgp 20000\n"
	for name, tt := range map[string]struct{ text, want string }{
		"empty":           {"", damaged},
		"garbage":         {"\x00\xff\xfe\n\n", damaged},
		"another version": {strings.Replace(withHeader(line), " 1 ", " 2 ", 1), otherVersion},
		"cut":             {strings.TrimSuffix(withHeader(line+keyB+" smime 1\n"), keyB+" smime 1\n"), damaged},
		"huge":            {withHeader(strings.Repeat("x", maxFile)), damaged},
		"twice":           {withHeader(strings.Repeat(line, 2)), damaged},
		"too many":        {withHeader(many(maxURLs + 1)), damaged},
		"not in order":    {withHeader(keyB + " smime 1\n" + keyA + " smime 1\n"), damaged},
		"no last end":     {withHeader(strings.TrimSpace(line)), damaged},
		"nothing in it":   {withHeader(keyA + "  1\n"), damaged},
		"short key":       {withHeader(keyA[2:] + " smime 1\n"), damaged},
		"no key":          {withHeader(strings.Repeat("x", 32) + " smime 1\n"), damaged},
		"capitals":        {withHeader(strings.ToUpper(keyA) + " smime 1\n"), damaged},
		"unknown word":    {withHeader(keyA + " smime,gold 1\n"), damaged},
		"another order":   {withHeader(keyA + " smime,openpgp 1\n"), damaged},
		"no algorithm":    {withHeader(keyA + " https=sha-3,smime 1\n"), damaged},
		"no day":          {withHeader(keyA + " smime\n"), damaged},
		"day before 1970": {withHeader(keyA + " smime -1\n"), damaged},
		"day of doom":     {withHeader(keyA + " smime 99999999\n"), damaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "promises")
			put(t, path, tt.text)
			m := Open(path)
			if m.Problem() != tt.want || len(m.urls) > 0 {
				t.Errorf("problem %q, want %q; knows %v", m.Problem(), tt.want, m.urls)
			}
			startsAnew(t, m)
			if bad, err := os.ReadFile(path + ".bad"); err != nil || string(bad) != tt.text {
				t.Errorf("set aside: %.100q, %v", bad, err)
			}
		})
	}
}

// Any byte that is another one is noticed.
func TestFlippedBits_Rule8(t *testing.T) {
	text := withHeader(keyA + " https=sha-256,openpgp 20000\n")
	for i := range text {
		for bit := range 8 {
			flipped := []byte(text)
			flipped[i] ^= 1 << bit
			if urls, problem := parse(flipped); problem == "" || len(urls) > 0 {
				t.Fatalf("%q is read as %v", flipped, urls)
			}
		}
	}
}

// What is no file is set aside as well; what cannot be read stays as it is.
func TestNoFile(t *testing.T) {
	for name, made := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "promises")
		if err := made(path); err != nil {
			t.Fatal(err)
		}
		m := Open(path)
		if m.Problem() != "it is not a regular file" {
			t.Errorf("%s: %q", name, m.Problem())
		}
		startsAnew(t, m)
	}
	path := filepath.Join(t.TempDir(), "promises")
	if err := os.Symlink("promises", path); err != nil {
		t.Fatal(err)
	}
	m := Open(path)
	m.Keep(parseURL(t, "https://example.org/a"), strong, now)
	if m.Problem() == "" || m.Save(now) == nil {
		t.Error("a link to itself was read or written")
	}
	if to, err := os.Readlink(path); err != nil || to != "promises" {
		t.Errorf("%s, %v", to, err)
	}
}

// A folder that cannot be written is an error of Save, after which all is known that was.
func TestSaveFails(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	m, u := Open(filepath.Join(dir, "file", "promises")), parseURL(t, "https://example.org/a")
	m.Keep(u, strong, now)
	for range 2 {
		if m.Save(now) == nil {
			t.Error("saved below a file")
		}
	}
	if !broken(t, m, u, none, now) {
		t.Error("forgotten")
	}
	put(t, filepath.Join(dir, "promises"), "garbage")
	if err := os.Mkdir(filepath.Join(dir, "promises.bad"), 0o700); err != nil {
		t.Fatal(err)
	}
	m = Open(filepath.Join(dir, "promises"))
	m.Keep(u, strong, now)
	if m.Save(now) == nil {
		t.Error("saved over what could not be set aside")
	}
	if data, err := os.ReadFile(m.path); err != nil || string(data) != "garbage" {
		t.Errorf("%q, %v", data, err)
	}
}

// startsAnew keeps a promise in place of what could not be used.
func startsAnew(t *testing.T, m *Memory) {
	t.Helper()
	u := parseURL(t, "https://example.org/a")
	m.Keep(u, strong, now)
	save(t, m, now)
	if again := Open(m.path); again.Problem() != "" || !broken(t, again, u, none, now) {
		t.Errorf("not begun anew: %q", again.Problem())
	}
}

// many are lines of n URLs.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%032x smime 1\n", i)
	}
	return b.String()
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzParse: reading stays within bounds, and what can be read is what would be written. With damage there is nothing.
func FuzzParse(f *testing.F) {
	f.Add([]byte(keyA + " https=sha-256,http=sha-512,openpgp,smime,pieces 20000\n" + keyB + " smime 0\n"))
	f.Add([]byte(withHeader(keyA + " openpgp 1\n")))
	f.Add([]byte(keyA + " https=sha 1\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, append([]byte(headerOf(data)), data...)} {
			urls, problem := parse(text)
			if problem != "" && len(urls) > 0 || len(urls) > maxURLs {
				t.Fatalf("%s: %d URLs", problem, len(urls))
			}
			if problem == "" && !bytes.Equal(format(urls), text) {
				t.Fatalf("%q is written as %q", text, format(urls))
			}
			if again, problem := parse(format(urls)); problem != "" || !maps.Equal(again, urls) {
				t.Fatalf("%s: read back %v, was %v", problem, again, urls)
			}
		}
	})
}
