package sshsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"braid/verify"
)

// read returns a file of testdata. OpenSSH 9.2 made them: ssh-keygen -Y sign -n file -f KEY < tool.tar, with -O
// hashalg=sha256 for one and -n git for another.
func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func keysOf(t testing.TB, data ...string) (keys []Key) {
	t.Helper()
	keys, err := ParseKeys([]byte(strings.Join(data, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// edited returns a signature with its decoded bytes changed.
func edited(data []byte, edit func([]byte) []byte) []byte {
	block, _ := pem.Decode(data)
	block.Bytes = edit(bytes.Clone(block.Bytes))
	return pem.EncodeToMemory(block)
}

// judge returns the verdict on a signature of a file, which comes in two parts with a state between.
func judge(t *testing.T, data, file []byte, keys []Key, policy Policy) (verify.SignatureCode, string) {
	t.Helper()
	c, err := New(data, keys, policy)
	if err == nil {
		c.Write(file[:len(file)/2])
		state, stateErr := c.MarshalBinary()
		if stateErr != nil {
			t.Fatal(stateErr)
		}
		if c, err = New(data, keys, policy); err != nil {
			t.Fatal(err)
		}
		if err := c.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
		c.Write(file[len(file)/2:])
		var all []verify.SignatureResult
		if all, err = c.Signatures(); err == nil {
			return all[0].Code, all[0].Signer
		}
	}
	e, ok := errors.AsType[*verify.SignatureError](err)
	if !ok {
		t.Fatal(err)
	}
	return e.Code, e.Reason
}

// TestSignatures judges each signature, and what becomes of it by each change.
func TestSignatures(t *testing.T) {
	file, ed := read(t, "tool.tar"), read(t, "ed25519.sig")
	all := keysOf(t, string(read(t, "ecdsa.pub")), string(read(t, "ed25519.pub")), "# a comment", "", string(read(t, "rsa.pub")))
	replaced := func(old, new string) []byte {
		return edited(ed, func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) })
	}
	for _, tt := range []struct {
		name string
		data []byte
		file []byte
		keys []Key
		want verify.SignatureCode
	}{
		{"by ed25519", ed, file, all, verify.SignatureGood},
		{"by ecdsa", read(t, "ecdsa.sig"), file, all, verify.SignatureGood},
		{"by rsa", read(t, "rsa.sig"), file, all, verify.SignatureGood},
		{"of the sha-256", read(t, "sha256.sig"), file, all, verify.SignatureGood},
		{"with the ends of Windows", bytes.ReplaceAll(ed, []byte("\n"), []byte("\r\n")), file, all, verify.SignatureGood},
		{"of other bytes", ed, []byte("a tool"), all, verify.SignatureBad},
		{"of no bytes", ed, nil, all, verify.SignatureBad},
		{"by another key", ed, file, all[:1], verify.SignatureUnknownKey},
		{"by a small key", read(t, "small.sig"), file, all, verify.SignatureWeak},
		{"for a commit", read(t, "git.sig"), file, all, verify.SignatureNotOfFile},
		{"for a commit, renamed", edited(read(t, "git.sig"), func(b []byte) []byte {
			return bytes.Replace(b, []byte("\x00\x00\x00\x03git"), []byte("\x00\x00\x00\x04file"), 1)
		}), file, all, verify.SignatureBad},
		{"of another digest", replaced("sha512", "sha256"), file, all, verify.SignatureBad},
		{"of an unknown digest", replaced("sha512", "sha384"), file, all, verify.SignatureUnsupported},
		{"with SHA-1", edited(read(t, "rsa.sig"), func(b []byte) []byte {
			return bytes.Replace(b, []byte("\x00\x00\x01\x14\x00\x00\x00\x0crsa-sha2-512"),
				[]byte("\x00\x00\x01\x0f\x00\x00\x00\x07ssh-rsa"), 1)
		}), file, all, verify.SignatureWeak},
		{"of another magic", replaced("SSHSIG", "SSHSIH"), file, all, verify.SignatureMalformed},
		{"of another version", replaced("SSHSIG\x00\x00\x00\x01", "SSHSIG\x00\x00\x00\x02"), file, all,
			verify.SignatureUnsupported},
		{"with more behind it", edited(ed, func(b []byte) []byte { return append(b, 0) }), file, all, verify.SignatureMalformed},
		{"cut", edited(ed, func(b []byte) []byte { return b[:len(b)-1] }), file, all, verify.SignatureMalformed},
		{"changed at its end", edited(ed, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), file, all, verify.SignatureBad},
		{"twice", append(bytes.Clone(ed), ed...), file, all, verify.SignatureMalformed},
		{"after text", append([]byte("x\n"), ed...), file, all, verify.SignatureMalformed},
		{"empty", nil, file, all, verify.SignatureMalformed},
		{"without keys", ed, file, nil, verify.SignatureUnchecked},
	} {
		if got, why := judge(t, tt.data, tt.file, tt.keys, Policy{}); got != tt.want {
			t.Errorf("%s: %v (%s), want %v", tt.name, got, why, tt.want)
		}
	}
}

// TestAllowedSigners has what the options of a line allow.
func TestAllowedSigners(t *testing.T) {
	file, sig := read(t, "tool.tar"), read(t, "ed25519.sig")
	key := strings.TrimSpace(string(read(t, "ed25519.pub")))
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		lines   string
		want    verify.SignatureCode
		said    string // in the signer or the reason
		expired bool
	}{
		{lines: key, want: verify.SignatureGood, said: `"release ed25519"`},
		{lines: "eve@example.org " + key, want: verify.SignatureGood, said: `"eve@example.org"`},
		{lines: `"Release Team,ci@example.org" ` + key, want: verify.SignatureGood, said: `"Release Team,ci@example.org"`},
		{lines: `r@example.org namespaces="git,file" ` + key, want: verify.SignatureGood},
		{lines: `r@example.org namespaces="*" ` + key, want: verify.SignatureGood},
		{lines: `r@example.org namespaces="f?le" ` + key, want: verify.SignatureGood},
		{lines: `r@example.org namespaces="git" ` + key, want: verify.SignatureKeyUnfit, said: "namespaces"},
		{lines: `r@example.org namespaces="*,!file" ` + key, want: verify.SignatureKeyUnfit, said: "namespaces"},
		{lines: `r@example.org namespaces="" ` + key, want: verify.SignatureKeyUnfit, said: "namespaces"},
		{lines: `r@example.org valid-after="20260601Z" ` + key, want: verify.SignatureGood},
		{lines: `r@example.org valid-after="202606011200Z",valid-before="202606011201Z" ` + key, want: verify.SignatureGood},
		{lines: `r@example.org valid-after="20260601120001Z" ` + key, want: verify.SignatureKeyUnfit, said: "2026-06-01 12:00"},
		{lines: `r@example.org valid-before="202606011200Z" ` + key, want: verify.SignatureKeyExpired, said: "2026-06-01 12:00"},
		{lines: `r@example.org Valid-Before="20260530Z" ` + key, want: verify.SignatureGood, expired: true},
		{lines: `r@example.org namespaces="git" ` + key + "\nr@example.org " + key, want: verify.SignatureGood},
	} {
		got, said := judge(t, sig, file, keysOf(t, tt.lines), Policy{Now: now, AllowExpired: tt.expired})
		if got != tt.want || !strings.Contains(said, tt.said) {
			t.Errorf("%s: %v, %s; want %v, %s", tt.lines[:min(60, len(tt.lines))], got, said, tt.want, tt.said)
		}
	}
}

// TestKeys has what is no file of keys.
func TestKeys(t *testing.T) {
	key := strings.TrimSpace(string(read(t, "ed25519.pub")))
	for data, want := range map[string]string{
		"":             "the file has no key",
		"# a comment":  "the file has no key",
		"text":         "line 1: this is neither an SSH public key",
		key + "\ntext": "line 2: this is neither an SSH public key",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nQQ==\n-----END OPENSSH PRIVATE KEY-----": "a private key",
		"a@example.org cert-authority " + key:                                          "line 1: cert-authority",
		"a@example.org no-touch-required " + key:                                       "the option \"no-touch-required\"",
		`a@example.org valid-after="2026" ` + key:                                      "is not a time",
		`namespaces="file" ` + key:                                                     "is in the place of the principals",
		`valid-before="20200101" ` + key:                                               "is in the place of the principals",
		"cert-authority " + key:                                                        "is in the place of the principals",
		"restrict,pty " + key:                                                          "is in the place of the principals",
		"!* " + key:                                                                    "matches nothing",
		"!eve,* " + key:                                                                "",
		`alice namespaces="git",namespaces="file" ` + key:                              "appears twice",
		`"unfinished ` + key: "line 1: this is neither an SSH " +
			"public key",
		string(read(t, "small.pub")):                      "the RSA key has 1024 bits",
		strings.Replace(key, "ssh-ed25519", "ssh-rsa", 1): "line 1: this is neither an SSH public key",
		strings.Repeat(key+"\n", mostKeys+1):              "the file has more than 10000 keys",
	} {
		if _, err := ParseKeys([]byte(data)); err == nil && want != "" ||
			err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", data[:min(60, len(data))], err, want)
		}
	}
	for data, want := range map[string]bool{
		key: true, "\n# x\na@example.org " + key: true, `a@example.org namespaces="file" ` + key: true,
		"-----BEGIN OPENSSH PRIVATE KEY-----\n": true, "-----BEGIN CERTIFICATE-----\n": false, "\x99\x01": false, "": false,
	} {
		if Kind.SniffKeys([]byte(data)) != want {
			t.Errorf("%q: want %v", data[:min(60, len(data))], want)
		}
	}
	file := []verify.KeyFile{{Name: "x.pub", Data: []byte(key)}}
	if _, err := Kind.NewTrust(verify.Keys{Files: file, Pins: []string{"0"}}); err == nil {
		t.Error("a pin of OpenPGP lets a key of SSH count")
	}
}

// TestSecurityKey makes the signatures of a key in hardware (OpenSSH, PROTOCOL.u2f): one counts if somebody touched it.
func TestSecurityKey(t *testing.T) {
	const algorithm, application = ssh.KeyAlgoSKED25519, "ssh:"
	secret := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public, err := ssh.ParsePublicKey(ssh.Marshal(struct{ Algorithm, Key, Application string }{
		algorithm, string(secret.Public().(ed25519.PublicKey)), application}))
	if err != nil {
		t.Fatal(err)
	}
	file := []byte("a tool\n")
	digest := sha512.Sum512(file)
	signed := ssh.Marshal(struct {
		Magic                             [6]byte
		Namespace, Reserved, Hash, Digest string
	}{magic, namespace, "", "sha512", string(digest[:])})
	sign := func(flags byte) []byte {
		of, message := sha256.Sum256([]byte(application)), sha256.Sum256(signed)
		blob := append(append(of[:], flags, 0, 0, 0, 1), message[:]...)
		return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: ssh.Marshal(struct {
			Magic                                     [6]byte
			Version                                   uint32
			Key, Namespace, Reserved, Hash, Signature string
		}{magic, 1, string(public.Marshal()), namespace, "", "sha512", string(ssh.Marshal(struct {
			Algorithm, Signature string
			Flags                byte
			Counter              uint32
		}{algorithm, string(ed25519.Sign(secret, blob)), flags, 1}))})})
	}
	keys := keysOf(t, string(ssh.MarshalAuthorizedKey(public)))
	for flags, want := range map[byte]verify.SignatureCode{1: verify.SignatureGood, 5: verify.SignatureGood,
		0: verify.SignatureBad} {
		if got, why := judge(t, sign(flags), file, keys, Policy{}); got != want {
			t.Errorf("flags %d: %v (%s), want %v", flags, got, why, want)
		}
	}
}

func FuzzNew(f *testing.F) {
	for _, name := range []string{"ed25519.sig", "ecdsa.sig", "rsa.sig", "git.sig"} {
		f.Add(read(f, name))
	}
	keys := keysOf(f, string(read(f, "ed25519.pub")), string(read(f, "ecdsa.pub")), string(read(f, "rsa.pub")))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := New(data, keys, Policy{})
		if err != nil {
			return
		}
		c.Write([]byte("what nobody signed"))
		if all, err := c.Signatures(); err == nil {
			t.Errorf("%q is a good signature: %v", data, all)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	f.Add(`a@example.org,b namespaces="file",valid-before="20300101Z" ` + string(read(f, "ed25519.pub")))
	f.Fuzz(func(t *testing.T, data string) {
		keys, err := ParseKeys([]byte(data))
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%q: %d keys, %v", data, len(keys), err)
		}
	})
}
