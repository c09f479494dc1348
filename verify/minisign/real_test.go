//go:build realservers

package minisign_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"braid/verify"
	"braid/verify/minisign"
)

// TestRealMinisign: what minisign signs is good, by its own keys and in both of its forms, and is not when the file changes.
func TestRealMinisign(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		c := exec.Command("minisign", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("minisign %v: %v\n%s", args, err, out)
		}
	}
	file := make([]byte, 1<<20)
	if err := os.WriteFile(filepath.Join(dir, "tool.tar"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	run("-G", "-W", "-p", "key.pub", "-s", "key.sec")
	run("-S", "-s", "key.sec", "-m", "tool.tar", "-x", "hashed")
	run("-S", "-l", "-s", "key.sec", "-m", "tool.tar", "-x", "whole")
	made := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	k, err := minisign.ParseKey(made("key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"hashed", "whole"} {
		for _, good := range []bool{true, false} {
			c, err := minisign.New(made(form), []minisign.Key{k}, []string{"tool.tar"})
			if err != nil {
				t.Fatal(err)
			}
			c.Write(file)
			if !good {
				c.Write([]byte{0})
			}
			all, err := c.Signatures()
			if good != (err == nil && all[0].Code == verify.SignatureGood) {
				t.Errorf("%s, good %v: %+v, %v", form, good, all, err)
			}
		}
	}
}

// TestRealMinisignDamaged: each of 60 damaged signatures is judged as minisign judges it, in both of its forms.
func TestRealMinisignDamaged(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) error {
		c := exec.Command("minisign", args...)
		c.Dir = dir
		return c.Run()
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	file := bytes.Repeat([]byte("a release\n"), 1000)
	if err := os.WriteFile(at("tool.tar"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-G", "-W", "-p", "key.pub", "-s", "key.sec"},
		{"-S", "-s", "key.sec", "-m", "tool.tar", "-x", "hashed"},
		{"-S", "-l", "-s", "key.sec", "-m", "tool.tar", "-x", "whole"},
	} {
		if err := run(args...); err != nil {
			t.Fatalf("minisign %v: %v", args, err)
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	k, err := minisign.ParseKey(read("key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	good := [][]byte{read("hashed"), read("whole")}
	for i := range 62 {
		data := good[i%len(good)]
		if i >= len(good) {
			data = damaged(data, random)
		}
		if err := os.WriteFile(at("x.sig"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		theirs := run("-V", "-q", "-p", "key.pub", "-m", "tool.tar", "-x", "x.sig") == nil
		c, err := minisign.New(data, []minisign.Key{k}, []string{"tool.tar"})
		if err == nil {
			c.Write(file)
			var all []verify.SignatureResult
			if all, err = c.Signatures(); err == nil && all[0].Code != verify.SignatureGood {
				t.Errorf("neither good nor an error: %v", all)
			}
		}
		if ours := err == nil; ours != theirs || ours != (i < len(good)) {
			t.Errorf("%q: good %v, and for minisign %v", data, ours, theirs)
		}
	}
}

// damaged returns a signature with one bit changed: of the decoded bytes of the signature, of those of the signature of
// the trusted comment, or of the comment itself.
func damaged(good []byte, random *rand.Rand) []byte {
	lines := bytes.SplitAfter(good, []byte("\n"))
	const prefix = len("trusted comment: ")
	switch line := 1 + random.IntN(3); line {
	case 2:
		lines[2] = bytes.Clone(lines[2])
		lines[2][prefix+random.IntN(len(lines[2])-prefix-1)] ^= 1
	default:
		raw, _ := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(lines[line])))
		raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
		lines[line] = []byte(base64.StdEncoding.EncodeToString(raw) + "\n")
	}
	return bytes.Join(lines, nil)
}
