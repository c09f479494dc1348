package openpgp

import (
	"braid/verify"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzSignatures feeds arbitrary signatures: no panic, never good for a file that nobody signed, and what is good for
// the file that was signed is so by a pinned key.
func FuzzSignatures(f *testing.F) {
	made := recordings(f)
	keys, err := ParseKeyring(made["rsa.pub"], made["nist.pub"], made["sub.pub"], made["old.pub"], made["gone.pub"],
		made["dsa.pub"], made["short.pub"])
	if err != nil {
		f.Fatal(err)
	}
	for name, data := range made {
		if !strings.HasSuffix(name, ".fpr") && !strings.HasSuffix(name, ".pub") {
			f.Add(data)
			blocks, _ := dearmor(data)
			for _, b := range blocks {
				f.Add(b.data) // base64 hides from the fuzzer what it changes
			}
		}
	}
	f.Add(draft{}.by(f, newEntity(f, at(born)).PrivateKey, signed))
	rsa := keys.certs[0].keys[0]
	f.Fuzz(func(t *testing.T, sigs []byte) {
		for _, policy := range []Policy{{Now: present}, {Now: present, AllowExpiredKey: true, Pins: []Fingerprint{rsa}}} {
			if got, says := verdict(sigs, keys, policy, "wrong\n"); got == verify.SignatureGood ||
				strings.Contains(says, "not a *verify.SignatureError") {
				t.Fatalf("another file: %v: %s", got, says)
			}
			c, err := New(sigs, keys, policy)
			if err != nil {
				continue
			}
			io.WriteString(c, signed)
			all, err := c.Signatures()
			s, ok := verify.GoodSignature(all)
			if ok != (err == nil) || ok && len(policy.Pins) > 0 && s.Key != rsa.String() {
				t.Fatalf("the right file: %v, %v", all, err)
			}
			if len(c.hashes)+len(c.salted) > len(digests)+maxSalted || len(all) > maxSignatures {
				t.Fatalf("%d hashes, %d signatures", len(c.hashes)+len(c.salted), len(all))
			}
			if text := fmt.Sprint(all, err); strings.ContainsAny(text, "\n\r\x1b") {
				t.Fatalf("more than a line: %q", text)
			}
		}
	})
}

// FuzzKeyring feeds arbitrary keys, public and secret: no panic, and they never make a signature good that is not.
func FuzzKeyring(f *testing.F) {
	recorded := recordings(f)
	for name, data := range recorded {
		if strings.HasSuffix(name, ".pub") {
			f.Add(data, recorded["rsa.asc"])
			blocks, _ := dearmor(data)
			for _, b := range blocks {
				f.Add(b.data, recorded["rsa.asc"])
			}
		}
	}
	ann := newEntity(f, at(born))
	f.Add(secretKey(f, ann), draft{}.by(f, ann.PrivateKey, signed))
	f.Add(publicKey(f, ann), draft{}.by(f, ann.PrivateKey, signed))
	f.Fuzz(func(t *testing.T, export, sigs []byte) {
		keys, err := ParseKeyring(export)
		if (err == nil) != (keys.Len() > 0) {
			t.Fatalf("%d keys, %v", keys.Len(), err)
		}
		// What is good is good because the key in the export signed it: not for another file as well.
		if a, _ := verdict(sigs, keys, Policy{Now: present}, signed); a == verify.SignatureGood {
			if b, says := verdict(sigs, keys, Policy{Now: present}, "wrong\n"); b == verify.SignatureGood {
				t.Fatalf("good for two files: %s", says)
			}
		}
		sig, err := Sign(bytes.NewReader([]byte(signed)), export, nil, made)
		if (err == nil) != (sig != nil) {
			t.Fatalf("%q, %v", sig, err)
		}
	})
}
