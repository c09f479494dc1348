package minisign_test

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"

	"braid/verify"
	"braid/verify/minisign"
	"braid/verify/signatures"
)

// sign signs a file.
func sign(t testing.TB, s verify.Signer, name string, file []byte) []byte {
	t.Helper()
	signing, err := s.Begin(name, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	signing.Write(file[:len(file)/2])
	signing.Write(file[len(file)/2:])
	sig, err := signing.Signature()
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// TestSign: what is signed is good by the public key, names the file and the time, and is bad for other files and names.
func TestSign(t *testing.T) {
	s, err := signatures.NewSigner(read(t, "secret.key"), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	k := key(t, "secret.pub")
	if _, bare, _ := strings.Cut(strings.TrimSpace(string(read(t, "secret.pub"))), "\n"); s.Key() != bare ||
		s.Kind() != minisign.Kind {
		t.Errorf("key %s of %s", s.Key(), s.Kind().Name)
	}
	file := bytes.Repeat([]byte("a release\n"), 1000)
	sig := sign(t, s, "tool \u00fc.tar", file)
	if got := judge(t, sig, k, []string{"tool \u00fc.tar"}, file); got != verify.SignatureGood {
		t.Errorf("%s\nis %v", sig, got)
	}
	if got := judge(t, sig, k, nil, append(file, 'x')); got != verify.SignatureBad {
		t.Errorf("another file is %v", got)
	}
	if got := judge(t, sig, k, []string{"other.tar"}, file); got != verify.SignatureBad {
		t.Errorf("another name is %v", got)
	}
	if got := judge(t, sig, key(t, "other.pub"), nil, file); got != verify.SignatureUnknownKey {
		t.Errorf("another key is %v", got)
	}
	for _, name := range []string{"", "a\tb", "a\nb", "a\x7fb"} {
		if _, err := s.Begin(name, time.Now()); err == nil {
			t.Errorf("%q is signed", name)
		}
	}
}

// locked returns the file of a secret key with a passphrase and limits of its derivation, made as minisign makes it.
func locked(t *testing.T, plain []byte, passphrase string, operations, memory uint64, log, p int) []byte {
	t.Helper()
	_, line, _ := strings.Cut(strings.TrimSpace(string(plain)), "\n")
	raw, err := base64.StdEncoding.DecodeString(line)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[2:], "Sc")
	copy(raw[6:38], bytes.Repeat([]byte{7}, 32))
	binary.LittleEndian.PutUint64(raw[38:], operations)
	binary.LittleEndian.PutUint64(raw[46:], memory)
	secret := raw[54:]
	sum := blake2b.Sum256(append([]byte("Ed"), secret[:72]...))
	copy(secret[72:], sum[:])
	stream, err := scrypt.Key([]byte(passphrase), raw[6:38], 1<<log, 8, p, len(secret))
	if err != nil {
		t.Fatal(err)
	}
	subtle.XORBytes(secret, secret, stream)
	return []byte("untrusted comment: minisign encrypted secret key\n" + base64.StdEncoding.EncodeToString(raw) + "\n")
}

// TestLockedKey: a passphrase unlocks a key with the parameters that libsodium derives from its limits.
func TestLockedKey(t *testing.T) {
	plain := read(t, "secret.key")
	for _, tt := range []struct {
		operations, memory uint64
		log, p             int
	}{{32768, 16 << 20, 10, 1}, {524288, 16 << 20, 14, 1}, {1 << 22, 1 << 20, 10, 128}, {0, 16 << 20, 10, 1}} {
		file := locked(t, plain, "secret words", tt.operations, tt.memory, tt.log, tt.p)
		s, err := minisign.NewSigner(file, []byte("secret words"))
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		if s.Public() != key(t, "secret.pub") {
			t.Errorf("%+v: key %v", tt, s.Public())
		}
		for _, passphrase := range []string{"", "wrong"} {
			_, err := minisign.NewSigner(file, []byte(passphrase))
			if e, ok := errors.AsType[*verify.SignatureError](err); !ok || e.Code != verify.SignatureLocked {
				t.Errorf("%q: %v", passphrase, err)
			}
		}
	}
}

// TestSecretRefused: what is no secret key, a damaged one, and one that asks for more memory than the machine has.
func TestSecretRefused(t *testing.T) {
	plain := string(read(t, "secret.key"))
	comment, line, _ := strings.Cut(strings.TrimSpace(plain), "\n")
	raw, err := base64.StdEncoding.DecodeString(line)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, with ...byte) string {
		other := bytes.Clone(raw)
		copy(other[at:], with)
		return comment + "\n" + base64.StdEncoding.EncodeToString(other)
	}
	limits := func(operations, memory uint64) string {
		both := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte("ScB2"), operations), memory)
		other := append(append(bytes.Clone(raw[:2]), both[:4]...), raw[6:]...)
		copy(other[38:], both[4:])
		return comment + "\n" + base64.StdEncoding.EncodeToString(other)
	}
	for name, text := range map[string]string{
		"nothing": "", "text": "x", "public": string(read(t, "secret.pub")), "two": plain + line,
		"cut":       comment + "\n" + line[:100],
		"algorithm": changed(0, 'X'), "derivation": changed(2, 'A', 'r'), "checksum": changed(4, 'S'),
		"halves":      changed(70, 1, 2, 3),
		"much memory": limits(1<<40, 1<<40), "much time": limits(1<<50, 1<<20), "no memory": limits(1<<30, 0),
		"all": limits(1<<63, 1<<63),
	} {
		if _, err := minisign.NewSigner([]byte(text), []byte("secret words")); err == nil {
			t.Errorf("%s: taken", name)
		} else if _, ok := errors.AsType[*verify.SignatureError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzNewSigner: no file makes a panic, and each key that is read signs what its public key verifies.
func FuzzNewSigner(f *testing.F) {
	f.Add(read(f, "secret.key"))
	f.Add(read(f, "secret.pub"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := minisign.NewSigner(data, nil) // without a passphrase, as its derivation may take long
		if err != nil {
			return
		}
		k, err := minisign.ParseKey([]byte(s.Key()))
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(t, sign(t, s, "a", data), k, []string{"a"}, data); got != verify.SignatureGood {
			t.Errorf("%q signs what is %v", data, got)
		}
	})
}
