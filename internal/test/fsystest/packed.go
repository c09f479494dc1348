package fsystest

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Unpacked returns the content of a file that gzip has compressed, such as those in testdata that an older braid wrote.
func Unpacked(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
