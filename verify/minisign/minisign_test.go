package minisign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"braid/verify"
	"braid/verify/minisign"
)

// read returns a file of testdata, which minisign 0.11 made: minisign -S -s k -m tool.tar, with -l for the older form.
func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func key(t testing.TB, name string) minisign.Key {
	t.Helper()
	k, err := minisign.ParseKey(read(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// line returns data with one of its lines changed by edit.
func line(data []byte, n int, edit func(string) string) []byte {
	lines := strings.Split(string(data), "\n")
	lines[n] = edit(lines[n])
	return []byte(strings.Join(lines, "\n"))
}

// swapped changes the character at i of a line.
func swapped(i int) func(string) string {
	return func(s string) string {
		c := byte('A')
		if s[i] == c {
			c = 'B'
		}
		return s[:i] + string(c) + s[i+1:]
	}
}

// TestSignatures judges each signature of one file, and what becomes of it by each change.
func TestSignatures(t *testing.T) {
	file := read(t, "tool.tar")
	names := []string{"tool.tar"}
	digest := blake2b.Sum512(file)
	older := func(s string) string { return "RWR" + s[3:] }
	for name, tt := range map[string]struct {
		data  []byte
		key   string
		names []string
		file  []byte
		want  verify.SignatureCode
	}{
		"good":              {data: read(t, "hashed.minisig"), want: verify.SignatureGood},
		"of the older form": {data: read(t, "whole.minisig"), want: verify.SignatureGood},
		"with the ends of Windows": {data: bytes.ReplaceAll(read(t, "hashed.minisig"), []byte("\n"), []byte("\r\n")),
			want: verify.SignatureGood},
		"without a name":           {data: read(t, "unnamed.minisig"), want: verify.SignatureGood},
		"of a file without a name": {data: read(t, "hashed.minisig"), names: []string{}, want: verify.SignatureGood},
		"of another name":          {data: read(t, "hashed.minisig"), names: []string{"tool-2.tar"}, want: verify.SignatureBad},
		"of one of its names": {data: read(t, "hashed.minisig"), names: []string{"x", "tool.tar"},
			want: verify.SignatureGood},
		"of other bytes":             {data: read(t, "hashed.minisig"), file: []byte("b"), want: verify.SignatureBad},
		"of other bytes, older form": {data: read(t, "whole.minisig"), file: []byte("b"), want: verify.SignatureBad},
		"by another key":             {data: read(t, "hashed.minisig"), key: "other.pub", want: verify.SignatureUnknownKey},
		"changed":                    {data: line(read(t, "hashed.minisig"), 1, swapped(40)), want: verify.SignatureBad},
		"of another key's id":        {data: line(read(t, "hashed.minisig"), 1, swapped(5)), want: verify.SignatureUnknownKey},
		"of another algorithm":       {data: line(read(t, "hashed.minisig"), 1, swapped(0)), want: verify.SignatureUnsupported},
		"of the other form":          {data: line(read(t, "hashed.minisig"), 1, older), want: verify.SignatureBad},
		"of the digest": {data: line(read(t, "hashed.minisig"), 1, older), file: digest[:],
			want: verify.SignatureBad},
		"of the digest, no fields": {data: line(read(t, "unnamed.minisig"), 1, older), file: digest[:],
			want: verify.SignatureUnsupported},
		"with another comment": {data: line(read(t, "unnamed.minisig"), 2,
			func(s string) string { return s + "!" }), want: verify.SignatureBad},
		"with another last line": {data: line(read(t, "hashed.minisig"), 3, swapped(3)), want: verify.SignatureBad},
		"without the comment": {data: []byte(strings.Join(strings.Split(string(read(t, "hashed.minisig")),
			"\n")[:2], "\n")), want: verify.SignatureMalformed},
		"with something behind it": {data: append(read(t, "hashed.minisig"), "x\n"...), want: verify.SignatureMalformed},
		"empty":                    {data: nil, want: verify.SignatureMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			k, of, bytes := "key.pub", names, file
			if tt.key != "" {
				k = tt.key
			}
			if tt.names != nil {
				of = tt.names
			}
			if tt.file != nil {
				bytes = tt.file
			}
			got := judge(t, tt.data, key(t, k), of, bytes)
			if got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func judge(t *testing.T, data []byte, k minisign.Key, names []string, file []byte) verify.SignatureCode {
	t.Helper()
	c, err := minisign.New(data, []minisign.Key{k}, names)
	if err != nil {
		return codeOf(t, err)
	}
	half := len(file) / 2
	c.Write(file[:half])
	state, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := minisign.New(data, []minisign.Key{k}, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	again.Write(file[half:])
	all, err := again.Signatures()
	if err != nil {
		return codeOf(t, err)
	}
	if len(all) != 1 || all[0].Key != k.ID() || all[0].Kind != "minisign" {
		t.Errorf("%+v", all)
	}
	return all[0].Code
}

func codeOf(t *testing.T, err error) verify.SignatureCode {
	t.Helper()
	e, ok := errors.AsType[*verify.SignatureError](err)
	if !ok {
		t.Fatal(err)
	}
	return e.Code
}

// TestOlderFormIsBounded: a signature of the older form is of the whole file, which is kept in memory up to 16 MiB.
func TestOlderFormIsBounded(t *testing.T) {
	c, err := minisign.New(read(t, "whole.minisig"), []minisign.Key{key(t, "key.pub")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 17 {
		c.Write(make([]byte, 1<<20))
	}
	if _, err := c.Signatures(); codeOf(t, err) != verify.SignatureUnsupported {
		t.Error(err)
	}
}

// TestWithoutKeys: what a signature says is read, and nothing of it is proven.
func TestWithoutKeys(t *testing.T) {
	all, err := minisign.Kind.Read(read(t, "hashed.minisig"), verify.SignatureResult{}.Time)
	if err != nil || len(all) != 1 || all[0].Code != verify.SignatureUnchecked || all[0].Time.Unix() != 1_700_000_000 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestKeys: files of keys, and what is none.
func TestKeys(t *testing.T) {
	file := read(t, "key.pub")
	_, bare, _ := strings.Cut(strings.TrimSpace(string(file)), "\n")
	for text, want := range map[string]bool{
		string(file): true, bare: true, bare + "\n": true,
		"untrusted comment: minisign encrypted secret key\n" + bare: false,
		"": false, "x": false, bare[:50]: false, bare + "\n" + bare: false, "RUR" + bare[3:]: false,
	} {
		if _, err := minisign.ParseKey([]byte(text)); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !minisign.Kind.SniffKeys(file) || !minisign.Kind.SniffKeys([]byte(bare)) ||
		minisign.Kind.SniffKeys([]byte("-----BEGIN PGP")) {
		t.Error("keys are not told apart")
	}
}

// FuzzNew: no data makes a panic, and none but the signature itself is good.
func FuzzNew(f *testing.F) {
	k, file := key(f, "key.pub"), read(f, "tool.tar")
	for _, name := range []string{"hashed.minisig", "whole.minisig", "unnamed.minisig"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := minisign.New(data, []minisign.Key{k}, []string{"tool.tar"})
		if err != nil {
			return
		}
		c.Write(file)
		c.Write([]byte("x"))
		if all, err := c.Signatures(); err == nil {
			t.Errorf("%q is a good signature of another file: %+v", data, all)
		}
	})
}

// TestTimestamp checks that a time that JSON cannot have is left out.
func TestTimestamp(t *testing.T) {
	for word, want := range map[string]int64{"1700000000": 1700000000, "253402300799": 253402300799, "253402300800": 0, "-5": 0} {
		data := regexp.MustCompile("timestamp:[0-9]+").ReplaceAll(read(t, "hashed.minisig"), []byte("timestamp:"+word))
		all, err := minisign.Kind.Read(data, time.Now())
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		at := all[0].Time
		if _, err := json.Marshal(at); err != nil || at.IsZero() != (want == 0) || want != 0 && at.Unix() != want {
			t.Errorf("%s: %v, %v", word, at, err)
		}
	}
}
