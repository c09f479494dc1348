package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"braid/linkheader"
	"braid/metalink"
	"braid/verify"
	"braid/verify/openpgp"
)

// newKey returns an OpenPGP key with the given lifetime in the format of gpg: its secret and its public part.
func newKey(t *testing.T, life time.Duration) (secret, public []byte) {
	t.Helper()
	born := time.Now().Add(-time.Hour)
	config := &packet.Config{
		Algorithm: packet.PubKeyAlgoEd25519, Time: func() time.Time { return born },
		KeyLifetimeSecs: uint32((time.Hour + life) / time.Second),
	}
	e, err := pgp.NewEntity("braid", "", "braid@example.org", config)
	if err != nil {
		t.Fatal(err)
	}
	var s, p bytes.Buffer
	if err := e.SerializePrivate(&s, config); err != nil {
		t.Fatal(err)
	}
	if err := e.Serialize(&p); err != nil {
		t.Fatal(err)
	}
	return s.Bytes(), p.Bytes()
}

// good reports whether sig is a signature of body by the key.
func good(t *testing.T, sig, body string, public []byte) bool {
	t.Helper()
	keys, err := openpgp.ParseKeyring(public)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openpgp.New([]byte(sig), keys, openpgp.Policy{Now: time.Now()})
	if err != nil {
		return false
	}
	io.WriteString(c, body)
	all, err := c.Signatures()
	_, ok := verify.GoodSignature(all)
	return err == nil && ok
}

// parse parses a document about one file.
func parse(t *testing.T, a answer) metalink.File {
	t.Helper()
	d, err := metalink.Parse(strings.NewReader(a.body))
	if err != nil || len(d.Files) != 1 || len(d.Warnings)+len(d.Refused) > 0 {
		t.Fatalf("%d %s: %+v, %v", a.status, clip(a.body), d, err)
	}
	return d.Files[0]
}

// urls returns the mirrors of a document, with pri and geo.
func urls(f metalink.File) (list []string) {
	for _, m := range f.Mirrors {
		list = append(list, fmt.Sprint(m.URL, " ", m.Pri, " ", m.Geo))
	}
	return list
}

// Proves V5: a document is made for a file without one, with the digests of its pieces, its mirrors and this server.
func TestMadeMeta4_V5(t *testing.T) {
	body := strings.Repeat(content, 20_000)
	w := start(t, map[string]string{"d/a b.iso": body, "empty": ""}, Options{Meta4: true, Mirrors: []Mirror{
		mirror(t, "http://two.example/pub/"), mirror(t, "ftp://one.example/;pri=1;geo=de"),
		mirror(t, "http://other.example/file"),
	}})
	file := w.get("/d/a%20b.iso")
	if got, want := documentsOf(t, file), []string{"a%20b.iso.meta4 application/metalink4+xml"}; !slices.Equal(got, want) {
		t.Errorf("documents are %q", got)
	}
	a := w.get("/d/a%20b.iso.meta4")
	sum, err := sum(t.Context(), strings.NewReader(a.body))
	if err != nil || a.digest(t) != sum || a.header.Get("Etag") != etag(sum) ||
		a.header.Get("Content-Type") != metalink.MediaType4 {
		t.Errorf("the document goes out with %v", a.header)
	}
	f := parse(t, a)
	pieces := f.BestPieces()
	if f.Name != "a b.iso" || f.Size != int64(len(body)) || len(f.Claims) != 1 ||
		f.Claims[0].Digest != file.digest(t) || pieces.Count() != 4 {
		t.Errorf("it describes %s, %d bytes, %v, %d pieces", f.Name, f.Size, f.Claims, pieces.Count())
	}
	for i := range pieces.Count() {
		if from, to := pieces.At(i); !pieces.Check(i, []byte(body[from:to])) {
			t.Errorf("piece %d is wrong", i)
		}
	}
	want := []string{
		"ftp://one.example/d/a%20b.iso 1 DE", "http://two.example/pub/d/a%20b.iso 999999 ", w.url + "/d/a%20b.iso 999999 ",
	}
	if got := urls(f); !slices.Equal(got, want) {
		t.Errorf("URLs are %q\nwant %q", got, want)
	}
	if f := parse(t, w.get("/empty.meta4")); f.Size != 0 || len(f.Pieces) != 0 {
		t.Errorf("an empty file has %d bytes, %v", f.Size, f.Pieces)
	}
	head := w.ask(http.MethodHead, "/d/a%20b.iso.meta4")
	if head.header.Get("Content-Length") != fmt.Sprint(len(a.body)) ||
		head.header.Get("Etag") != a.header.Get("Etag") || head.body != "" {
		t.Errorf("HEAD: %v", head.header)
	}
	if part := w.get("/d/a%20b.iso.meta4", "Range", "bytes=2-5"); part.status != 206 || part.body != a.body[2:6] {
		t.Errorf("a part: %d %q", part.status, part.body)
	}
}

// The document has the URL of this server, and each place once.
func TestMadeMeta4Places(t *testing.T) {
	files := map[string]string{"a": content}
	for _, tt := range []struct {
		name string
		o    Options
		host string
		want []string
	}{
		{"the request's host", Options{}, "pub.example:81", []string{"http://pub.example:81/a"}},
		{"behind a proxy", Options{URL: mustURL(t, "https://pub.example/x")}, "inner", []string{"https://pub.example/x/a"}},
		{"a mirror that is this", Options{Mirrors: []Mirror{mirror(t, "http://m/;pri=3")}}, "m", []string{"http://m/a"}},
		{"a mirror that is this, behind a proxy", Options{URL: mustURL(t, "https://pub.example/x/"),
			Mirrors: []Mirror{mirror(t, "https://pub.example/x/")}},
			"inner", []string{"https://pub.example/x/a"}},
		{"a mirror of another", Options{MirrorOf: mustURL(t, "https://o.example/")}, "m",
			[]string{"https://o.example/a", "http://m/a"}},
		{"fewer links", Options{MaxLinks: 1, Mirrors: []Mirror{mirror(t, "http://n/;pri=2"),
			mirror(t, "http://m/;pri=1")}}, "h", []string{"http://m/a", "http://h/a"}},
		{"a host that is none", Options{}, "h<x", nil},
	} {
		tt.o.Meta4 = true
		w := start(t, files, tt.o)
		req := mustRequest(t, "/a.meta4")
		req.Host = tt.host
		rec := httptest.NewRecorder()
		w.s.ServeHTTP(rec, req)
		if tt.want == nil {
			if rec.Code != 404 {
				t.Errorf("%s: status %d", tt.name, rec.Code)
			}
			continue
		}
		var got []string
		for _, m := range parse(t, answer{status: rec.Code, body: rec.Body.String()}).Mirrors {
			got = append(got, m.URL.String())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: URLs are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Documents that are not requested, exist already or would be about a document are not made.
func TestNotMade(t *testing.T) {
	secret, _ := newKey(t, time.Hour)
	all := Options{Meta4: true, SecretKey: secret}
	for _, tt := range []struct {
		name, path, document string
		files                map[string]string
		o                    Options
	}{
		{"no meta4", "/a", "/a.meta4", map[string]string{"a": content}, Options{SecretKey: secret}},
		{"no key", "/a", "/a.asc", map[string]string{"a": content}, Options{Meta4: true}},
		{"of a document", "/a.torrent", "/a.torrent.meta4", map[string]string{"a.torrent": "x"}, all},
		{"signature of a document", "/a.meta4", "/a.meta4.asc", map[string]string{"a.meta4": "x"}, all},
		{"signed by somebody", "/a", "/a.asc", map[string]string{"a": content, "a.sig": "x"}, Options{SecretKey: secret}},
		{"signed with S/MIME", "/a", "/a.asc", map[string]string{"a": content, "a.p7s": "x"}, Options{SecretKey: secret}},
		{"a name that clients refuse", "/nul", "/nul.meta4", map[string]string{"nul": content}, Options{Meta4: true}},
		{"a folder", "/d/", "/d.meta4", map[string]string{"d/": ""}, all},
		{"nothing", "/none", "/none.asc", nil, all},
		{"hidden", "/.a", "/.a.meta4", map[string]string{".a": content}, all},
		{"another kind", "/a", "/a.torrent", map[string]string{"a": content}, Options{}},
	} {
		w := start(t, tt.files, tt.o)
		suffix := filepath.Ext(tt.document)
		for _, target := range w.get(tt.path).targets(t, linkheader.DescribedBy) {
			if strings.HasSuffix(target, suffix) {
				t.Errorf("%s: %s is named", tt.name, target)
			}
		}
		if a := w.get(tt.document); a.status != 404 {
			t.Errorf("%s: %s is %d %q", tt.name, tt.document, a.status, clip(a.body))
		}
	}
	w := start(t, map[string]string{"a": content, "a.meta4": "mine", "a.asc": "too"}, all)
	w.get("/a.meta4").want(t, 200, "mine")
	w.get("/a.asc").want(t, 200, "too")
}

// Proves V8: a file without a signature is signed as it is served, and the document contains the signature, too.
func TestSigned_V8(t *testing.T) {
	secret, public := newKey(t, time.Hour)
	w := start(t, map[string]string{"a": content}, Options{SecretKey: secret})
	if got := documentsOf(t, w.get("/a")); !slices.Equal(got, []string{"a.asc application/pgp-signature"}) {
		t.Errorf("documents are %q", got)
	}
	a := w.get("/a.asc")
	if a.status != 200 || a.header.Get("Content-Type") != openpgp.Kind.Types[0] || !good(t, a.body, content, public) {
		t.Errorf("%d %v\n%s", a.status, a.header, a.body)
	}
	if again := w.get("/a.asc"); again.body != a.body {
		t.Error("signed twice")
	}
	w = start(t, map[string]string{"a": content, "b": content, "b.asc": a.body, "c": content, "c.asc": "\x88\x01"},
		Options{SecretKey: secret, Meta4: true})
	for name, want := range map[string]int{"a": 1, "b": 1, "c": 0} {
		f := parse(t, w.get("/"+name+".meta4"))
		if len(f.Signatures) != want || want > 0 && (f.Signatures[0].Type != openpgp.Kind.Types[0] ||
			!good(t, f.Signatures[0].Text, content, public)) {
			t.Errorf("%s: signatures in the document are %v", name, f.Signatures)
		}
	}
	// A new version has a new signature.
	put(t, w.dir, "a", content+"!")
	if a := w.get("/a.asc"); !good(t, a.body, content+"!", public) {
		t.Errorf("of the new version: %d %s", a.status, a.body)
	}
}

// A key that cannot sign is reported at once. After a key has expired, files are served unsigned, and each is tried
// once.
func TestKeyThatCannotSign(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	expired, _ := newKey(t, -time.Minute)
	for name, secret := range map[string][]byte{"expired": expired, "junk": []byte("junk")} {
		if s, err := New(dir, Options{SecretKey: secret}); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
	secret, _ := newKey(t, time.Hour)
	w := open(t, dir, Options{SecretKey: secret}, func(s *Server) { s.digests.signer = failing{s.digests.signer} })
	for range 2 {
		a := w.get("/a")
		a.want(t, 200, content)
		if got := documentsOf(t, a); got != nil {
			t.Errorf("documents are %q", got)
		}
	}
	w.get("/a.asc").want(t, 404, "Not Found\n")
	if n := w.log.count("not signed"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// A failing signer has expired since it was made.
type failing struct{ verify.Signer }

func (failing) Begin(string, time.Time) (verify.Signing, error) { return nil, errors.New("expired") }

// hashings counts how often files are read.
func hashings(n *atomic.Int64) func(*Server) {
	return func(s *Server) {
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			n.Add(1)
			return sum(ctx, r)
		}
	}
}

// Digest, pieces and signature are computed in one read, for any number of clients.
func TestReadOnceForAll(t *testing.T) {
	secret, _ := newKey(t, time.Hour)
	dir := t.TempDir()
	put(t, dir, "a", content)
	var n atomic.Int64
	w := open(t, dir, Options{Meta4: true, SecretKey: secret}, hashings(&n))
	var wg sync.WaitGroup
	for _, path := range []string{"/a", "/a.meta4", "/a.asc", "/a", "/a.meta4", "/a.asc"} {
		wg.Go(func() {
			if a := w.get(path); a.status != 200 {
				t.Errorf("%s: %d", path, a.status)
			}
		})
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("read %d times", n.Load())
	}
}

// Pieces and signatures survive a restart, except a signature by another key, and new requests are computed.
func TestMadeSurvivesRestart(t *testing.T) {
	one, public := newKey(t, time.Hour)
	two, others := newKey(t, time.Hour)
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	body := strings.Repeat(content, 10_000)
	put(t, dir, "a", body)
	put(t, dir, "empty", "")
	var meta, sig string
	for i, tt := range []struct {
		name   string
		secret []byte
		meta4  bool
		public []byte
		reads  int64
	}{
		{"digest only", nil, false, nil, 2},
		{"with pieces", nil, true, nil, 1}, // an empty file has no pieces
		{"with signature", one, true, public, 2},
		{"the same again", one, true, public, 0},
		{"digest only again", nil, false, nil, 0},
		{"another key", two, true, others, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int64
			w := open(t, dir, Options{CacheFile: cache, Meta4: tt.meta4, SecretKey: tt.secret,
				URL: mustURL(t, "http://h/")}, hashings(&n))
			w.get("/a").want(t, 200, body)
			w.get("/empty").want(t, 200, "")
			a, m := w.get("/a.asc").body, w.get("/a.meta4").body
			if tt.public != nil && !good(t, a, body, tt.public) {
				t.Errorf("the signature is %s", a)
			}
			if tt.meta4 && parse(t, answer{body: m}).BestPieces().Count() != 2 {
				t.Errorf("the document is %s", m)
			}
			if i == 3 && (a != sig || m != meta) {
				t.Error("the signature or the document is another one after a restart")
			}
			sig, meta = a, m
			if n.Load() != tt.reads {
				t.Errorf("%d files were read, want %d", n.Load(), tt.reads)
			}
		})
	}
}
