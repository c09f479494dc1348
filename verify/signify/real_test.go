//go:build realservers

package signify_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"braid/verify"
	"braid/verify/signify"
)

// TestRealSignify: what signify signs is good, and each of 60 damaged signatures is judged as signify judges it.
func TestRealSignify(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) error {
		c := exec.Command("signify-openbsd", args...)
		c.Dir = dir
		return c.Run()
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	file := bytes.Repeat([]byte("a release\n"), 100_000)
	if err := os.WriteFile(at("tool.tar"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-G", "-n", "-p", "key.pub", "-s", "key.sec"}, {"-S", "-s", "key.sec", "-m", "tool.tar", "-x", "good.sig"},
	} {
		if err := run(args...); err != nil {
			t.Fatalf("signify %v: %v", args, err)
		}
	}
	pub, err := os.ReadFile(at("key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := signify.ParseKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(at("good.sig"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 61 {
		data := good
		if i > 0 {
			data = damaged(good, random)
		}
		if err := os.WriteFile(at("x.sig"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		theirs := run("-V", "-q", "-p", "key.pub", "-m", "tool.tar", "-x", "x.sig") == nil
		c, err := signify.New(data, []signify.Key{k})
		if err == nil {
			c.Write(file)
			var all []verify.SignatureResult
			if all, err = c.Signatures(); err == nil && all[0].Code != verify.SignatureGood {
				t.Errorf("neither good nor an error: %v", all)
			}
		}
		if ours := err == nil; ours != theirs || ours != (i == 0) {
			t.Errorf("%q: good %v, and for signify %v", data, ours, theirs)
		}
	}
}

// damaged returns a signature with one bit of its decoded bytes changed.
func damaged(good []byte, random *rand.Rand) []byte {
	lines := bytes.SplitAfter(good, []byte("\n"))
	raw, _ := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(lines[1])))
	raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
	return append(bytes.Clone(lines[0]), base64.StdEncoding.EncodeToString(raw)+"\n"...)
}
