package download_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"braid/byterange"
	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// leaveRanges leaves a part file, begun from another URL, with these ranges of the file.
func (r *run) leaveRanges(id partfile.Identity, data []byte, sealed bool, ranges ...byterange.Range) {
	r.t.Helper()
	f, err := partfile.Open(fsys.OS, r.dir, "file.bin")
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.key().Make(); err != nil {
		r.t.Fatal(err)
	}
	if sealed {
		f.SealWith(r.key())
	}
	id.URL, id.URLSum = "http://old.example/file", "old"
	if err := f.Begin(id); err != nil {
		r.t.Fatal(err)
	}
	for _, x := range ranges {
		if _, err := f.WriteAt(data[x.Start:x.End], x.Start); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// left returns the content of the folder of the part file, byte for byte.
func (r *run) left() string {
	r.t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(r.dir + "/" + e.Name())
		if err != nil {
			r.t.Fatal(err)
		}
		if !strings.HasSuffix(e.Name(), ".journal") {
			all.WriteString(e.Name() + "\n" + string(data))
		}
	}
	return all.String()
}

func bytesOf(n int, seed byte) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	return data
}

func claimOf(t *testing.T, data []byte) verify.Claim {
	t.Helper()
	return verify.Claim{Digest: mirrortest.ContentOf(data).Digest(), Field: "Digest", Channel: verify.HTTP}
}

// A new link for an old part file resumes it by the same strong digest, by the same host, size and strong
// ETag, or, with --continue, by the same samples. Otherwise nothing is discarded, and no byte of another file
// is mixed into it (rules 8, 15).
func TestRefresh_Rule8_Rule15(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	data, other := bytesOf(size, 1), bytesOf(size, 2)
	late := bytes.Clone(data) // another file with the same beginning
	copy(late[3*mib:], other)
	front, holes := []byterange.Range{{End: 3 * mib / 2}}, []byterange.Range{{Start: mib, End: mib + 300<<10},
		{Start: 3 * mib, End: size - 1}}
	tag, digest, none := mirrortest.ETag(`"v1"`), mirrortest.Digest(), mirrortest.ETag("")
	onHEAD := func(o mirrortest.Option) mirrortest.Option {
		return mirrortest.When(func(req *http.Request) bool { return req.Method == http.MethodHead }, o)
	}
	for name, tt := range map[string]struct {
		body   []byte
		server []mirrortest.Option
		prior  func(s *mirrortest.Server) partfile.Identity
		ranges []byterange.Range
		foreign,
		cont bool
		wrong download.Kind // Other: it resumes
		says  string
	}{
		"digest": {data, []mirrortest.Option{digest}, withDigest(t, data), holes, false, false,
			download.Other, ""},
		"digest, unsealed": {data, []mirrortest.Option{digest}, withDigest(t, data), front, true, false,
			download.Other, ""},
		"ETag": {data, []mirrortest.Option{tag}, withTag(`"v1"`, true), front, false, false,
			download.Other, ""},
		"ETag, for GET only": {data, []mirrortest.Option{tag, onHEAD(mirrortest.Status(403))},
			withTag(`"v1"`, true), front, false, false, download.Other, ""},
		"ETag, with holes": {data, []mirrortest.Option{tag}, withTag(`"v1"`, true), holes, false, false,
			download.Other, ""},
		"ETag, unsealed": {data, []mirrortest.Option{tag}, withTag(`"v1"`, true), front, true, false,
			download.Other, ""},
		"continued": {data, []mirrortest.Option{none}, withTag("", true), front, false, true,
			download.Other, ""},
		"continued, elsewhere": {data, []mirrortest.Option{tag}, withTag(`"v1"`, false), holes, false, true,
			download.Other, ""},
		"other ETag": {data, []mirrortest.Option{mirrortest.ETag(`"v2"`)}, withTag(`"v1"`, true),
			front, false, true, download.Local, "another ETag"},
		"weak ETag": {data, []mirrortest.Option{mirrortest.ETag(`W/"v1"`)}, withTag(`"v1"`, true),
			front, false, false, download.Local, "no strong ETag"},
		"ETag elsewhere": {data, []mirrortest.Option{tag}, withTag(`"v1"`, false), front, false, false,
			download.Local, "no strong ETag"},
		"same ETag, other file": {other, []mirrortest.Option{tag}, withTag(`"v1"`, true), front, false, false,
			download.Local, "different bytes"},
		"same ETag, other end": {late, []mirrortest.Option{tag}, withTag(`"v1"`, true), holes, false, false,
			download.Local, "different bytes"},
		"continued, other file": {other, []mirrortest.Option{none}, withTag("", true), front, false, true,
			download.Local, "different bytes"},
		"continued, other end": {late, []mirrortest.Option{none}, withTag("", false), holes, false, true,
			download.Local, "different bytes"},
		"continued, unsealed": {data, []mirrortest.Option{none}, withTag("", true), front, true, true,
			download.Local, "no strong ETag"},
		"continued, no parts": {data, []mirrortest.Option{none, mirrortest.IgnoreRange()}, withTag("", false),
			front, false, true, download.Local, "the server sends only the whole file"},
		"other size": {data[:size-1], []mirrortest.Option{tag}, withTag(`"v1"`, true), front, false,
			true, download.Local, "bytes instead of"},
		"other digest": {other, []mirrortest.Option{digest}, withDigest(t, data), front, false, true,
			download.Local, "another file"},
		"digest is new": {data, []mirrortest.Option{digest, none}, withTag("", true), front, false,
			false, download.Local, "nothing shows that the new link leads to the same file"},
		"ETag, size not known": {data, []mirrortest.Option{tag}, unsized(withTag(`"v1"`, true)), front, false,
			true, download.Local, "no strong ETag"},
		"refused": {data, []mirrortest.Option{mirrortest.Status(403)}, withTag(`"v1"`, true),
			front, false, true, download.Refused, ""},
		"HEAD of another version": {other, []mirrortest.Option{mirrortest.ETag(`"v2"`), onHEAD(tag)},
			withTag(`"v1"`, true), front, false, false, download.Local, "different bytes"},
		"HEAD of another digest": {other, []mirrortest.Option{digest,
			onHEAD(mirrortest.Digest(mirrortest.ContentOf(data).Digest()))}, withDigest(t, data), front, false, false,
			download.Local, "cannot be used to resume"},
		"HEAD of another tag, at last": {data, []mirrortest.Option{digest, tag, onHEAD(digest),
			onHEAD(mirrortest.ETag(`"v0"`))}, withDigest(t, data), front, false, false, download.Other, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mirrortest.New(t, tt.body, tt.server...)
			r := newRun(t, s.URL)
			id := tt.prior(s)
			id.Size += size
			r.leaveRanges(id, data, !tt.foreign, tt.ranges...)
			r.req.IfExists.Refresh, r.req.IfExists.Continue = true, tt.cont
			before := r.left()
			if tt.wrong != download.Other {
				if e := r.wrong(tt.wrong); !strings.Contains(e.Error(), tt.says) || e.Kept == 0 || e.Part != r.part() {
					t.Errorf("%v, %d bytes kept in %s, want %s", e, e.Kept, e.Part, tt.says)
				}
				if r.left() != before {
					t.Error("the part file is another one")
				}
				return
			}
			res := r.right(s.Content)
			if res.Resumed == 0 || res.Continued != (tt.cont) || len(saw[download.Restarted](r)) > 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

func withDigest(t *testing.T, data []byte) func(*mirrortest.Server) partfile.Identity {
	return func(*mirrortest.Server) partfile.Identity {
		return partfile.Identity{Claims: []verify.Claim{claimOf(t, data)}, Host: "old.example:80"}
	}
}

// unsized removes the size from the journal.
func unsized(prior func(*mirrortest.Server) partfile.Identity) func(*mirrortest.Server) partfile.Identity {
	return func(s *mirrortest.Server) partfile.Identity {
		id := prior(s)
		id.Size = -4*mib - 1
		return id
	}
}

func withTag(tag string, here bool) func(*mirrortest.Server) partfile.Identity {
	return func(s *mirrortest.Server) partfile.Identity {
		id := partfile.Identity{ETag: tag, Host: "old.example:80"}
		if here {
			id.Host = s.Addr
		}
		if tag != "" {
			id.ETagHost = id.Host
		}
		return id
	}
}

// Without a part file, with one of an unknown file, or without a name, nothing is made, moved or fetched.
func TestRefreshOfNothing_Rule8(t *testing.T) {
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.req.IfExists.Refresh = true
	r.wrong(download.Local)
	if err := os.WriteFile(r.part(), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.part()+".journal", []byte("xyz"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := r.left()
	r.wrong(download.Local)
	if r.left() != before {
		t.Error("what is there was changed")
	}
	asked(t, s, false)
	r.req.Stream = new(bytes.Buffer)
	r.wrong(download.Usage)
}

// The next run resumes with the new link alone.
func TestRefreshedGoesOn_Rule6(t *testing.T) {
	t.Parallel()
	data := bytesOf(6*mib, 1)
	for name, option := range map[string]mirrortest.Option{"digest": mirrortest.Digest(), "ETag": mirrortest.ETag(`"v1"`)} {
		s := mirrortest.New(t, data, option, mirrortest.Rate(8*mib))
		r := newRun(t, s.URL)
		id := withTag(`"v1"`, true)(s)
		id.Size, id.Claims = 6*mib, []verify.Claim{claimOf(t, data)}
		if name == "ETag" {
			id.Claims = nil
		}
		r.leaveRanges(id, data, true, byterange.Range{End: 2 * mib})
		r.req.IfExists.Refresh = true
		r.interrupt(3 * mib)
		r.req.IfExists.Refresh = false
		if res := r.right(s.Content); res.Resumed < 3*mib {
			t.Errorf("%s: %+v", name, res)
		}
	}
}
