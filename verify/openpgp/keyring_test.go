package openpgp

import (
	"braid/verify"
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestParseKeyring(t *testing.T) {
	made := recordings(t)
	ann := newEntity(t, at(born))
	rsa, nist, sub := made["rsa.pub"], made["nist.pub"], made["sub.pub"]
	cut := rsa[:len(rsa)/2]
	broken := packetOf(tagPublicKey, []byte{4, 0, 0, 0, 0, 1, 0, 9})
	tests := []struct {
		name    string
		exports [][]byte
		keys    int
		unread  []string // the end of the message about each unread key
	}{
		{"armored", [][]byte{rsa}, 1, nil},
		{"binary", [][]byte{made["rsa.bin.pub"]}, 1, nil},
		{"several files", [][]byte{rsa, nist, made["rsa.bin.pub"]}, 3, nil},
		{"several blocks with text between them", [][]byte{slices.Concat([]byte("pub rsa\n"), rsa, []byte("pub nist\n"),
			nist)}, 2, nil},
		{"several keys in one binary export", [][]byte{slices.Concat(made["rsa.bin.pub"], publicKey(t, ann))}, 2, nil},
		{"none", nil, 0, nil},
		{"a block that is cut off, and a whole one", [][]byte{slices.Concat(cut, []byte("\n"), nist)}, 1,
			[]string{"line 1: cut off: the armor has no end"}},
		{"a broken key among whole ones", [][]byte{slices.Concat(made["rsa.bin.pub"], broken, publicKey(t, ann))}, 2,
			[]string{"key 2: "}},
		{"binary that is cut off", [][]byte{slices.Concat(publicKey(t, ann), publicKey(t, ann),
			made["rsa.bin.pub"][:90])}, 1, []string{"truncated within a packet"}},
		{"a secret key", [][]byte{nist, secretKey(t, ann)}, 1,
			[]string{"key 1: this is a secret key: give the public one (gpg --export)"}},
		{"an armored secret key", [][]byte{nist, bytes.ReplaceAll(rsa, []byte("PUBLIC"), []byte("PRIVATE"))}, 1,
			[]string{"line 1: this is a secret key"}},
		{"a signature", [][]byte{sub, made["rsa.asc"]}, 1, []string{"line 1: it is not a key, but a signature"}},
		{"a binary signature", [][]byte{sub, made["rsa.sig"]}, 1, []string{"it is not a key, but a signature"}},
		{"text", [][]byte{sub, []byte("0123456789ABCDEF")}, 1, []string{"it has no OpenPGP key"}},
		{"an empty file", [][]byte{sub, nil}, 1, []string{"it has no OpenPGP key"}},
		{"a keybox", [][]byte{sub, []byte("\x00\x00\x00\x20\x01\x01\x00\x02KBXf\x00\x00")}, 1,
			[]string{"this is a keybox of GnuPG: export the keys with gpg --export"}},
	}
	for _, tt := range tests {
		k, err := ParseKeyring(tt.exports...)
		if err != nil || k.Len() != tt.keys || len(k.unread) != len(tt.unread) {
			t.Errorf("%s: got %d keys, %v, %v; want %d and %q", tt.name, k.Len(), k.unread, err, tt.keys, tt.unread)
			continue
		}
		for i, u := range k.unread {
			if !strings.Contains(u.Error(), tt.unread[i]) {
				t.Errorf("%s: got %v, want %s", tt.name, u, tt.unread[i])
			}
		}
	}
}

func TestParseKeyringRefuses(t *testing.T) {
	made := recordings(t)
	for name, tt := range map[string]struct {
		exports [][]byte
		want    verify.SignatureCode
		says    string
	}{
		"no key at all":   {[][]byte{[]byte("hello")}, verify.SignatureMalformed, "keyring: malformed: it has no OpenPGP key"},
		"only signatures": {[][]byte{made["rsa.asc"]}, verify.SignatureMalformed, "it is not a key, but a signature"},
		"over 64 MiB": {[][]byte{make([]byte, maxKeyring), {0}}, verify.SignatureTooLarge,
			"keyring: too large: more than 67108864 bytes"},
		"over 10,000 keys": {[][]byte{bytes.Repeat(made["rsa.bin.pub"], maxKeys+1)}, verify.SignatureTooLarge,
			"keyring: too large: more than 10000 keys"},
	} {
		k, err := ParseKeyring(tt.exports...)
		var e *verify.SignatureError
		if !errors.As(err, &e) || e.Code != tt.want || !strings.Contains(e.Error(), tt.says) || k.Len() > 0 {
			t.Errorf("%s: got %d keys, %v", name, k.Len(), err)
		}
	}
}

// Many downloads use one keyring at once; the race detector watches.
func TestKeyringIsShared(t *testing.T) {
	made := recordings(t)
	keys, err := ParseKeyring(made["rsa.pub"], made["sub.pub"], made["sub.pub"])
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, says := verdict(made["sub.asc"], keys, Policy{Now: present}, signed); got != verify.SignatureGood {
				t.Error(says)
			}
			// At another time the same key is judged anew.
			if got, says := verdict(made["sub.asc"], keys, Policy{Now: born.AddDate(0, 0, -1)},
				signed); got != verify.SignatureKeyUnfit {
				t.Error(says)
			}
		})
	}
	wg.Wait()
}
