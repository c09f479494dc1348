package download_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// document returns a document that describes files.
func document(t *testing.T, files ...metalink.File) []byte {
	t.Helper()
	out, err := metalink.Format(metalink.Document{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// at returns a file with its places.
func at(t *testing.T, f metalink.File, servers ...*mirrortest.Server) metalink.File {
	t.Helper()
	f.Mirrors = following(t, f, servers...).req.Described.Mirrors
	return f
}

// Proves rule 64: a document is as trusted as the weakest channel that it came over.
func TestDocumentChannel_Rule64(t *testing.T) {
	s := sized(t, mib)
	doc := document(t, at(t, of(t, made(mib, 7)), s))
	secure := mirrortest.New(t, doc, mirrortest.TLS(nil), mirrortest.Name("x.meta4"))
	hop := mirrortest.New(t, doc, mirrortest.Name("x.meta4"), mirrortest.Redirect(secure.URL))
	http := &httpsource.Client{TLS: &tls.Config{RootCAs: mirrortest.Pool(secure)}}
	defer http.CloseIdle()
	c := &download.Client{HTTP: http}
	for u, want := range map[string]verify.Channel{secure.URL: verify.HTTPS, hop.URL: verify.HTTP} {
		d, err := c.Document(t.Context(), download.Request{URL: parse(t, u)})
		if err != nil || d.Over != want {
			t.Errorf("%s: %v, %v", u, d, err)
		}
	}
}

// Proves rule 64: what names a document over http makes it no more trusted than http, be it an older document or the
// server of the file.
func TestNamedDocumentChannel_Rule64(t *testing.T) {
	t.Parallel()
	const size = mib
	s := sized(t, size)
	f := at(t, of(t, made(size, 7)), s)
	doc := document(t, f)
	secure := mirrortest.New(t, doc, mirrortest.TLS(nil), mirrortest.Name("x.meta4"))
	older, err := metalink.Format(metalink.Document{Origin: parse(t, secure.URL), Dynamic: true, Files: []metalink.File{f}})
	if err != nil {
		t.Fatal(err)
	}
	plain := mirrortest.New(t, older, mirrortest.Name("x.meta4"))
	http := &httpsource.Client{TLS: &tls.Config{RootCAs: mirrortest.Pool(secure)}}
	defer http.CloseIdle()
	c := &download.Client{HTTP: http}
	d, err := c.Document(t.Context(), download.Request{URL: parse(t, plain.URL)})
	if err != nil || d.Over != verify.HTTP || len(secure.Requests()) != 1 {
		t.Errorf("%v, %v", d, err)
	}
	link := fmt.Sprintf(`<%s>; rel=describedby; type="application/metalink4+xml"`, secure.URL)
	s.Set(mirrortest.Digest(), mirrortest.Link(link))
	req := download.Request{URL: parse(t, s.URL)}
	o, err := c.Probe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Evidence(t.Context(), req, o)
	if e.Err != nil || len(e.File.Claims) == 0 || e.Document == "" {
		t.Errorf("%+v", e)
	}
	for _, claim := range e.File.Claims {
		if claim.Channel != verify.HTTP {
			t.Errorf("%v", claim)
		}
	}
}

// Proves rule 41 for the fetch: a document that is too long is not read to its end.
func TestDocumentTooLong_Rule41(t *testing.T) {
	for _, length := range []mirrortest.Option{mirrortest.Chunked(), mirrortest.Latency(0)} {
		s := mirrortest.New(t, []byte("<a>"+strings.Repeat(" ", metalink.MaxSize)), mirrortest.Name("x.meta4"), length)
		_, err := new(download.Client).Document(t.Context(), download.Request{URL: parse(t, s.URL)})
		var e *download.Error
		if !errors.As(err, &e) || e.Kind != download.Protocol || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%v", err)
		}
	}
}

// Answers that are no document, and documents of another kind than requested, are not followed.
func TestFollowOnlyDocuments(t *testing.T) {
	t.Parallel()
	a := sized(t, mib)
	doc := document(t, at(t, of(t, made(mib, 7)), a))
	for name, tt := range map[string]struct {
		name string
		data []byte
		file mirrortest.Content
	}{
		"a document": {"disk.iso", doc, a.Content},
		"after a comment": {"disk.iso",
			[]byte("<?xml version='1.0'?>\n<!-- x -->" + strings.SplitN(string(doc), "?>", 2)[1]), a.Content},
		"a short one": {"disk.iso",
			[]byte("<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='file.bin'><url>" + a.URL +
				"</url></file></metalink>"), a.Content},
		"XML was asked for":     {"disk.xml", doc, mirrortest.Content{}},
		"other XML":             {"disk.iso", []byte("<?xml version='1.0'?>\n<other/>"), mirrortest.Content{}},
		"a page":                {"disk.iso", []byte("<!DOCTYPE html><html>" + strings.Repeat("x", 10000)), mirrortest.Content{}},
		"nothing":               {"disk.iso", []byte{}, mirrortest.Content{}},
		"something that is not": {"disk.iso", made(3*mib, 9), mirrortest.Content{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mirrortest.New(t, tt.data, mirrortest.Name(tt.name))
			r := newRun(t, s.URL)
			r.req.Name = "file.bin"
			want := s.Content
			if name == "a document" || name == "after a comment" || name == "a short one" {
				want = tt.file
			}
			r.right(want)
		})
	}
}

// The name in the document is used if the user gives none. Of several files the requested one is meant.
func TestFollowFindsTheFile(t *testing.T) {
	t.Parallel()
	a := sized(t, mib)
	f := at(t, of(t, made(mib, 7)), a)
	typed := mirrortest.Header("Content-Type", "Application/Metalink4+XML; charset=utf-8")
	named := func(names ...string) (files []metalink.File) {
		for _, n := range names {
			g := f
			g.Name = n
			files = append(files, g)
		}
		return files
	}
	for _, tt := range []struct {
		files  []metalink.File
		choose []string
		want   string // the path, or "" for an error
	}{
		{named("sub/other"), nil, "sub/other"},
		{named("other", "x/disk.iso"), nil, "x/disk.iso"},
		{named("disk.iso", "x/disk.iso"), nil, ""},
		{named("a", "b"), nil, ""},
		{named("a", "b"), []string{"b"}, "b"},
		{named("a", "b"), []string{"c"}, ""},
	} {
		s := mirrortest.New(t, document(t, tt.files...), mirrortest.Name("disk.iso"), typed)
		r := newRun(t, s.URL)
		r.req.Select = tt.choose
		res, err := r.get()
		var several *download.SeveralError
		var none *download.SelectError
		switch {
		case tt.want != "":
			if err != nil || res.Path != r.dir+"/"+tt.want {
				t.Errorf("%v: %s, %v", tt, res.Path, err)
			}
		case !errors.As(err, &several) && !errors.As(err, &none):
			t.Errorf("%v: %v", tt.files, err)
		}
	}
}

// A dynamic origin that leads to itself, or to a document with another origin, is asked once (rule 45).
func TestRenewOnce_Rule45(t *testing.T) {
	a := sized(t, mib)
	s := mirrortest.New(t, []byte{}, mirrortest.Name("x.meta4"))
	origin := parse(t, s.URL)
	doc := func(query string) []byte {
		u := *origin
		u.RawQuery = query
		out, err := metalink.Format(metalink.Document{Origin: &u, Dynamic: true,
			Files: []metalink.File{at(t, of(t, made(mib, 7)), a)}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for query, want := range map[string]int{"": 1, "n": 2} {
		s.Set(mirrortest.Document("/x.meta4", metalink.MediaType4, doc(query)))
		before := len(s.Requests())
		d, err := new(download.Client).Document(t.Context(), download.Request{URL: origin})
		if n := len(s.Requests()) - before; err != nil || n != want || d.Files.Len() != 1 {
			t.Errorf("%q: %d requests, %v", query, n, err)
		}
	}
}

// The error of a selection without a match lists the most similar names.
func TestSelectError(t *testing.T) {
	e := &download.SelectError{Patterns: []string{"debian-13*"}}
	for i := range 20 {
		e.Names = append(e.Names, fmt.Sprint("other-", i))
	}
	e.Names = slices.Insert(e.Names, 15, "Debian-12.iso\x1b")
	if got := e.Error(); got != `debian-13* matches no file of the document; the document has Debian-12.iso\x1b, other-13, other-0, other-1, other-2, and 16 more` {
		t.Error(got)
	}
}

// Proves rules 46 and 64 for digests on the way to a document: the digest of its own answer is the
// document's; that of a redirect is the document's or the file's, and the document must agree with it.
func TestDigestsOnTheWayToADocument_Rule46_Rule64(t *testing.T) {
	t.Parallel()
	a := sized(t, mib)
	f := at(t, of(t, made(mib, 7)), a)
	doc := document(t, f)
	f.Claims = nil
	bare := document(t, f)
	right, wrong := sum(t, made(mib, 7)), sum(t, made(mib, 8))
	for name, tt := range map[string]struct {
		doc           []byte
		own, redirect verify.Digest // none: not stated
		kind          download.Kind
		verified      bool
	}{
		"its own digest":                        {doc: doc, own: sum(t, doc), verified: true},
		"the file's on its own answer":          {doc: doc, own: right, kind: download.Mismatch},
		"a weak one on its own answer":          {doc: doc, own: md5Of(t, bare), kind: download.Mismatch},
		"its own on a redirect":                 {doc: doc, redirect: sum(t, doc), verified: true},
		"the file's on a redirect":              {doc: doc, redirect: right, verified: true},
		"the file's, of which it says nothing":  {doc: bare, redirect: right, verified: true},
		"another file's, of which it says none": {doc: bare, redirect: wrong, kind: download.Mismatch},
		"another file's on a redirect":          {doc: doc, redirect: wrong, kind: download.Protocol},
	} {
		t.Run(name, func(t *testing.T) {
			s := mirrortest.New(t, tt.doc, mirrortest.Name("x.meta4"), mirrortest.Digest(tt.own))
			asked := mirrortest.New(t, tt.doc, mirrortest.Name("x.meta4"), mirrortest.Redirect(s.URL),
				mirrortest.Digest(tt.redirect))
			r := newRun(t, asked.URL)
			r.req.Name = "file.bin"
			if tt.kind != download.Other {
				r.wrong(tt.kind)
				return
			}
			if res := r.right(a.Content); res.Proof.Verified() != tt.verified {
				t.Errorf("%v", res.Proof)
			}
		})
	}
}

// Proves rule 17 for bytes held back until they are known to be no document: a body that looks like one and
// breaks off is resumed.
func TestHeldBack_Rule17(t *testing.T) {
	t.Parallel()
	page := []byte("<?xml version='1.0'?><!--" + strings.Repeat("x", 9000) + "--><page/>")
	for name, option := range map[string]mirrortest.Option{
		"cut early": mirrortest.Times(3, mirrortest.CutAfter(700)),
		"cut late":  mirrortest.Once(mirrortest.CutAfter(5000)), "short": mirrortest.UntilClose(),
	} {
		t.Run(name, func(t *testing.T) {
			s := mirrortest.New(t, page, mirrortest.ETag(`"v"`), option)
			r := newRun(t, s.URL)
			r.right(s.Content)
		})
	}
}
