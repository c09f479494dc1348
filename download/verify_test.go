package download_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// onDisk puts a file where the request of r would.
func (r *run) onDisk(data []byte) {
	r.t.Helper()
	r.req.Name = "file.bin"
	if err := os.WriteFile(r.path(), data, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// verify checks the file. It expects a kind of error, or none if that is Other, and an unchanged folder.
func (r *run) verify(want download.Kind) download.Verdict {
	r.t.Helper()
	r.client.HTTP = &httpsource.Client{}
	defer r.client.HTTP.CloseIdle()
	v, err := r.client.Verify(r.t.Context(), r.req)
	e, _ := errors.AsType[*download.Error](err)
	switch {
	case want == download.Other && err != nil, want != download.Other && e == nil, e != nil && e.Kind != want:
		r.t.Errorf("got %v, want kind %d", err, want)
	case v.Proof.Valid() != (err == nil || want == download.NoEvidence && v.Proof.Valid() && !v.Proof.Verified()):
		r.t.Errorf("%v, and the proof %v", err, v.Proof)
	}
	if left, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(left) != 1 {
		r.t.Errorf("the folder has %v", left)
	}
	return v
}

func changed(data []byte, offsets ...int) []byte {
	data = bytes.Clone(data)
	for _, off := range offsets {
		data[off] ^= 1
	}
	return data
}

// All statements of a server, on any answer, count as they do for a download. The file itself is not
// transferred.
func TestVerifyAsks_Rule31_Rule32(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	right := made(size, 7)
	notHead := func(options ...mirrortest.Option) mirrortest.Option {
		return mirrortest.When(func(q *http.Request) bool { return q.Method != http.MethodHead }, options...)
	}
	for name, tt := range map[string]struct {
		options []mirrortest.Option
		want    download.Kind
	}{
		"digest":           {[]mirrortest.Option{mirrortest.Digest()}, download.Other},
		"digest with GET":  {[]mirrortest.Option{notHead(mirrortest.Digest())}, download.Other},
		"digest with HEAD": {[]mirrortest.Option{mirrortest.OnHead(mirrortest.Digest())}, download.Other},
		"no HEAD": {[]mirrortest.Option{mirrortest.Digest(), mirrortest.OnHead(mirrortest.Status(405))},
			download.Other},
		"HEAD is forbidden": {[]mirrortest.Option{mirrortest.Digest(), mirrortest.OnHead(mirrortest.Status(403))},
			download.Other},
		"they contradict": {[]mirrortest.Option{mirrortest.OnHead(mirrortest.Digest(md5Of(t, right))),
			notHead(mirrortest.Digest(md5Of(t, nil)))}, download.Protocol},
		"malformed":           {[]mirrortest.Option{mirrortest.Header("Digest", "SHA-256=x")}, download.Protocol},
		"another file":        {[]mirrortest.Option{mirrortest.Digest(other())}, download.Mismatch},
		"weak":                {[]mirrortest.Option{mirrortest.Digest(md5Of(t, right))}, download.NoEvidence},
		"weak and wrong":      {[]mirrortest.Option{mirrortest.Digest(md5Of(t, nil))}, download.Mismatch},
		"nothing":             {nil, download.NoEvidence},
		"not there":           {[]mirrortest.Option{mirrortest.Status(404)}, download.Refused},
		"links without proof": {[]mirrortest.Option{mirrortest.Link(`</x.meta4>; rel=describedby; type="application/metalink4+xml"`)}, download.NoEvidence},
	} {
		t.Run(name, func(t *testing.T) {
			s := sized(t, size, append(tt.options, mirrortest.Rate(mib/16))...)
			r := newRun(t, s.URL)
			r.onDisk(right)
			r.req.Trust.Require = download.RequireDigest
			r.verify(tt.want)
			if s.Sent() > mib {
				t.Errorf("%d bytes came", s.Sent())
			}
		})
	}
}

// A server that redirects to a mirror with another file counts, and not the mirror.
func TestVerifyRedirected(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 2*mib, mirrortest.Digest())
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Mirrors(mirror.URL), mirrortest.Redirect(mirror.URL))
	r := newRun(t, origin.URL)
	r.onDisk(made(mib, 7))
	if v := r.verify(download.Other); v.Proof.String() != byDigest {
		t.Errorf("the proof is %v", v.Proof)
	}
}

// Proves C9 and rule 40 for a file on disk: pieces of a document that the server describes locate damage,
// whatever the file's length, and only the digest of the whole file proves it.
func TestVerifyPieces_C9_Rule40(t *testing.T) {
	t.Parallel()
	const size = 2*mib + 1000
	right := made(size, 7)
	second := byterange.Range{Start: piece, End: 2 * piece}
	last := byterange.Range{Start: 2 * mib, End: size}
	for name, tt := range map[string]struct {
		data    []byte
		pieces  []byte
		want    download.Kind
		damaged []byterange.Range
	}{
		"right": {right, right, download.Other, nil},
		"two": {changed(right, piece, 2*piece-1, size-1), right, download.Mismatch,
			[]byterange.Range{second, last}},
		"neighbours": {changed(right, 0, piece), right, download.Mismatch,
			[]byterange.Range{{Start: 0, End: 2 * piece}}},
		"cut":                 {right[:2*mib-1], right, download.Mismatch, []byterange.Range{{Start: 2*mib - piece, End: size}}},
		"cut at a piece":      {right[:2*mib], right, download.Mismatch, []byterange.Range{last}},
		"empty":               {nil, right, download.Mismatch, []byterange.Range{{Start: 0, End: size}}},
		"longer":              {append(bytes.Clone(right), 0), right, download.Mismatch, nil},
		"wrong pieces":        {right, changed(right, 5), download.Other, nil},
		"pieces of this file": {changed(right, 5), changed(right, 5), download.Mismatch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			origin := sized(t, size, mirrortest.Digest())
			f := of(t, right)
			f.Pieces = []verify.Pieces{piecesOf(t, tt.pieces)}
			doc, err := metalink.Format(metalink.Document{Files: []metalink.File{f}})
			if err != nil {
				t.Fatal(err)
			}
			origin.Set(mirrortest.Link(`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`),
				mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc))
			r := newRun(t, origin.URL)
			r.onDisk(tt.data)
			v := r.verify(tt.want)
			if want := byterange.NewSet(tt.damaged...); v.Damaged.String() != want.String() {
				t.Errorf("damaged: %v, want %v", &v.Damaged, &want)
			}
			if v.Size != int64(len(tt.data)) {
				t.Errorf("%d bytes", v.Size)
			}
		})
	}
}

// Proves rule 43: pieces without a digest of the whole file find damage, and prove nothing.
func TestVerifyPiecesAlone_Rule43(t *testing.T) {
	t.Parallel()
	right := made(mib, 7)
	f := metalink.File{Name: "file.bin", Size: mib, Pieces: []verify.Pieces{piecesOf(t, right)}}
	for want, data := range map[download.Kind][]byte{download.NoEvidence: right, download.Mismatch: changed(right, 1)} {
		r := newRun(t, "http://h/")
		r.req.URL = nil
		req, err := (&download.Document{Name: "x.meta4", Over: verify.User}).Describe(f, r.req)
		if err != nil || req.URL != nil {
			t.Fatal(req.URL, err)
		}
		r.req = req
		r.req.Trust.Require = download.RequireDigest
		r.onDisk(data)
		r.verify(want)
	}
}

// A server that answers with a document is not asked again: the document describes the file.
func TestVerifyFollows(t *testing.T) {
	t.Parallel()
	right := made(mib, 7)
	f := of(t, right)
	f.Pieces = []verify.Pieces{piecesOf(t, right)}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{f}})
	if err != nil {
		t.Fatal(err)
	}
	s := mirrortest.New(t, doc, mirrortest.Header("Content-Type", metalink.MediaType4), mirrortest.Name("file.bin"))
	r := newRun(t, s.URL)
	r.onDisk(right)
	if v := r.verify(download.Other); !strings.Contains(v.Proof.String(), "sha-256 from file.bin over http") {
		t.Errorf("the proof is %v", v.Proof)
	}
	r.onDisk(changed(right, 1))
	if v := r.verify(download.Mismatch); v.Damaged.Len() != piece {
		t.Errorf("damaged: %v", &v.Damaged)
	}
}

// A file that changes while it is read is not judged.
func TestVerifyChanging(t *testing.T) {
	t.Parallel()
	right := made(mib, 7)
	r := newRun(t, "http://h/")
	r.req.URL, r.req.Trust.Claims = nil, userClaim(sum(t, right))
	r.onDisk(right)
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Started); !ok {
			return
		}
		if err := os.Chtimes(r.path(), time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Error(err)
		}
	}
	r.verify(download.Local)
}

// Evidence that a URL offered before must be offered again (0015), unless the user vouches for the file or
// accepts less.
func TestVerifyPins(t *testing.T) {
	t.Parallel()
	right := made(mib, 7)
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.onDisk(right)
	r.client.State = &state.Store{}
	r.client.State.KeepPin(r.req.URL, state.PinOf(nil, "application/pgp-signature"))
	r.verify(download.NoEvidence)
	r.req.Trust.LessProof = true
	r.verify(download.Other)
	r.req.Trust.LessProof, r.req.Trust.Claims = false, userClaim(sum(t, right))
	r.verify(download.Other)
}

// The file of a document is found by its folders, by its last name, or because it is the only one.
func TestDocumentFileAt(t *testing.T) {
	t.Parallel()
	document := func(names ...string) *download.Document {
		d := &download.Document{Name: "x.meta4"}
		for _, n := range names {
			d.Files.Add(metalink.File{Name: n})
		}
		return d
	}
	for _, tt := range []struct {
		names, path, want string
	}{
		{"a.iso cd/a.iso", "a.iso", "a.iso"}, {"a.iso cd/a.iso", "x/cd/a.iso", "cd/a.iso"},
		{"a.iso cd/a.iso", "./x/a.iso", "a.iso"},
		{"cd/a.iso b", "/tmp/a.iso", "cd/a.iso"}, {"only", "another", "only"},
		{"ba.iso b", "a.iso", "a.iso matches no file of the document; the document has"},
		{"x/a y/a", "a", `several listed paths end in "a": "x/a", "y/a"`}, {"x/a y/a", "y/a", "y/a"},
	} {
		f, err := document(strings.Fields(tt.names)...).FileAt(filepath.FromSlash(tt.path))
		got := f.Name
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%s in %s: got %s, want %s", tt.path, tt.names, got, tt.want)
		}
	}
}
