//go:build realservers

package minisign_test

import (
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
