package signify_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/whole"
	"braid/verify"
	"braid/verify/minisign"
	"braid/verify/signatures"
	"braid/verify/signify"
)

// read returns a file of testdata. Signify 31 made them: signify -S -s key.sec -m tool.tar, and with -e of SHA256.
func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func key(t testing.TB, name string) signify.Key {
	t.Helper()
	k, err := signify.ParseKey(read(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// swapped returns data with the character at i of the second line changed.
func swapped(data []byte, i int) []byte {
	out := bytes.Clone(data)
	i += bytes.IndexByte(out, '\n') + 1
	if c := &out[i]; *c == 'A' {
		*c = 'B'
	} else {
		*c = 'A'
	}
	return out
}

// TestSignatures judges each signature, and what becomes of it by each change.
func TestSignatures(t *testing.T) {
	sig, file, list := read(t, "tool.tar.sig"), read(t, "tool.tar"), read(t, "SHA256")
	crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
	for _, tt := range []struct {
		name string
		data []byte
		key  string
		file []byte
		want verify.SignatureCode
	}{
		{"good", sig, "key.pub", file, verify.SignatureGood},
		{"with the ends of Windows", crlf(sig), "key.pub", file, verify.SignatureGood},
		{"with the message", read(t, "SHA256.sig"), "key.pub", list, verify.SignatureGood},
		{"with the message of another file", read(t, "SHA256.sig"), "key.pub", file, verify.SignatureBad},
		{"of other bytes", sig, "key.pub", append(bytes.Clone(file), 0), verify.SignatureBad},
		{"of no bytes", sig, "key.pub", nil, verify.SignatureBad},
		{"of the largest file", sig, "key.pub", make([]byte, whole.Most), verify.SignatureBad},
		{"of a larger one", sig, "key.pub", make([]byte, whole.Most+1), verify.SignatureUnsupported},
		{"by another key", sig, "other.pub", file, verify.SignatureUnknownKey},
		{"of another key's id", swapped(sig, 6), "key.pub", file, verify.SignatureUnknownKey},
		{"changed", swapped(sig, 40), "key.pub", file, verify.SignatureBad},
		{"of another algorithm", swapped(sig, 1), "key.pub", file, verify.SignatureUnsupported},
		{"cut", sig[:len(sig)-10], "key.pub", file, verify.SignatureMalformed},
		{"without a comment", bytes.TrimPrefix(sig, []byte("untrusted")), "key.pub", file, verify.SignatureMalformed},
		{"a key", read(t, "key.pub"), "key.pub", file, verify.SignatureMalformed},
		{"empty", nil, "key.pub", file, verify.SignatureMalformed},
	} {
		if got := judge(t, tt.data, tt.file, key(t, tt.key)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// judge returns the verdict on a signature of a file, which comes in two parts with a state between.
func judge(t *testing.T, data, file []byte, keys ...signify.Key) verify.SignatureCode {
	t.Helper()
	c, err := signify.New(data, keys)
	if err == nil {
		c.Write(file[:len(file)/2])
		state, stateErr := c.MarshalBinary()
		if stateErr != nil {
			t.Fatal(stateErr)
		}
		c, err = signify.New(data, keys)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
		c.Write(file[len(file)/2:])
		var all []verify.SignatureResult
		if all, err = c.Signatures(); err == nil {
			return all[0].Code
		}
	}
	e, ok := errors.AsType[*verify.SignatureError](err)
	if !ok {
		t.Fatal(err)
	}
	return e.Code
}

// TestRead: without keys a signature says who made it, and nothing is validated.
func TestRead(t *testing.T) {
	all, err := signify.Kind.Read(read(t, "tool.tar.sig"), verify.Detached{}.Now)
	if err != nil || len(all) != 1 || all[0].Code != verify.SignatureUnchecked || all[0].Key != key(t, "key.pub").ID() {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestKeys has what is a key of signify, and what is one of minisign.
func TestKeys(t *testing.T) {
	pub := string(read(t, "key.pub"))
	_, line, _ := strings.Cut(pub, "\n")
	for _, tt := range []struct{ data, kind, wrong string }{
		{pub, "signify", ""},
		{strings.ReplaceAll(pub, "\n", "\r\n"), "signify", ""},
		{strings.Replace(pub, "public", "secret", 1), "signify", "this is a secret key, not a public one"},
		{pub + "x", "signify", "this is not a public key of signify"},
		{pub[:60], "signify", "this is not a public key of signify"},
		{"untrusted comment: minisign public key\n" + line, "minisign", ""},
		{"untrusted comment: minisign public key 4B2D3DFF0E0F2A7B\n" + line, "minisign", ""},
		{line, "minisign", ""},
	} {
		kind := signatures.OfKeys("keyring", []byte(tt.data))
		if kind.Name != tt.kind {
			t.Errorf("%q is of %s, want %s", tt.data, kind.Name, tt.kind)
		}
		_, err := kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: "x.pub", Data: []byte(tt.data)}}})
		if err == nil && tt.wrong != "" || err != nil && (tt.wrong == "" || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%q: %v, want %q", tt.data, err, tt.wrong)
		}
	}
	_, err := signify.Kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: "x.pub", Data: []byte(pub)}}, Pins: []string{"0"}})
	if err == nil {
		t.Error("a pin of OpenPGP lets a key of signify count")
	}
}

// TestNotOfMinisign: the first signature of minisign's older form is a good one of signify, without the comment that
// names the file. It counts for no kind of key but minisign's.
func TestNotOfMinisign(t *testing.T) {
	dir := filepath.Join("..", "minisign", "testdata")
	made := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	lines := strings.SplitAfter(string(made("whole.minisig")), "\n")
	half := []byte(lines[0] + lines[1])
	if kind := signatures.Of(half); kind != signify.Kind {
		t.Fatalf("half a signature is of %s", kind.Name)
	}
	if kind := signatures.Of(made("whole.minisig")); kind != minisign.Kind {
		t.Fatalf("a signature is of %s", kind.Name)
	}
	// The attack works where the key counts for both.
	_, line, _ := strings.Cut(string(made("key.pub")), "\n")
	same, err := signify.ParseKey([]byte("untrusted comment: x public key\n" + line))
	if err != nil {
		t.Fatal(err)
	}
	if got := judge(t, half, made("tool.tar"), same); got != verify.SignatureGood {
		t.Fatalf("%v: this test shows nothing", got)
	}
	if kind := signatures.OfKeys("keyring", made("key.pub")); kind != minisign.Kind {
		t.Errorf("minisign's key is of %s", kind.Name)
	}
}

func FuzzNew(f *testing.F) {
	f.Add(read(f, "tool.tar.sig"))
	f.Add(read(f, "SHA256.sig"))
	keys := []signify.Key{key(f, "key.pub")}
	file, list := read(f, "tool.tar"), read(f, "SHA256")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := signify.New(data, keys)
		if err != nil {
			return
		}
		c.Write([]byte("what nobody signed"))
		if all, err := c.Signatures(); err == nil {
			t.Errorf("%q is a good signature of other bytes than %q and %q: %v", data, file, list, all)
		}
	})
}
