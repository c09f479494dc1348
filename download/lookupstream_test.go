package download_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"braid/download"
)

// TestLookupStream: what was sent is compared at the end with each digest of a list.
func TestLookupStream_Rule77(t *testing.T) {
	file := book()
	for list, want := range map[string]bool{
		sum256(file) + "  disk.iso\n":                                 true,
		sum512(file) + "  disk.iso\n":                                 true,
		sum512(file) + "  disk.iso\n" + sum256(file) + "  disk.iso\n": true,
	} {
		s := newFolderSite(t, "disk.iso", file, "checksums.txt", list)
		r := lookingUp(t, s, "disk.iso")
		var out bytes.Buffer
		r.req.Stream = &out
		if res, err := r.get(); err != nil || res.Proof.Verified() != want || out.String() != file {
			t.Errorf("%q: %v, %v", list, res.Proof, err)
		}
	}
	for _, sum := range []string{sum256("other"), sum512("other")} {
		s := newFolderSite(t, "disk.iso", file, "checksums.txt", sum+"  disk.iso\n")
		r := lookingUp(t, s, "disk.iso")
		r.req.Stream = &bytes.Buffer{}
		r.wrong(download.Mismatch)
	}
}

// TestLookupStreamRedirected: a SHA-512 of a list, which comes while the bytes are passed on, decides against the SHA-256
// of a host to which the server redirects.
func TestLookupStreamRedirected_Rule77(t *testing.T) {
	t.Parallel()
	file := made(4*mib, 7)
	x := httptest.NewServer(digesting{newFolderSite(t, "disk.iso", string(file)), string(file)})
	t.Cleanup(x.Close)
	for list, want := range map[string]download.Kind{sum512("other"): download.Mismatch, sum512(string(file)): download.Other} {
		passed := make(chan struct{})
		out := &firstWrite{done: passed}
		s := newFolderSite(t)
		s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
			switch q.URL.Path {
			case "/pub/disk.iso":
				http.Redirect(w, q, x.URL+q.URL.Path, http.StatusFound)
			case "/pub/checksums.txt":
				<-passed
				io.WriteString(w, list+"  disk.iso\n")
			default:
				http.NotFound(w, q)
			}
		}
		r := lookingUp(t, s, "disk.iso")
		r.req.Stream = out
		if res, err := r.get(); kindOfError(err) != want || !bytes.Equal(out.Bytes(), file) {
			t.Errorf("%v, %v", res.Proof, err)
		}
	}
}

// A firstWrite closes done at the first write.
type firstWrite struct {
	bytes.Buffer
	once sync.Once
	done chan struct{}
}

func (w *firstWrite) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.done) })
	return w.Buffer.Write(p)
}
