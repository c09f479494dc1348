package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/verify"
)

const byTorrent = "bittorrent v1 piece hashes from x.torrent"

// readTorrent returns a torrent that the user gave.
func readTorrent(t *testing.T, torrent []byte) *download.Document {
	t.Helper()
	d, err := download.ReadDocument(bytes.NewReader(torrent), "dir/x.torrent")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// byWebSeeds makes a download of the only file of a torrent of data, from these web seeds.
func byWebSeeds(t *testing.T, data []byte, servers ...*mirrortest.Server) *run {
	t.Helper()
	var seeds []string
	for _, s := range servers {
		seeds = append(seeds, s.URL)
	}
	r := newRun(t, "http://unused.example/")
	r.req.URL = nil
	d := readTorrent(t, torrentOf(t, "file.bin", data, seeds...))
	req, err := d.Request(d.Files.At(0), r.req)
	if err != nil {
		t.Fatal(err)
	}
	r.req = req
	return r
}

// checkedOnly checks that a file is proven by its pieces and by nothing stronger (rules 31 and 64).
func checkedOnly(t *testing.T, res download.Result, want string) {
	t.Helper()
	verified(t, res, want)
	if !res.Proof.ByPieces() || res.Proof.Verified() {
		t.Errorf("by pieces: %v, verified: %v", res.Proof.ByPieces(), res.Proof.Verified())
	}
}

// Web seeds are mirrors of equal rank, which the pieces tie together: none needs an ETag or a digest (S18). A
// wrong one is named; one with another size, or that is gone, is left out (C8, S10, rule 39).
func TestWebSeeds_S10_S18_C8(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	data := made(size, 7)
	a, b := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag("")), sized(t, size, mirrortest.Rate(4*mib),
		mirrortest.ETag(`"x"`))
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Corrupt(marks(mib, size)...))
	longer, gone := sized(t, size+1), sized(t, size, mirrortest.Status(404))
	r := byWebSeeds(t, data, gone, longer, liar, a, b)
	others := allOf(sent(piece, liar), requested(longer, gone))
	for s, other := range map[*mirrortest.Server]*mirrortest.Server{a: b, b: a} {
		s.Set(held(4*mib, allOf(others, func() bool { return s.Sent() < part || other.Sent() >= part })))
	}
	res := r.right(a.Content)
	checkedOnly(t, res, byTorrent)
	banned(t, res, liar, a, b)
	useless(t, res, longer)
	useless(t, res, gone)
	useful(t, res, a)
	useful(t, res, b)
}

// If no web seed has the file of the torrent, the exit code is 11, and no file gets the name.
func TestWebSeedsHaveAnotherFile(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	r := byWebSeeds(t, made(size, 8), sized(t, size), sized(t, size))
	e := r.wrong(download.Mismatch)
	if !strings.Contains(e.Error(), "do not match x.torrent") {
		t.Errorf("error %v", e)
	}
	// This also holds for a stream: no wrong byte is sent.
	var out bytes.Buffer
	s := byWebSeeds(t, made(size, 8), sized(t, size))
	s.req.Stream = &out
	if _, err := s.client.Get(t.Context(), s.req); err == nil || out.Len() > 0 {
		t.Errorf("%d bytes went out, %v", out.Len(), err)
	}
}

// An interrupted download resumes: the pieces show that it is the same file, from any place (rule 8), and
// that a byte of an earlier run is wrong.
func TestWebSeedsResume_Rule8(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	data := made(size, 7)
	r := byWebSeeds(t, data, sized(t, size, mirrortest.Rate(8*mib)))
	r.interrupt(4 * mib)
	elsewhere := byWebSeeds(t, data, sized(t, size))
	r.req.URL, r.req.Mirrors = elsewhere.req.URL, elsewhere.req.Mirrors
	res := r.right(mirrortest.Generate(size, 7))
	checkedOnly(t, res, byTorrent)
	if res.Resumed < 3*mib || res.Fetched > size-3*mib {
		t.Errorf("resumed %d, fetched %d", res.Resumed, res.Fetched)
	}
	// Nothing is taken over from another torrent.
	o := byWebSeeds(t, data, sized(t, size, mirrortest.Rate(8*mib)))
	o.interrupt(4 * mib)
	changed := byWebSeeds(t, made(size, 8), mirrortest.New(t, made(size, 8)))
	o.req.URL, o.req.Described = changed.req.URL, changed.req.Described
	res, err := o.client.Get(t.Context(), o.req)
	if err != nil || res.Resumed != 0 {
		t.Errorf("resumed %d, %v", res.Resumed, err)
	}
	checkedOnly(t, res, byTorrent)
}

// An existing file is right if its pieces are (rule 3).
func TestTorrentAlreadyComplete_Rule3(t *testing.T) {
	t.Parallel()
	const size = mib
	a := sized(t, size)
	r := byWebSeeds(t, made(size, 7), a)
	path := filepath.Join(r.dir, "file.bin")
	if err := os.WriteFile(path, made(size, 7), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Get(t.Context(), r.req)
	if err != nil || !res.AlreadyComplete {
		t.Fatalf("%+v, %v", res, err)
	}
	checkedOnly(t, res, byTorrent)
	asked(t, a, false)
	if err := os.WriteFile(path, made(size, 8), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.Get(t.Context(), r.req); err == nil {
		t.Error("a wrong file is taken for the right one")
	}
}

// SHA-1 does not satisfy --require digest (rule 31): nothing is fetched. If the user gives a digest, that one
// counts, and pieces only locate damage.
func TestTorrentRequire_Rule31(t *testing.T) {
	t.Parallel()
	const size = mib
	a := sized(t, size)
	r := byWebSeeds(t, made(size, 7), a)
	r.req.Trust.Require = download.RequireDigest
	r.wrong(download.NoEvidence)
	asked(t, a, false)
	r.req.Trust.Claims = userClaim(sum(t, made(size, 7)))
	verified(t, r.right(a.Content), byUser)
	wrong := byWebSeeds(t, made(size, 7), a)
	wrong.req.Trust.Claims = userClaim(other())
	wrong.wrong(download.Mismatch)
	weak := byWebSeeds(t, made(size, 7), a)
	weak.req.Trust.Claims = userClaim(md5Of(t, made(size, 8)))
	weak.wrong(download.Mismatch)
}

// bencoded returns the info of a torrent of several files with the content data, one after another.
func bencoded(data []byte, seed string, files ...any) []byte {
	m := verify.NewPieceMaker(verify.SHA1, piece)
	m.Write(data)
	p := m.Pieces()
	var sums, list strings.Builder
	for i := range p.Count() {
		sums.Write(p.Digest(i).Bytes())
	}
	for i := 0; i < len(files); i += 2 {
		name := files[i].(string)
		fmt.Fprintf(&list, "d6:lengthi%de4:pathl%d:%see", files[i+1], len(name), name)
	}
	return fmt.Appendf(nil, "d4:infod5:filesl%se4:name4:root12:piece lengthi%de6:pieces%d:%se8:url-list%d:%se",
		list.String(), piece, sums.Len(), sums.String(), len(seed), seed)
}

// Files of a torrent of several files go into its folder. A file that shares a piece with one that is not
// requested cannot be proven and gets no name. An empty file is always right.
func TestTorrentOfSeveral(t *testing.T) {
	t.Parallel()
	data := made(3*piece+100, 7)
	server := func(name string, data []byte) *mirrortest.Server {
		return mirrortest.New(t, data, mirrortest.Name(name))
	}
	get := func(name string, s *mirrortest.Server) (download.Result, *run) {
		base := strings.TrimSuffix(s.URL, "root/"+name)
		d := readTorrent(t, bencoded(data, base, "own", 2*piece, "none", 0, "shared", piece+50, "..", 25, "end", 25))
		if d.Files.Len() != 4 || len(d.Refused) != 1 {
			t.Fatalf("files %v, refused %v", d.Files.Names(), d.Refused)
		}
		chosen, err := d.Choose([]string{name})
		if err != nil || len(chosen) != 1 {
			t.Fatal(chosen, err)
		}
		r := newRun(t, s.URL)
		r.req.URL = nil
		if r.req, err = d.Request(d.Files.At(chosen[0]), r.req); err != nil {
			t.Fatal(err)
		}
		if name == "shared" { // with a file that has no safe name
			r.wrong(download.NoEvidence)
			return download.Result{}, r
		}
		res, err := r.client.Get(t.Context(), r.req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if res.Path != filepath.Join(r.dir, "root", name) {
			t.Errorf("%s is %s", name, res.Path)
		}
		got, err := os.ReadFile(res.Path)
		if err != nil || !bytes.Equal(got, s.Content.Bytes()) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		return res, r
	}
	res, _ := get("own", server("root/own", data[:2*piece]))
	checkedOnly(t, res, byTorrent)
	get("shared", server("root/shared", data[2*piece:3*piece+50]))
	res, _ = get("none", server("root/none", nil))
	verified(t, res, "sha-256 from x.torrent")
}

// A torrent at a URL is followed. Its trust is that of its channel, and its web seeds get no secrets (rule
// 27).
func TestTorrentByURL(t *testing.T) {
	t.Parallel()
	const size = mib
	seed := sized(t, size)
	for path, kind := range map[string]string{"/x.torrent": "text/plain", "/download?id=1": metalink.Torrent + "; x=y"} {
		site := mirrortest.New(t, []byte("x"), mirrortest.Name(strings.TrimPrefix(path, "/")))
		site.Set(mirrortest.Document(strings.TrimSuffix(path, "?id=1"), kind, torrentOf(t, "file.bin", made(size, 7), seed.URL)))
		r := newRun(t, "http://"+site.Addr+path)
		r.req.Name = "file.bin"
		r.req.Access.Header = map[string][]string{"Cookie": {"secret"}}
		res := r.right(seed.Content)
		if got := res.Proof.String(); !strings.HasPrefix(got, "bittorrent v1 piece hashes from ") ||
			!strings.HasSuffix(got, " over http") {
			t.Errorf("%s: proof %s", path, got)
		}
		for _, req := range seed.Requests() {
			if req.Header.Get("Cookie") != "" {
				t.Error("the cookie went to a web seed")
			}
		}
		raw := newRun(t, "http://"+site.Addr+path)
		raw.req.Name, raw.req.NoMetalink = "file.bin", true
		if res, err := raw.client.Get(t.Context(), raw.req); err != nil || res.Size > size/2 {
			t.Errorf("the torrent itself: %+v, %v", res, err)
		}
	}
}

// A magnet link is the user's statement about the torrent. The places that it names are tried in turn.
func TestMagnet(t *testing.T) {
	t.Parallel()
	const size = mib
	seed, extra := sized(t, size, mirrortest.Status(404)), sized(t, size)
	torrent, wrong := torrentOf(t, "file.bin", made(size, 7), seed.URL), torrentOf(t, "file.bin", made(size, 8), seed.URL)
	parsed, err := metainfo.Parse(bytes.NewReader(torrent))
	if err != nil {
		t.Fatal(err)
	}
	site := mirrortest.New(t, []byte("x"))
	site.Set(mirrortest.Document("/right.torrent", "x/y", torrent), mirrortest.Document("/wrong.torrent", "x/y", wrong),
		mirrortest.Document("/none.torrent", "x/y", nil))
	link := func(names ...string) string {
		s := "magnet:?xt=urn:btih:" + parsed.InfoHash.String() + "&ws=" + url.QueryEscape(extra.URL)
		for _, n := range names {
			s += "&xs=" + url.QueryEscape("http://"+site.Addr+"/"+n)
		}
		return s
	}
	r := newRun(t, "http://unused.example/")
	r.req.URL = nil
	d, err := r.client.Magnet(t.Context(), r.req, link("missing", "wrong.torrent", "none.torrent", "right.torrent"))
	if err != nil {
		t.Fatal(err)
	}
	if r.req, err = d.Request(d.Files.At(0), r.req); err != nil {
		t.Fatal(err)
	}
	checkedOnly(t, r.right(extra.Content), "bittorrent v1 piece hashes from the magnet link")
	for l, want := range map[string]download.Kind{
		link("wrong.torrent"): download.Protocol, link(): download.Network, link("none.torrent"): download.Protocol,
		"magnet:?xt=urn:btih:x": download.Usage,
	} {
		_, err := r.client.Magnet(t.Context(), download.Request{}, l)
		if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != want {
			t.Errorf("%s: %v", l, err)
		}
	}
}

// When all web seeds are gone, their bytes are kept. None is asked for the whole file again, unlike URLs that
// the user typed (rule 30).
func TestWebSeedsAreGone_Rule6(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	a := sized(t, size, mirrortest.Rate(8*mib), mirrortest.DieAfter(2*mib))
	b := sized(t, size, mirrortest.Rate(8*mib), mirrortest.DieAfter(2*mib))
	r := byWebSeeds(t, made(size, 7), a, b)
	r.client.Tries = 1
	_, err := r.client.Get(t.Context(), r.req)
	e, ok := errors.AsType[*download.Error](err)
	if !ok || e.Kept < mib {
		t.Errorf("error %v", err)
	}
	if again := saw[download.Restarted](r); len(again) > 0 {
		t.Errorf("begun again: %v", again)
	}
}
