package download_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
	"braid/verify/openpgp"
)

// A signer has a key.
type signer struct {
	public, secret []byte
	fingerprint    string
}

func newSigner(t *testing.T, name string) *signer {
	t.Helper()
	return newSignerAt(t, name, time.Now(), 0)
}

// newSignerAt is like newSigner. The key was made at the time made and expires after valid, or never if valid is 0.
func newSignerAt(t *testing.T, name string, made time.Time, valid time.Duration) *signer {
	t.Helper()
	e, err := pgp.NewEntity(name, "", name+"@example.org", &packet.Config{
		Algorithm: packet.PubKeyAlgoEd25519, Time: func() time.Time { return made }, KeyLifetimeSecs: uint32(valid.Seconds()),
	})
	if err != nil {
		t.Fatal(err)
	}
	var public, secret bytes.Buffer
	w, err := armor.Encode(&secret, "PGP PRIVATE KEY BLOCK", nil)
	if err := errors.Join(err, e.Serialize(&public), e.SerializePrivate(w, nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	return &signer{public.Bytes(), secret.Bytes(), strings.ToUpper(hex.EncodeToString(e.PrimaryKey.Fingerprint))}
}

func (s *signer) sign(t *testing.T, data []byte) []byte {
	t.Helper()
	return s.signAt(t, data, time.Now())
}

func (s *signer) signAt(t *testing.T, data []byte, at time.Time) []byte {
	t.Helper()
	sig, err := openpgp.Sign(bytes.NewReader(data), s.secret, nil, at)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// trusts returns anchors of keys.
func trusts(t *testing.T, signers ...*signer) download.Anchors {
	t.Helper()
	var exports [][]byte
	for _, s := range signers {
		exports = append(exports, s.public)
	}
	keys, err := openpgp.ParseKeyring(exports...)
	if err != nil {
		t.Fatal(err)
	}
	return download.Anchors{openpgp.Trust{Keys: keys}}
}

const pgpLink = `</file.bin.asc>; rel=describedby; type="application/pgp-signature"`
const meta4Link = `</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`

// Proves rules 47 and 50, C10 and S4: a described signature is checked, with every outcome, and none is taken
// for another.
func TestDescribedSignature_Rule47_Rule50_C10_S4(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	right, wrong := made(size, 7), made(size, 8)
	alice, bob := newSigner(t, "alice"), newSigner(t, "bob")
	for name, tt := range map[string]struct {
		signature []byte
		trust     []*signer
		want      download.Kind
	}{
		"good":         {alice.sign(t, right), []*signer{alice}, download.Other},
		"one of two":   {append(bob.sign(t, right), alice.sign(t, right)...), []*signer{alice}, download.Other},
		"unknown key":  {bob.sign(t, right), []*signer{alice}, download.NoKey},
		"another file": {alice.sign(t, wrong), []*signer{alice}, download.BadSignature},
		"one is bad":   {append(bob.sign(t, wrong), alice.sign(t, right)...), []*signer{alice, bob}, download.BadSignature},
		"garbage":      {[]byte("404 not here"), []*signer{alice}, download.BadSignature},
		"empty":        {nil, []*signer{alice}, download.NoEvidence},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := sized(t, size, mirrortest.Digest(), mirrortest.Link(pgpLink), mirrortest.Document("/file.bin.asc",
				"application/pgp-signature", tt.signature))
			r := newRun(t, origin.URL)
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, tt.trust...), download.RequireSignature
			if tt.want != download.Other {
				r.wrong(tt.want)
				return
			}
			res := r.right(origin.Content)
			said := res.Proof.Signatures()
			if len(said) != 1 || said[0].Key != alice.fingerprint || !res.Proof.Signed() {
				t.Errorf("signatures: %v", said)
			}
		})
	}
}

// Proves rule 47: a required signature is known to be missing before the body comes.
func TestNoSignature_Rule47(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest())
	r := newRun(t, origin.URL)
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, newSigner(t, "alice")), download.RequireSignature
	r.wrong(download.NoEvidence)
	missing := sized(t, mib, mirrortest.Digest(), mirrortest.Link(pgpLink),
		mirrortest.When(isPath("/file.bin.asc"), mirrortest.Status(404)))
	r = newRun(t, missing.URL)
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, newSigner(t, "alice")), download.RequireSignature
	r.wrong(download.NoEvidence)
}

// Proves rule 47: a file that was kept for lack of a key or of a good signature gets its name once there is
// one. The server is asked again for its signatures, in header fields or a document, and no byte of the file
// comes twice.
func TestKeptForSignature_Rule47_Rule6(t *testing.T) {
	t.Parallel()
	right, alice := made(mib, 7), newSigner(t, "alice")
	for name, form := range map[string]func(signed []byte) []mirrortest.Option{
		"field": func(signed []byte) []mirrortest.Option {
			return []mirrortest.Option{mirrortest.Link(pgpLink), mirrortest.Document("/file.bin.asc",
				"application/pgp-signature", alice.sign(t, signed))}
		},
		"document": func(signed []byte) []mirrortest.Option {
			f := of(t, right)
			f.Signatures = []metalink.Signature{{Type: "application/pgp-signature", Text: string(alice.sign(t, signed))}}
			return []mirrortest.Option{mirrortest.Link(meta4Link), mirrortest.Document("/file.bin.meta4",
				metalink.MediaType4, document(t, f))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := sized(t, mib, mirrortest.Digest())
			origin.Set(form(made(mib, 8))...)
			r := newRun(t, origin.URL)
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
			if e := r.wrong(download.BadSignature); e.Kept != mib {
				t.Fatalf("%d bytes are kept: %v", e.Kept, e)
			}
			origin.Set(form(right)...)
			if res := r.right(origin.Content); !res.Proof.Signed() || res.Fetched != 0 {
				t.Errorf("signed %v, fetched %d", res.Proof.Signed(), res.Fetched)
			}
		})
	}
}

// Proves rules 34 and 47: the signature that a server names is of its present file, so kept bytes of another
// one are discarded.
func TestKeptForSignatureOfAnother_Rule34(t *testing.T) {
	t.Parallel()
	alice := newSigner(t, "alice")
	old, next := file(mib, 1), file(mib, 2)
	old.link, next.link = pgpLink, pgpLink
	var now atomic.Bool
	s := newChanging(t, func(_ int, q *http.Request) version {
		switch {
		case !isPath("/file.bin.asc")(q) && now.Load():
			return next
		case !isPath("/file.bin.asc")(q):
			return old
		}
		return version{body: alice.sign(t, next.body)}
	})
	r := newRun(t, s.URL+"/file.bin")
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
	if e := r.wrong(download.BadSignature); e.Kept != mib {
		t.Fatalf("%d bytes are kept: %v", e.Kept, e)
	}
	now.Store(true)
	res, err := r.get()
	if err != nil || !res.Proof.Signed() {
		t.Fatalf("signed %v, %v", res.Proof.Signed(), err)
	}
	r.holds(r.path(), string(next.body))
}

// Proves rule 51: without an anchor the result states that a signature exists and was not validated.
func TestNoAnchor_Rule51_C11(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Link(pgpLink))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	if res.Proof.Signed() || len(res.Unvalidated) != 1 {
		t.Errorf("signed %v, unvalidated %v", res.Proof.Signed(), res.Unvalidated)
	}
	unasked := sized(t, mib, mirrortest.Digest(), mirrortest.Link(pgpLink))
	r = newRun(t, unasked.URL)
	r.req.Trust.Require = download.RequireSignature
	r.wrong(download.NoEvidence)
	asked(t, unasked, false)
}

// Signatures come from the user or from a Metalink document. Late ones cause the bytes to be hashed again.
// They also apply to existing files and to streams.
func TestSignaturesFromEverywhere_C10(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	data, alice := made(size, 7), newSigner(t, "alice")
	signature := alice.sign(t, data)
	plain := sized(t, size, mirrortest.Digest())
	signedBy := func(t *testing.T, res download.Result) {
		t.Helper()
		if said := res.Proof.Signatures(); len(said) != 1 || said[0].Key != alice.fingerprint {
			t.Errorf("signatures: %v", said)
		}
	}
	start := func(t *testing.T, u string) *run {
		r := newRun(t, u)
		r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
		return r
	}
	t.Run("the user's", func(t *testing.T) {
		r := start(t, plain.URL)
		r.req.Trust.Signatures = []download.Signature{{From: "x.asc", Data: signature}}
		signedBy(t, r.right(plain.Content))
		res := r.right(plain.Content) // it exists now
		if signedBy(t, res); !res.AlreadyComplete {
			t.Error("it was fetched again")
		}
	})
	t.Run("a document's", func(t *testing.T) {
		origin := sized(t, size, mirrortest.Digest())
		doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
			Name: "file.bin", Size: size, Claims: []verify.Claim{{Digest: sum(t, data)}},
			Signatures: []metalink.Signature{{Type: "application/pgp-signature", Text: string(signature)}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		slow := mirrortest.When(isPath("/file.bin.meta4"), mirrortest.Latency(500*time.Millisecond)) // later than the bytes
		origin.Set(slow, mirrortest.Link(meta4Link), mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc))
		signedBy(t, start(t, origin.URL).right(origin.Content))
		r := start(t, origin.URL)
		var out bytes.Buffer
		r.req.Stream = &out
		res, err := r.get()
		if err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Fatalf("%d bytes, %v", out.Len(), err)
		}
		signedBy(t, res)
	})
	t.Run("late", func(t *testing.T) {
		slow := sized(t, size, mirrortest.Digest(), mirrortest.Link(pgpLink), mirrortest.Document("/file.bin.asc",
			"application/pgp-signature", signature),
			mirrortest.When(isPath("/file.bin.asc"), mirrortest.Latency(500*time.Millisecond)))
		signedBy(t, start(t, slow.URL).right(slow.Content))
	})
	t.Run("of a stream", func(t *testing.T) {
		origin := sized(t, size, mirrortest.Digest(), mirrortest.Link(pgpLink), mirrortest.Document("/file.bin.asc",
			"application/pgp-signature", signature))
		r := start(t, origin.URL)
		var out bytes.Buffer
		r.req.Stream = &out
		res, err := r.get()
		if err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Fatalf("%d bytes, %v", out.Len(), err)
		}
		signedBy(t, res)
	})
}

func isPath(path string) func(*http.Request) bool {
	return func(q *http.Request) bool { return q.URL.Path == path }
}
