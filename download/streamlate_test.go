package download_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// TestStreamLateDigest: the server states a digest only after bytes went out. The file must have it.
func TestStreamLateDigest(t *testing.T) {
	t.Parallel()
	content, other := made(8*mib, 7), made(8*mib, 8)
	right, wrong, wrong512 := sha256.Sum256(content), sha256.Sum256(other), sha512.Sum512(other)
	rest := func(r *http.Request) bool {
		asked := r.Header.Get("Range")
		return asked != "" && !strings.HasPrefix(asked, "bytes=0-")
	}
	for _, tt := range []struct {
		name, algorithm string
		sum             []byte
		kinds           []download.Kind // nil: the file is verified
	}{
		{"right", "SHA-256", right[:], nil},
		{"wrong", "SHA-256", wrong[:], []download.Kind{download.Mismatch}},
		// Without a lookup, bytes that went out were not hashed with this algorithm.
		{"wrong SHA-512", "SHA-512", wrong512[:], []download.Kind{download.Mismatch, download.NoEvidence}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			digest := mirrortest.Header("Digest", tt.algorithm+"="+base64.StdEncoding.EncodeToString(tt.sum))
			s := mirrortest.New(t, content, mirrortest.ETag(`"v1"`), mirrortest.Once(mirrortest.CutAfter(4*mib)),
				mirrortest.When(rest, digest))
			var out bytes.Buffer
			res, err := newRun(t, s.URL).stream(&out)
			switch {
			case tt.kinds == nil && (err != nil || !res.Proof.Verified() || !bytes.Equal(out.Bytes(), content)):
				t.Errorf("%d bytes, %v, %v", out.Len(), res.Proof, err)
			case tt.kinds != nil && !slices.Contains(tt.kinds, kindOfError(err)):
				t.Errorf("error %v", err)
			}
		})
	}
}
