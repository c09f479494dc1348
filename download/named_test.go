package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"braid/address"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
)

// cellar returns the URL of a server by the address 0.0.0.0, which leads to this machine, but not to the
// scope of the servers that name it.
func cellar(t *testing.T, s *mirrortest.Server) string {
	t.Helper()
	u := parse(t, s.URL)
	u.Host = net.JoinHostPort("0.0.0.0", u.Port())
	return u.String()
}

// untouched checks that no connection was made to a server.
func untouched(t *testing.T, s *mirrortest.Server) {
	t.Helper()
	if n := s.Connections(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// near checks that a mirror was left out for its address.
func near(t *testing.T, r *run) {
	t.Helper()
	if !slices.ContainsFunc(saw[download.SourceDown](r), tooNear) {
		t.Error("no mirror was left out")
	}
}

func tooNear(down download.SourceDown) bool {
	_, ok := errors.AsType[*address.Error](down.Err)
	return ok && down.Gone
}

// leftOut reports whether a mirror was left out for its address.
func leftOut(r *run) func() bool { return seen(r, tooNear) }

// Proves rule 63: a URL that a server names leads no nearer than that server is, and all others are used.
func TestServerNames_Rule63(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	data, alice := made(size, 7), newSigner(t, "alice")
	doc := document(t, of(t, data))
	for name, link := range map[string]string{
		"mirror":    `<%s>; rel=duplicate`,
		"document":  `<%s.meta4>; rel=describedby; type="application/metalink4+xml"`,
		"signature": `<%s.asc>; rel=describedby; type="application/pgp-signature"`,
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := sized(t, size), sized(t, size)
			bad.Set(mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc),
				mirrortest.Document("/file.bin.asc", "application/pgp-signature", alice.sign(t, data)))
			origin := sized(t, size, mirrortest.Rate(mib), mirrortest.Digest(),
				mirrortest.Link(fmt.Sprintf(link, cellar(t, bad)), "<"+good.URL+">; rel=duplicate"))
			r := newRun(t, origin.URL)
			r.req.Trust.Anchors = trusts(t, alice)
			res := r.right(origin.Content)
			untouched(t, bad)
			useful(t, res, good)
			if name == "mirror" {
				near(t, r)
			}
			if res.Proof.Signed() {
				t.Error("it is signed")
			}
		})
	}
}

// A server that the user typed may be named by any server: by the same URL, or by any at an allowed address.
func TestTypedIsNamedToo_Rule63(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	mirror := sized(t, size)
	origin := sized(t, size, mirrortest.Rate(mib/2), mirrortest.Digest(), mirrortest.Mirrors(cellar(t, mirror)))
	r := newRun(t, origin.URL)
	r.req.Mirrors = append(r.req.Mirrors, parse(t, cellar(t, mirror)))
	r.right(origin.Content)
	asked(t, mirror, true)

	other := sized(t, size)
	origin = sized(t, size, mirrortest.Rate(mib/2), mirrortest.Digest(), mirrortest.Mirrors(cellar(t, other)))
	r = newRun(t, origin.URL)
	http := &httpsource.Client{}
	defer http.CloseIdle()
	if err := http.AllowHosts.Add("0.0.0.0"); err != nil {
		t.Fatal(err)
	}
	r.client.HTTP = http
	if _, err := r.client.Get(t.Context(), r.req); err != nil {
		t.Fatal(err)
	}
	asked(t, other, true)
}

// Proves rule 63 for documents: a fetched one may name places as near as its server; one on disk may name
// places on this machine.
func TestDocumentNames_Rule63(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	data := made(size, 7)
	bad, good := sized(t, size), sized(t, size, mirrortest.Rate(8*mib))
	f := of(t, data)
	f.Mirrors = []metalink.Mirror{{URL: parse(t, cellar(t, bad)), Pri: 1}, {URL: parse(t, good.URL), Pri: 2}}
	text := document(t, f)
	served := mirrortest.New(t, text, mirrortest.Name("x.meta4"))

	onDisk, err := download.ReadDocument(bytes.NewReader(text), "x.meta4")
	if err != nil {
		t.Fatal(err)
	}
	fetched, err := new(download.Client).Document(t.Context(), download.Request{URL: parse(t, served.URL)})
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*download.Document{"on disk": onDisk, "fetched": fetched} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, good.URL)
			good.Set(held(8*mib, leftOut(r)))
			if r.req, err = d.Request(d.Files.At(0), r.req); err != nil {
				t.Fatal(err)
			}
			r.right(good.Content)
			near(t, r)
			untouched(t, bad)
		})
	}
	t.Run("typed as well", func(t *testing.T) {
		r := newRun(t, good.URL)
		good.Set(held(8*mib, requested(bad)))
		r.req.Mirrors = append(r.req.Mirrors, parse(t, cellar(t, bad)))
		if r.req, err = onDisk.Request(onDisk.Files.At(0), r.req); err != nil {
			t.Fatal(err)
		}
		r.right(good.Content)
		asked(t, bad, true)
	})
	t.Run("linked", func(t *testing.T) {
		bad := sized(t, size)
		f := of(t, data)
		f.Mirrors = []metalink.Mirror{{URL: parse(t, cellar(t, bad)), Pri: 1}}
		mirror := sized(t, size)
		origin := sized(t, size, mirrortest.Rate(mib), mirrortest.Digest(), mirrortest.Document("/file.bin.meta4",
			metalink.MediaType4, document(t, f)),
			mirrortest.Link(`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`,
				"<"+mirror.URL+">; rel=duplicate"))
		r := newRun(t, origin.URL)
		known := leftOut(r)
		mirror.Set(held(6*mib, known))
		origin.Set(held(mib, known))
		r.right(origin.Content)
		near(t, r)
		untouched(t, bad)
	})
}

// A newer document is fetched from the place that the older one names, within the same bounds.
func TestRenewNames_Rule63(t *testing.T) {
	t.Parallel()
	good := sized(t, mib)
	newer := mirrortest.New(t, document(t, at(t, of(t, made(mib, 7)), good)), mirrortest.Name("x.meta4"))
	u := parse(t, cellar(t, newer))
	text, err := metalink.Format(metalink.Document{Origin: u, Dynamic: true,
		Files: []metalink.File{at(t, of(t, made(mib, 7)), good)}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := download.ReadDocument(bytes.NewReader(text), "x.meta4")
	if err != nil {
		t.Fatal(err)
	}
	new(download.Client).Renew(t.Context(), d, nil)
	untouched(t, newer)
	if len(d.Notes) != 1 {
		t.Errorf("notes: %q", d.Notes)
	}
}

// A signature beside a place of a document has the document's bounds, although the user asked for it.
func TestSignatureBesidePlace_Rule63(t *testing.T) {
	t.Parallel()
	const size = mib
	data, alice := made(size, 7), newSigner(t, "alice")
	bad := sized(t, size, mirrortest.Document("/file.bin.asc", "application/pgp-signature", alice.sign(t, data)))
	good := sized(t, size)
	r := following(t, of(t, data), good)
	place := parse(t, cellar(t, bad))
	r.req.Described.Mirrors = append(r.req.Described.Mirrors, metalink.Mirror{URL: place, Pri: 9, By: address.Loopback})
	beside := *place
	beside.Path += ".asc"
	r.req.Trust.Signatures = []download.Signature{{From: "x", URL: &beside}}
	r.req.Trust.Anchors = trusts(t, alice)
	if res := r.right(good.Content); res.Proof.Signed() {
		t.Error("it is signed")
	}
	untouched(t, bad)
}

// Mirrors of an earlier run are as near as the server that named them then.
func TestResumedMirrors_Rule63(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	bad, good := sized(t, size), sized(t, size, mirrortest.Rate(8*mib))
	origin := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.Mirrors(cellar(t, bad), good.URL))
	r := newRun(t, origin.URL)
	r.interrupt(mib)
	origin.Die()
	good.Set(held(8*mib, leftOut(r)))
	res := r.right(good.Content)
	useful(t, res, good)
	near(t, r)
	untouched(t, bad)
}

// Probe reads documents, too.
func TestEvidence_Rule63(t *testing.T) {
	t.Parallel()
	data := made(mib, 7)
	bad := sized(t, mib, mirrortest.Document("/file.bin.meta4", metalink.MediaType4, document(t, of(t, data))))
	origin := sized(t, mib, mirrortest.Digest(),
		mirrortest.Link("<"+cellar(t, bad)+`.meta4>; rel=describedby; type="application/metalink4+xml"`))
	c, req := &download.Client{}, download.Request{URL: parse(t, origin.URL)}
	o, err := c.Probe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Evidence(t.Context(), req, o)
	if _, ok := errors.AsType[*address.Error](e.Err); !ok {
		t.Errorf("%+v", e)
	}
	untouched(t, bad)
}

// Mirrors of a mirror tree are named by the server of the other file.
func TestMirrorTree_Rule63(t *testing.T) {
	t.Parallel()
	_, mirror, urls := mirrorTree(t)
	u := parse(t, mirror.URL)
	u.Host = net.JoinHostPort("0.0.0.0", u.Port())
	mirror.URL = u.String() // the origin names it
	b := batch(t.Context(), t, download.Batch{AtOnce: 1}, nil, urls...)
	for i, name := range []string{"a", "b"} {
		b.right(i, name, made(4*mib, uint64(20+i)))
		if n := mirror.requests("/x/" + name); n != 0 {
			t.Errorf("%s: %d requests at the mirror", name, n)
		}
	}
}

// callsNotes returns a server with a file that it calls notes.
func callsNotes(t *testing.T) *shelf {
	s := newShelf(t, "")
	s.put("version 1", `"v1"`, monday)
	own := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=notes")
		own.ServeHTTP(w, r)
	})
	return s
}

// TestRemoteNamePart_Rule8 checks that a server that chooses the name of its file discards no other unfinished
// download.
func TestRemoteNamePart_Rule8(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"other"`)
		w.Header().Set("Content-Length", "1000")
		w.Write(make([]byte, 500))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer other.Close()
	s := callsNotes(t)
	r := newRun(t, other.URL+"/notes")
	r.client.Tries = 1
	if _, err := r.get(); err == nil {
		t.Fatal("the server sent half of the file")
	}
	part := filepath.Join(r.dir, "notes.part")
	before, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	r.req.URL, r.req.RemoteName = parse(t, s.URL+"/file.bin"), true
	for _, overwrite := range []bool{false, true} {
		r.req.IfExists.Overwrite = overwrite
		var e *download.Error
		if _, err := r.get(); !errors.As(err, &e) || e.Kind != download.Local {
			t.Error(err)
		}
		r.holds(part, string(before))
	}
}

// TestNewerRemoteName_Rule3 checks that IfNewer replaces no file that another download or the user put under the name
// that the server chose.
func TestNewerRemoteName_Rule3(t *testing.T) {
	t.Parallel()
	s := callsNotes(t)
	r := s.newer(t)
	r.req.RemoteName = true
	notes := filepath.Join(r.dir, "notes")
	if err := os.WriteFile(notes, []byte("the user's notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.get(); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	r.holds(notes, "the user's notes")
	if err := os.Remove(notes); err != nil {
		t.Fatal(err)
	}
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	r.holds(notes, "version 1")
	s.put("version 2", `"v2"`, tuesday)
	if _, err := r.get(); err != nil { // its own file is replaced
		t.Fatal(err)
	}
	r.holds(notes, "version 2")
}
