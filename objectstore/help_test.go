package objectstore_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/verify/openpgp"
)

func parsed(t *testing.T, word string) *url.URL {
	t.Helper()
	u, err := url.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// signedBy returns a keyring and a signature of c that it verifies.
func signedBy(t *testing.T, c mirrortest.Content) (openpgp.Keyring, []byte) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "recipes", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	keys, err := openpgp.ParseKeyring(read("release-key.asc"))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := openpgp.Sign(bytes.NewReader(c.Bytes()), read("release-key.secret.asc"), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return keys, sig
}
