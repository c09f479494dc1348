package openpgp

import (
	"braid/verify"
	"cmp"
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
	want verify.SignatureCode
	says string // in the result or the error
}

var rules = []rule{
	// Rule 47, C10, S4, S6: what counts.
	{name: "47 armored, RSA", sigs: "rsa.asc", keys: "rsa", want: verify.SignatureGood,
		says: `good signature by {rsa}, "Rsa <rsa@example.org>", 2026-01-11T12:00:00Z, SHA-512`},
	{name: "47 binary, RSA", sigs: "rsa.sig", keys: "rsa", want: verify.SignatureGood},
	{name: "47 binary keyring", sigs: "rsa.asc", keys: "rsa.bin", want: verify.SignatureGood},
	{name: "47 P-256", sigs: "nist.asc", keys: "nist", want: verify.SignatureGood, says: "SHA-256"},
	{name: "47 Ed25519 subkey", sigs: "sub.asc", keys: "sub", want: verify.SignatureGood,
		says: `by {sub} (subkey {sub/1}), "Sub <sub@example.org>"`},
	{name: "47 SHA-384", sigs: "sha384.asc", keys: "rsa", want: verify.SignatureGood, says: "SHA-384"},
	{name: "47 SHA-512", sigs: "sha512.asc", keys: "rsa", want: verify.SignatureGood, says: "SHA-512"},
	{name: "47 notation that is not critical", sigs: "note.asc", keys: "rsa", want: verify.SignatureGood},
	{name: "47 ten minutes in the future", sigs: "soon.asc", keys: "rsa", want: verify.SignatureGood},
	{name: "47 signature not expired yet", sigs: "day.asc", keys: "rsa", now: made.AddDate(0, 0, 1), want: verify.SignatureGood},
	{name: "47 key not expired yet", sigs: "old.asc", keys: "old", now: born.AddDate(0, 0, 20), want: verify.SignatureGood},
	{name: "47 subkey not revoked yet", sigs: "lost.asc", keys: "before", want: verify.SignatureGood},
	{name: "47 key not revoked yet", sigs: "gone.asc", keys: "alive", want: verify.SignatureGood},

	// Rule 47: exit 10.
	{name: "47 another file", sigs: "rsa.asc", keys: "rsa", file: "braid!\n", want: verify.SignatureBad,
		says: "by {rsa}: bad: it is not a signature of this file"},
	{name: "47 an empty file", sigs: "rsa.asc", keys: "rsa", file: "-", want: verify.SignatureBad},
	{name: "47 revoked key", sigs: "gone.asc", keys: "gone", want: verify.SignatureRevoked,
		says: `by {gone}: key revoked: on 2026-01-11, compromised: "stolen"`},
	{name: "47 revoked in one of two exports", sigs: "gone.asc", keys: "alive gone", want: verify.SignatureRevoked},
	{name: "47 revoked in the other of two exports", sigs: "gone.asc", keys: "gone alive", want: verify.SignatureRevoked},
	{name: "47 revoked subkey", sigs: "lost.asc", keys: "sub", want: verify.SignatureRevoked,
		says: `by {sub/2}: key revoked: on 2026-01-11, no longer used: "lost on a train"`},
	{name: "47 revoked subkey in one of two exports", sigs: "lost.asc", keys: "before sub", want: verify.SignatureRevoked},
	{name: "47 another subkey than the revoked one", sigs: "sub.asc", keys: "before sub", want: verify.SignatureGood},
	{name: "47 expired key", sigs: "old.asc", keys: "old", want: verify.SignatureKeyExpired,
		says: "by {old}: key expired: since 2026-01-21"},
	{name: "47 expired key allowed", sigs: "old.asc", keys: "old", old: true, want: verify.SignatureGood},
	{name: "47 expired signature", sigs: "day.asc", keys: "rsa", want: verify.SignatureExpired,
		says: "since 2026-01-12T12:00:00Z"},
	{name: "47 expired signature by the second", sigs: "day.asc", keys: "rsa",
		now: made.AddDate(0, 0, 1).Add(time.Second), want: verify.SignatureExpired},
	{name: "47 from the future", sigs: "future.asc", keys: "rsa", want: verify.SignatureFuture, says: "2026-01-31T12:10:01Z"},
	{name: "47 SHA-1", sigs: "sha1.asc", keys: "rsa", want: verify.SignatureWeak, says: "by {rsa}: weak: its digest is SHA-1"},
	{name: "47 RIPEMD-160", sigs: "ripemd160.asc", keys: "rsa", want: verify.SignatureWeak, says: "its digest is RIPEMD-160"},
	{name: "47 SHA-224", sigs: "sha224.asc", keys: "rsa", want: verify.SignatureWeak, says: "its digest is SHA-224"},
	{name: "47 RSA of 1024 bits", sigs: "short.asc", keys: "short", want: verify.SignatureWeak,
		says: "its RSA key has 1024 bits"},
	{name: "47 DSA", sigs: "dsa.asc", keys: "dsa", want: verify.SignatureWeak, says: "a DSA key"},
	{name: "47 text mode", sigs: "text.asc", keys: "rsa", want: verify.SignatureNotOfFile, says: "of a text"},
	{name: "47 critical notation", sigs: "notation.asc", keys: "rsa", want: verify.SignatureUnsupported,
		says: `"odd@example.org"`},
	{name: "47 signed message", sigs: "message.asc", keys: "rsa", want: verify.SignatureNotOfFile, says: "a message"},
	{name: "47 signed message, binary", sigs: "message.gpg", keys: "rsa", want: verify.SignatureNotOfFile,
		says: "a signed message"},
	{name: "47 signed message, not compressed", sigs: "plain.gpg", keys: "rsa", want: verify.SignatureNotOfFile,
		says: "a signed message"},
	{name: "47 signature and signed message", sigs: "rsa.sig message.gpg", keys: "rsa", want: verify.SignatureNotOfFile},
	{name: "47 signature and signed message, armored", sigs: "rsa.asc message.asc", keys: "rsa", want: verify.SignatureNotOfFile},
	{name: "47 cleartext", sigs: "cleartext.asc", keys: "rsa", want: verify.SignatureNotOfFile,
		says: "a text that includes its signature"},
	{name: "47 a key", sigs: "rsa.pub", keys: "rsa", want: verify.SignatureNotOfFile, says: "a key"},
	{name: "47 a key, binary", sigs: "rsa.bin.pub", keys: "rsa", want: verify.SignatureNotOfFile, says: "a key"},
	{name: "47 a revocation", sigs: "gone.rev", keys: "gone", want: verify.SignatureNotOfFile, says: "a key"},

	// Rules 47 and 51: exit 9.
	{name: "47 unknown key", sigs: "stranger.asc", keys: "rsa nist", want: verify.SignatureUnknownKey,
		says: "{stranger} is not in the keyring"},
	{name: "47 not pinned", sigs: "nist.asc", keys: "rsa nist", pins: "rsa", want: verify.SignatureNotPinned,
		says: "by {nist}: key not pinned"},
	{name: "47 another subkey is pinned", sigs: "sub.asc", keys: "sub", pins: "sub/2", want: verify.SignatureNotPinned,
		says: "by {sub/1}"},
	{name: "47 pinned, but without the key", sigs: "nist.asc", keys: "rsa", pins: "nist",
		want: verify.SignatureUnknownKey, says: "{nist} is pinned, but not in the keyring"},
	{name: "47 pinned, and no key at all", sigs: "nist.asc", pins: "nist", want: verify.SignatureUnknownKey,
		says: "{nist} is pinned, but not in the keyring"},
	{name: "47 pinned", sigs: "nist.asc", keys: "rsa nist", pins: "nist", want: verify.SignatureGood},
	{name: "47 subkey by its primary key", sigs: "sub.asc", keys: "sub", pins: "sub", want: verify.SignatureGood},
	{name: "47 subkey by itself", sigs: "sub.asc", keys: "sub", pins: "sub/1", want: verify.SignatureGood},
	{name: "51 without pins all keys count", sigs: "nist.asc", keys: "rsa nist sub", want: verify.SignatureGood},
	{name: "51 no anchor", sigs: "rsa.asc", want: verify.SignatureUnchecked, says: "(not validated)"},
	{name: "51 no anchor and another file", sigs: "rsa.asc", file: "x", want: verify.SignatureUnchecked, says: "(not validated)"},

	// Rule 48: several.
	{name: "48 two good ones", sigs: "both.asc", keys: "rsa nist", want: verify.SignatureGood, says: "; and {nist} (good)"},
	{name: "48 two blocks of armor", sigs: "nist.asc rsa.asc", keys: "rsa nist", want: verify.SignatureGood,
		says: "; and {rsa} (good)"},
	{name: "48 the second block counts", sigs: "stranger.asc rsa.asc", keys: "rsa", want: verify.SignatureGood,
		says: "; and {stranger} (unknown key)"},
	{name: "48 the second packet counts", sigs: "both.asc", keys: "rsa nist", pins: "nist", want: verify.SignatureGood,
		says: "; and {rsa} (key not pinned)"},
	{name: "48 unknown keys do not count", sigs: "rsa.asc stranger.asc", keys: "rsa", want: verify.SignatureGood},
	{name: "48 one unknown, one not pinned", sigs: "stranger.asc nist.asc", keys: "rsa nist", pins: "rsa",
		want: verify.SignatureNotPinned},
	{name: "48 good and bad", sigs: "rsa.asc other.asc", keys: "rsa nist", want: verify.SignatureBad,
		says: "by {nist}: bad: it is not a signature of this file (one of 2 signatures)"},
	{name: "48 bad and good", sigs: "other.asc rsa.asc", keys: "rsa nist", want: verify.SignatureBad, says: "by {nist}"},
	{name: "48 good, and bad by a key without a pin", sigs: "other.asc rsa.asc", keys: "rsa nist", pins: "rsa",
		want: verify.SignatureGood},
	{name: "48 good, and bad by an unknown key", sigs: "other.asc rsa.asc", keys: "rsa", want: verify.SignatureGood},
	{name: "48 good and revoked", sigs: "gone.asc rsa.asc", keys: "gone rsa", want: verify.SignatureGood,
		says: "; and {gone} (key revoked)"},
	{name: "48 good and weak", sigs: "sha1.asc sha512.asc", keys: "rsa", want: verify.SignatureGood, says: "; and {rsa} (weak)"},
	{name: "48 revoked and bad", sigs: "gone.asc other.asc", keys: "gone nist", want: verify.SignatureBad, says: "by {nist}"},
	{name: "48 unknown and revoked", sigs: "stranger.asc gone.asc", keys: "gone", want: verify.SignatureRevoked,
		says: "by {gone}"},
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
		want       verify.SignatureCode
	}{
		{"a text", "braid", sig, true, verify.SignatureGood},
		{"with its end", "braid\r\n", sig, true, verify.SignatureBad},
		{"another text", "Braid", sig, true, verify.SignatureBad},
		{"a file", "braid", sig, false, verify.SignatureNotOfFile},
		{"the signature of a file", signed, made["rsa.asc"], true, verify.SignatureNotOfFile},
		{"the text with its signature", "braid", made["cleartext.asc"], true, verify.SignatureNotOfFile},
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
	if err != nil || len(keys.unread) > 0 {
		t.Fatalf("keyring: %v, %v", err, keys.unread)
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
	if got, says := verdict(sigs, keys, policy, file); got != r.want || !strings.Contains(says, want) ||
		strings.Contains(says, "not a *verify.SignatureError") {
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
func verdict(sigs []byte, keys Keyring, policy Policy, file string) (verify.SignatureCode, string) {
	c, err := New(sigs, keys, policy)
	if err == nil {
		if _, err := io.Copy(c, iotest.OneByteReader(strings.NewReader(file))); err != nil {
			return verify.SignatureUnchecked, err.Error()
		}
		var all []verify.SignatureResult
		if all, err = c.Signatures(); err == nil {
			s, _ := verify.GoodSignature(all)
			return s.Code, describe(s, all)
		}
	}
	var e *verify.SignatureError
	if !errors.As(err, &e) {
		return verify.SignatureUnchecked, "not a *verify.SignatureError: " + err.Error()
	}
	return e.Code, e.Error()
}

// describe has all that a good signature says, and the others beside it.
func describe(s verify.SignatureResult, all []verify.SignatureResult) string {
	line := fmt.Sprintf("%v signature by %s", s.Code, s.Key)
	if s.Subkey != "" {
		line += " (subkey " + s.Subkey + ")"
	}
	line += fmt.Sprintf(", %s, %s, %s", s.Signer, s.Time.UTC().Format(time.RFC3339), s.Hash)
	for _, other := range all {
		if other != s {
			line += fmt.Sprintf("; and %s (%v)", cmp.Or(other.Subkey, other.Key, other.Signer), other.Code)
		}
	}
	return line
}
