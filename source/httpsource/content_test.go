package httpsource

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestContentDigest checks that a complete response is compared with its Content-Digest (RFC 9530, section 2), for the
// whole file and for a range. The last bytes are not delivered before the comparison, and a response that the client
// ends early is not compared.
func TestContentDigest(t *testing.T) {
	for name, options := range map[string][]mirrortest.Option{
		"length":  nil,
		"chunked": {mirrortest.Chunked()},
		"close":   {mirrortest.UntilClose()},
		"TLS":     {mirrortest.TLS(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			good := mirrortest.New(t, file, append(options, mirrortest.ContentDigest())...)
			bad := mirrortest.New(t, file, append(options, mirrortest.ContentDigest(), mirrortest.Corrupt(5000))...)
			c := newClient(t, good, bad)
			mustFetch(t, c, good.URL, Options{}, whole).Has(file, part(0, file.Size()))
			mustFetch(t, c, good.URL, Options{}, part(10, 5001)).Has(file, part(10, 5001))
			mustFetch(t, c, bad.URL, Options{}, part(10, 5000)).Has(file, part(10, 5000))
			for _, r := range []struct{ start, end int64 }{{0, whole.End}, {5000, 5001}, {10, 400_000}} {
				_, err := fetch(t, c, bad.URL, Options{}, part(r.start, r.end))
				sourcetest.Fault(t, err, source.FaultMismatch, false)
				if wrong, ok := errors.AsType[*source.ContentError](err); !ok || wrong.Want.Field != "Content-Digest" {
					t.Errorf("%v", err)
				}
			}
			k := &sourcetest.Sink{T: t, Limit: 100_000}
			if err := c.Source(sourcetest.URL(t, bad.URL), Options{}).Fetch(t.Context(), whole, k); err != nil {
				t.Errorf("of an answer that was ended: %v", err)
			}
		})
	}
}

// TestContentDigestForms checks that all digests of the field must match, with or without padding, and that an invalid
// field is ignored.
func TestContentDigestForms(t *testing.T) {
	zero := strings.Repeat("A", 43)
	own := strings.TrimRight(file.Digest().Base64(), "=")
	for value, wrong := range map[string]bool{
		"sha-256=:" + own + ":":  false,
		"sha-256=:" + own + "=:": false,
		"sha-256=:" + zero + ":": true,
		"sha-256=:" + own + ":, sha-512=:" + strings.Repeat("A", 86) + ":": true,
		"md5=:AAAAAAAAAAAAAAAAAAAAAA==:":                                   false,
		"sha-256=:AAAA:":                                                   false,
		"sha-256=" + zero:                                                  false,
	} {
		s := mirrortest.New(t, file, mirrortest.Header("Content-Digest", value))
		_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
		if got := err != nil; got != wrong {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestContentDigestTrailer checks that a digest in a trailer is used if the response announces it (RFC 9110, section
// 6.6.2).
func TestContentDigestTrailer(t *testing.T) {
	body := strings.Repeat("content ", 100_000)
	sum := sha256.Sum256([]byte(body))
	right := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	for _, tt := range []struct {
		field, value string
		wrong        bool
	}{
		{"Content-Digest", right, false},
		{"Content-Digest", "sha-256=:" + strings.Repeat("A", 43) + "=:", true},
		{"Content-Digest", right + ", sha-512=:" + strings.Repeat("A", 86) + "==:", true},
		{"Content-Digest", "sha-256=:AAAA:", false},
		{"Content-Digest", "", false},
		{"Repr-Digest", right, false},
		{"Repr-Digest", "sha-256=:" + strings.Repeat("A", 43) + "=:", true},
		{"Digest", "sha-256=" + strings.Repeat("A", 43) + "=", true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", tt.field)
			io.WriteString(w, body)
			w.Header().Set(tt.field, tt.value)
		}))
		defer s.Close()
		_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
		if got := err != nil; got != tt.wrong {
			t.Errorf("%s: %s: %v", tt.field, tt.value, err)
		}
		if tt.wrong {
			sourcetest.Fault(t, err, source.FaultMismatch, false)
		}
	}
}
