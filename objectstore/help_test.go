package objectstore_test

import (
	"net/url"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/verify"
)

func parsed(t *testing.T, word string) *url.URL {
	t.Helper()
	u, err := url.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func digestOf(t *testing.T, c mirrortest.Content) verify.Digest {
	t.Helper()
	h := verify.SHA256.New()
	h.Write(c.Bytes())
	d, err := verify.NewDigest(verify.SHA256, h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
