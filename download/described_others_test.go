package download_test

import (
	"bytes"
	"net/http"
	"os"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Documents of other programs are read, and become requests.
func TestDocumentsOfOthers(t *testing.T) {
	for name, want := range map[string]int{"aria2.meta4": 1, "aria2.metalink": 2, "fedora.metalink": 1,
		"mirrorbrain.meta4": 1, "mirrorcache.meta4": 1} {
		file, err := os.Open("../metalink/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := download.ReadDocument(file, file.Name())
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if d.Files.Len() != want || d.Name != name {
			t.Errorf("%s: %d files", d.Name, d.Files.Len())
		}
		for i := range d.Files.Len() {
			f := d.Files.At(i)
			r, err := d.Request(f, download.Request{Dir: "down"})
			if err != nil || r.Name != f.Name || r.URL == nil || r.Described.Size != f.Size ||
				len(r.Trust.Signatures) != len(f.Signatures) {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			for _, u := range append(r.Mirrors, r.URL) {
				if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp" {
					t.Errorf("%s: %v", name, u)
				}
			}
		}
	}
}

// The URL of a half-downloaded file now leads to a document without its media type, which describes the same
// file: the bytes are kept. Proves rule 34.
func TestDocumentInPlaceOfTheRest_Rule34(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	origin, mirror := sized(t, size, mirrortest.Digest(), mirrortest.Rate(4*mib)), sized(t, size)
	text := document(t, at(t, of(t, made(size, 7)), mirror))
	for name, options := range map[string][]mirrortest.Option{"ranges": nil,
		"HEAD is refused": {mirrortest.OnHead(mirrortest.Status(405))}} {
		r := newRun(t, origin.URL)
		r.interrupt(mib)
		origin.Reset(append(options, mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(text))
		})))...)
		if res := r.right(mirror.Content); res.Resumed < mib {
			t.Errorf("%s: %d bytes were gone on with", name, res.Resumed)
		}
		origin.Reset(mirrortest.Digest(), mirrortest.Rate(4*mib))
	}
}
