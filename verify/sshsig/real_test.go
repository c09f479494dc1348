//go:build realservers

package sshsig

import (
	"bytes"
	"encoding/pem"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/verify"
)

// TestRealSSH: what ssh-keygen signs with each kind of key is good, and each of 60 damaged signatures is judged as
// ssh-keygen judges it, which has the same file of allowed signers.
func TestRealSSH(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	file := bytes.Repeat([]byte("a release\n"), 1000)
	var signers strings.Builder
	var good [][]byte
	for i, kind := range []string{"ed25519", "ecdsa -b 256", "ecdsa -b 521", "rsa -b 3072"} {
		name := at(string(rune('a' + i)))
		made := exec.Command("ssh-keygen", append([]string{"-q", "-N", "", "-f", name, "-t"}, strings.Fields(kind)...)...)
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", made.Args, err, out)
		}
		pub, err := os.ReadFile(name + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		signers.WriteString(`release@example.org namespaces="file",valid-after="20200101Z" ` + string(pub))
		sign := exec.Command("ssh-keygen", "-Y", "sign", "-q", "-n", "file", "-f", name)
		sign.Stdin = bytes.NewReader(file)
		sig, err := sign.Output()
		if err != nil {
			t.Fatal(err)
		}
		good = append(good, sig)
	}
	if err := os.WriteFile(at("signers"), []byte(signers.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeys([]byte(signers.String()))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 64 {
		data := good[i%len(good)]
		if i >= len(good) {
			data = damaged(data, random)
		}
		if err := os.WriteFile(at("x.sig"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		check := exec.Command("ssh-keygen", "-Y", "verify", "-q", "-n", "file", "-I", "release@example.org", "-f",
			at("signers"), "-s", at("x.sig"))
		check.Stdin = bytes.NewReader(file)
		theirs := check.Run() == nil
		c, err := New(data, keys, Policy{Now: time.Now()})
		if err == nil {
			c.Write(file)
			var all []verify.SignatureResult
			if all, err = c.Signatures(); err == nil && all[0].Code != verify.SignatureGood {
				t.Errorf("neither good nor an error: %v", all)
			}
		}
		if ours := err == nil; ours != theirs || ours != (i < len(good)) {
			t.Errorf("%s: good %v, and for ssh-keygen %v", data, ours, theirs)
		}
	}
}

// damaged returns a signature with one bit of its decoded bytes changed.
func damaged(good []byte, random *rand.Rand) []byte {
	block, _ := pem.Decode(good)
	block.Bytes[random.IntN(len(block.Bytes))] ^= 1 << random.IntN(8)
	return pem.EncodeToMemory(block)
}
