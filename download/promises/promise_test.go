package promises_test

import (
	"testing"

	"braid/download/promises"
	"braid/verify"
)

func claim(t *testing.T, a verify.Algorithm, over verify.Channel) verify.Claim {
	t.Helper()
	d, err := verify.NewDigest(a, make([]byte, a.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return verify.Claim{Digest: d, Field: "Digest", Channel: over}
}

func TestOf(t *testing.T) {
	got := promises.Of([]verify.Claim{
		claim(t, verify.SHA256, verify.HTTPS), claim(t, verify.MD5, verify.HTTPS), claim(t, verify.SHA1, verify.HTTP), claim(t, verify.SHA512, verify.User),
	}, "application/metalink4+xml", "application/pgp-signature", "text/html")
	if want := (promises.Promise{HTTPS: verify.SHA256, HTTP: verify.SHA1, OpenPGP: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, kind := range []string{"application/pkcs7-signature", "application/pkcs7-mime"} {
		if got := promises.Of(nil, kind); got != (promises.Promise{SMIME: true}) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// What is missing now although it was promised, and what may be missing (rule 64).
func TestBroken_Rule64(t *testing.T) {
	all := promises.Promise{HTTPS: verify.SHA512, HTTP: verify.SHA512, OpenPGP: true, SMIME: true, Pieces: true}
	strong := promises.Promise{HTTPS: verify.SHA256}
	for _, tt := range []struct {
		name        string
		before, now promises.Promise
		want        string // "" if nothing is broken
	}{
		{"nothing was promised", promises.Promise{}, promises.Promise{}, ""},
		{"all is there", all, all, ""},
		{"the same", strong, strong, ""},
		{"more", strong, all, ""},
		{"none", strong, promises.Promise{}, "gave sha-256 over https before, and now gives no digest"},
		{"over http", strong, promises.Promise{HTTP: verify.SHA512}, "gave sha-256 over https before, and now gives sha-512 over http only"},
		{"weak", strong, promises.Promise{HTTPS: verify.SHA1, HTTP: verify.SHA256}, "gave sha-256 over https before, and now gives sha-1 only"},
		{"weaker", promises.Promise{HTTPS: verify.SHA512}, strong, "gave sha-512 over https before, and now gives sha-256 only"},
		{"a weak digest was promised", promises.Promise{HTTPS: verify.SHA1}, promises.Promise{}, ""},
		{"over http it was promised", promises.Promise{HTTP: verify.SHA512}, promises.Promise{}, ""},
		{"pieces were promised", promises.Promise{Pieces: true}, promises.Promise{}, ""},
		{"OpenPGP", promises.Promise{OpenPGP: true}, strong, "named an OpenPGP signature before, and now names none"},
		{"S/MIME", promises.Promise{SMIME: true}, strong, "named an S/MIME signature before, and now names none"},
		{"another kind of signature", promises.Promise{OpenPGP: true}, promises.Promise{SMIME: true}, "named an OpenPGP signature before, and now names none"},
		{"all is missing", all, promises.Promise{}, "gave sha-512 over https before, and now gives no digest; " +
			"it named an OpenPGP signature before, and now names none; it named an S/MIME signature before, and now names none"},
	} {
		if got, broken := tt.before.Broken(tt.now); got != tt.want || broken != (tt.want != "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, broken, tt.want)
		}
	}
}
