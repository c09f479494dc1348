package download

import (
	"bytes"
	"testing"
	"time"

	"braid/internal/partfile"
	"braid/verify"
)

// The cases compare the facts in a journal about the bytes with the present request.
func TestGoesOnFrom_Rules8_15_34(t *testing.T) {
	strong := verify.Claim{Digest: digestFilled(t, verify.SHA256, 1), Field: "Digest", Channel: verify.HTTPS}
	other := verify.Claim{Digest: digestFilled(t, verify.SHA256, 2), Field: "Digest", Channel: verify.HTTPS}
	weak := verify.Claim{Digest: digestFilled(t, verify.MD5, 1), Field: "Digest", Channel: verify.HTTPS}
	jan, feb := time.Unix(1767225600, 0), time.Unix(1769904000, 0)
	id := func(url string, size int64, etag string, mod time.Time, claims ...verify.Claim) partfile.Identity {
		return partfile.Identity{URL: url, URLSum: url, Size: size, ETag: etag, LastModified: mod, Claims: claims}
	}
	var none time.Time
	for _, tt := range []struct {
		name      string
		prior, id partfile.Identity
		ok        bool
	}{
		{"same strong digest, other URL", id("a", 5, "", none, strong), id("b", 5, "", none, strong), true},
		{"same strong digest, other tag", id("a", 5, `"1"`, none, strong), id("a", 5, `"2"`, none, strong), true},
		{"same strong digest, size unknown", id("a", 5, "", none, strong), id("b", -1, "", none, strong), true},
		{"same strong digest, other size", id("a", 5, "", none, strong), id("a", 6, "", none, strong), false},
		{"other digest", id("a", 5, `"1"`, none, strong), id("a", 5, `"1"`, none, other), false},
		{"strong one agrees, weak one not", id("a", 5, "", none, strong, weak), id("a", 5, "", none, strong,
			verify.Claim{Digest: digestFilled(t, verify.MD5, 9)}), false},
		{"other URL, weak digest", id("a", 5, "", none, weak), id("b", 5, "", none, weak), false},
		{"other URL, same tag", id("a", 5, `"1"`, none), id("b", 5, `"1"`, none), false},
		{"other URL, digest on one side", id("a", 5, "", none, strong), id("b", 5, "", none), false},
		{"same URL, weak digest", id("a", 5, "", none, weak), id("a", 5, "", none, weak), true},
		{"same URL, weak digest, other tag", id("a", 5, `"1"`, none, weak), id("a", 5, `"2"`, none, weak), false},
		{"same URL, same tag", id("a", 5, `"1"`, none), id("a", 5, `"1"`, none), true},
		{"same URL, same tag, digest gone", id("a", 5, `"1"`, none, strong), id("a", 5, `"1"`, none), true},
		{"same URL, other tag, same date", id("a", 5, `"1"`, jan), id("a", 5, `"2"`, jan), false},
		{"same URL, tag gone", id("a", 5, `"1"`, none), id("a", 5, "", none), false},
		{"same URL, tag gone, same date", id("a", 5, `"1"`, jan), id("a", 5, "", jan), true},
		{"same URL, same date", id("a", 5, "", jan), id("a", 5, "", jan), true},
		{"same URL, other date", id("a", 5, "", jan), id("a", 5, "", feb), false},
		{"same URL, nothing else", id("a", 5, "", none), id("a", 5, "", none), false},
		{"same URL, same tag, other size", id("a", 5, `"1"`, none), id("a", 6, `"1"`, none), false},
	} {
		err := goesOnFrom(tt.id, tt.prior)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func digestFilled(t *testing.T, a verify.Algorithm, fill byte) verify.Digest {
	t.Helper()
	d, err := verify.NewDigest(a, bytes.Repeat([]byte{fill}, a.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
