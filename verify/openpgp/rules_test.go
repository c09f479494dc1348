package openpgp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// recorded has what gpg 2.2.40 made; go test -tags realservers -run TestRealGnuPG -record makes it anew.
const recorded = "testdata/gnupg"

// signed is the file that all signatures are of.
const signed = "braid\n"

var (
	born    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) // of all keys
	made    = born.AddDate(0, 0, 10)                       // of most signatures
	present = born.AddDate(0, 0, 30)
)

// A rule is a row of the table: signatures, keys and policy, and what must come of them.
type rule struct {
	name string
	sigs string // names of what gpg made, put one after the other
	keys string // names of exported keys
	pins string // key names, "sub/1" for the first subkey; "" is no pin
	file string // "" is the file that was signed
	old  bool   // AllowExpiredKey
	now  time.Time
	want Kind
	says string // in the result or the error
}

var rules = []rule{
	// Rule 47, C10, S4, S6: what counts.
	{name: "47 armored, RSA", sigs: "rsa.asc", keys: "rsa", want: Good, says: `good signature by {rsa}, "Rsa <rsa@example.org>", 2026-01-11T12:00:00Z, SHA-512`},
	{name: "47 binary, RSA", sigs: "rsa.sig", keys: "rsa", want: Good},
	{name: "47 binary keyring", sigs: "rsa.asc", keys: "rsa.bin", want: Good},
	{name: "47 P-256", sigs: "nist.asc", keys: "nist", want: Good, says: "SHA-256"},
	{name: "47 Ed25519 subkey", sigs: "sub.asc", keys: "sub", want: Good, says: `by {sub} (subkey {sub/1}), "Sub <sub@example.org>"`},
	{name: "47 SHA-384", sigs: "sha384.asc", keys: "rsa", want: Good, says: "SHA-384"},
	{name: "47 SHA-512", sigs: "sha512.asc", keys: "rsa", want: Good, says: "SHA-512"},
	{name: "47 notation that is not critical", sigs: "note.asc", keys: "rsa", want: Good},
	{name: "47 ten minutes in the future", sigs: "soon.asc", keys: "rsa", want: Good},
	{name: "47 signature not expired yet", sigs: "day.asc", keys: "rsa", now: made.AddDate(0, 0, 1), want: Good},
	{name: "47 key not expired yet", sigs: "old.asc", keys: "old", now: born.AddDate(0, 0, 20), want: Good},
	{name: "47 subkey not revoked yet", sigs: "lost.asc", keys: "before", want: Good},
	{name: "47 key not revoked yet", sigs: "gone.asc", keys: "alive", want: Good},

	// Rule 47: exit 10.
	{name: "47 another file", sigs: "rsa.asc", keys: "rsa", file: "braid!\n", want: Bad, says: "by {rsa}: bad: it is not of this file"},
	{name: "47 an empty file", sigs: "rsa.asc", keys: "rsa", file: "-", want: Bad},
	{name: "47 revoked key", sigs: "gone.asc", keys: "gone", want: Revoked, says: `by {gone}: key revoked: on 2026-01-11, compromised: "stolen"`},
	{name: "47 revoked in one of two exports", sigs: "gone.asc", keys: "alive gone", want: Revoked},
	{name: "47 revoked in the other of two exports", sigs: "gone.asc", keys: "gone alive", want: Revoked},
	{name: "47 revoked subkey", sigs: "lost.asc", keys: "sub", want: Revoked, says: `by {sub/2}: key revoked: on 2026-01-11, no longer used: "lost on a train"`},
	{name: "47 revoked subkey in one of two exports", sigs: "lost.asc", keys: "before sub", want: Revoked},
	{name: "47 another subkey than the revoked one", sigs: "sub.asc", keys: "before sub", want: Good},
	{name: "47 expired key", sigs: "old.asc", keys: "old", want: KeyExpired, says: "by {old}: key expired: since 2026-01-21"},
	{name: "47 expired key allowed", sigs: "old.asc", keys: "old", old: true, want: Good},
	{name: "47 expired signature", sigs: "day.asc", keys: "rsa", want: SignatureExpired, says: "since 2026-01-12T12:00:00Z"},
	{name: "47 expired signature by the second", sigs: "day.asc", keys: "rsa", now: made.AddDate(0, 0, 1).Add(time.Second), want: SignatureExpired},
	{name: "47 from the future", sigs: "future.asc", keys: "rsa", want: Future, says: "2026-01-31T12:10:01Z"},
	{name: "47 SHA-1", sigs: "sha1.asc", keys: "rsa", want: Weak, says: "by {rsa}: weak: its digest is SHA-1"},
	{name: "47 RIPEMD-160", sigs: "ripemd160.asc", keys: "rsa", want: Weak, says: "its digest is RIPEMD-160"},
	{name: "47 SHA-224", sigs: "sha224.asc", keys: "rsa", want: Weak, says: "its digest is SHA-224"},
	{name: "47 RSA of 1024 bits", sigs: "short.asc", keys: "short", want: Weak, says: "an RSA key of 1024 bits"},
	{name: "47 DSA", sigs: "dsa.asc", keys: "dsa", want: Weak, says: "a DSA key"},
	{name: "47 text mode", sigs: "text.asc", keys: "rsa", want: NotDetached, says: "of a text"},
	{name: "47 critical notation", sigs: "notation.asc", keys: "rsa", want: Unsupported, says: `"odd@example.org"`},
	{name: "47 signed message", sigs: "message.asc", keys: "rsa", want: NotDetached, says: "a message"},
	{name: "47 signed message, binary", sigs: "message.gpg", keys: "rsa", want: NotDetached, says: "a signed message"},
	{name: "47 signed message, not compressed", sigs: "plain.gpg", keys: "rsa", want: NotDetached, says: "a signed message"},
	{name: "47 signature and signed message", sigs: "rsa.sig message.gpg", keys: "rsa", want: NotDetached},
	{name: "47 signature and signed message, armored", sigs: "rsa.asc message.asc", keys: "rsa", want: NotDetached},
	{name: "47 cleartext", sigs: "cleartext.asc", keys: "rsa", want: NotDetached, says: "a text with its signature in it"},
	{name: "47 a key", sigs: "rsa.pub", keys: "rsa", want: NotDetached, says: "a key"},
	{name: "47 a key, binary", sigs: "rsa.bin.pub", keys: "rsa", want: NotDetached, says: "a key"},
	{name: "47 a revocation", sigs: "gone.rev", keys: "gone", want: NotDetached, says: "a key"},

	// Rules 47 and 51: exit 9.
	{name: "47 unknown key", sigs: "stranger.asc", keys: "rsa nist", want: UnknownKey, says: "{stranger} is not in the keyring"},
	{name: "47 not pinned", sigs: "nist.asc", keys: "rsa nist", pins: "rsa", want: NotPinned, says: "by {nist}: key not pinned"},
	{name: "47 another subkey is pinned", sigs: "sub.asc", keys: "sub", pins: "sub/2", want: NotPinned, says: "by {sub/1}"},
	{name: "47 pinned, but without the key", sigs: "nist.asc", keys: "rsa", pins: "nist", want: UnknownKey, says: "{nist} is pinned, but not in the keyring"},
	{name: "47 pinned, and no key at all", sigs: "nist.asc", pins: "nist", want: UnknownKey, says: "{nist} is pinned, but not in the keyring"},
	{name: "47 pinned", sigs: "nist.asc", keys: "rsa nist", pins: "nist", want: Good},
	{name: "47 subkey by its primary key", sigs: "sub.asc", keys: "sub", pins: "sub", want: Good},
	{name: "47 subkey by itself", sigs: "sub.asc", keys: "sub", pins: "sub/1", want: Good},
	{name: "51 without pins all keys count", sigs: "nist.asc", keys: "rsa nist sub", want: Good},
	{name: "51 no anchor", sigs: "rsa.asc", want: Unchecked, says: "signature present, not validated: no anchor"},
	{name: "51 no anchor and another file", sigs: "rsa.asc", file: "x", want: Unchecked, says: "signature present, not validated: no anchor"},

	// Rule 48: several.
	{name: "48 two good ones", sigs: "both.asc", keys: "rsa nist", want: Good, says: "; and {nist} (good)"},
	{name: "48 two blocks of armor", sigs: "nist.asc rsa.asc", keys: "rsa nist", want: Good, says: "; and {rsa} (good)"},
	{name: "48 the second block counts", sigs: "stranger.asc rsa.asc", keys: "rsa", want: Good, says: "; and {stranger} (unknown key)"},
	{name: "48 the second packet counts", sigs: "both.asc", keys: "rsa nist", pins: "nist", want: Good, says: "; and {rsa} (key not pinned)"},
	{name: "48 unknown keys do not count", sigs: "rsa.asc stranger.asc", keys: "rsa", want: Good},
	{name: "48 one unknown, one not pinned", sigs: "stranger.asc nist.asc", keys: "rsa nist", pins: "rsa", want: NotPinned},
	{name: "48 good and bad", sigs: "rsa.asc other.asc", keys: "rsa nist", want: Bad, says: "by {nist}: bad: it is not of this file (one of 2 signatures)"},
	{name: "48 bad and good", sigs: "other.asc rsa.asc", keys: "rsa nist", want: Bad, says: "by {nist}"},
	{name: "48 good, and bad by a key without a pin", sigs: "other.asc rsa.asc", keys: "rsa nist", pins: "rsa", want: Good},
	{name: "48 good, and bad by an unknown key", sigs: "other.asc rsa.asc", keys: "rsa", want: Good},
	{name: "48 good and revoked", sigs: "gone.asc rsa.asc", keys: "gone rsa", want: Good, says: "; and {gone} (key revoked)"},
	{name: "48 good and weak", sigs: "sha1.asc sha512.asc", keys: "rsa", want: Good, says: "; and {rsa} (weak)"},
	{name: "48 revoked and bad", sigs: "gone.asc other.asc", keys: "gone nist", want: Bad, says: "by {nist}"},
	{name: "48 unknown and revoked", sigs: "stranger.asc gone.asc", keys: "gone", want: Revoked, says: "by {gone}"},
}

// TestRules_Rule47_Rule48_S4_S6 proves rules 47, 48 and 51 with what gpg made once.
func TestRules_Rule47_Rule48_S4_S6(t *testing.T) { checkRules(t, recordings(t)) }

// TestText_Rule47: a signature of a text counts where its text is written, and only there.
func TestText_Rule47(t *testing.T) {
	made := recordings(t)
	keys, err := ParseKeyring(made["rsa.pub"])
	if err != nil {
		t.Fatal(err)
	}
	clear := string(made["cleartext.asc"])
	sig := []byte(clear[strings.Index(clear, "-----BEGIN PGP SIGNATURE"):])
	for _, tt := range []struct {
		name, text string
		sig        []byte
		isText     bool
		want       Kind
	}{
		{"a text", "braid", sig, true, Good},
		{"with its end", "braid\r\n", sig, true, Bad},
		{"another text", "Braid", sig, true, Bad},
		{"a file", "braid", sig, false, NotDetached},
		{"the signature of a file", signed, made["rsa.asc"], true, NotDetached},
		{"the text with its signature", "braid", made["cleartext.asc"], true, NotDetached},
	} {
		if got, says := verdict(tt.sig, keys, Policy{Now: present, Text: tt.isText}, tt.text); got != tt.want {
			t.Errorf("%s: %v: %s, want %v", tt.name, got, says, tt.want)
		}
	}
}

func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := os.ReadDir(recorded)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[f.Name()], err = os.ReadFile(filepath.Join(recorded, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func checkRules(t *testing.T, made map[string][]byte) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(t, made) })
	}
}

func (r rule) check(t *testing.T, made map[string][]byte) {
	take := func(name string) []byte {
		data, ok := made[name]
		if !ok {
			t.Fatalf("gpg made no %s", name)
		}
		return data
	}
	var sigs []byte
	for name := range strings.FieldsSeq(r.sigs) {
		sigs = append(sigs, take(name)...)
	}
	var exports [][]byte
	for name := range strings.FieldsSeq(r.keys) {
		exports = append(exports, take(name+".pub"))
	}
	keys, err := ParseKeyring(exports...)
	if err != nil || len(keys.Unread()) > 0 {
		t.Fatalf("keyring: %v, %v", err, keys.Unread())
	}
	fingerprints := fingerprintsOf(made)
	policy := Policy{Now: present, AllowExpiredKey: r.old}
	if !r.now.IsZero() {
		policy.Now = r.now
	}
	for name := range strings.FieldsSeq(r.pins) {
		policy.Pins = append(policy.Pins, mustFingerprint(t, fingerprints["{"+name+"}"]))
	}
	file := strings.TrimPrefix(r.file, "-")
	if r.file == "" {
		file = signed
	}
	want := r.says
	for name, f := range fingerprints {
		want = strings.ReplaceAll(want, name, f)
	}
	if got, says := verdict(sigs, keys, policy, file); got != r.want || !strings.Contains(says, want) || strings.Contains(says, "not an *Error") {
		t.Errorf("got %v: %s\nwant %v with %s", got, says, r.want, want)
	}
}

// fingerprintsOf has those of primary keys as {rsa} and those of subkeys as {sub/1}.
func fingerprintsOf(made map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, data := range made {
		key, ok := strings.CutSuffix(name, ".fpr")
		for i, f := range strings.Fields(string(data)) {
			switch {
			case ok && i == 0:
				all["{"+key+"}"] = f
			case ok:
				all[fmt.Sprintf("{%s/%d}", key, i)] = f
			}
		}
	}
	return all
}

func mustFingerprint(t testing.TB, s string) Fingerprint {
	t.Helper()
	f, err := ParseFingerprint(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// verdict runs a check in small pieces: the kind of the first good signature or of the error, and its words.
func verdict(sigs []byte, keys Keyring, policy Policy, file string) (Kind, string) {
	c, err := New(sigs, keys, policy)
	if err == nil {
		if _, err := io.Copy(c, iotest.OneByteReader(strings.NewReader(file))); err != nil {
			return Unchecked, err.Error()
		}
		var r Result
		if r, err = c.Result(); err == nil {
			s, ok := r.Signer()
			if ok != r.Validated {
				return s.Kind, "not an *Error: validated, but not by a good signature"
			}
			return s.Kind, r.String()
		}
	}
	var e *Error
	if !errors.As(err, &e) {
		return Unchecked, "not an *Error: " + err.Error()
	}
	return e.Kind, e.Error()
}
