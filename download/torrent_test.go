package download_test

import (
	"strings"
	"testing"

	"braid/address"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/verify"
)

// torrentOf returns a torrent of data under the given name.
func torrentOf(t *testing.T, name string, data []byte, webSeeds ...string) []byte {
	t.Helper()
	m := verify.NewPieceMaker(verify.SHA1, piece)
	m.Write(data)
	torrent, err := metainfo.New(name, m.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	out, err := torrent.Format("", webSeeds)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// torrented starts an origin like vouch that also has a torrent of data.
func torrented(t *testing.T, size int64, torrent []byte, mirrors ...*mirrortest.Server) *mirrortest.Server {
	t.Helper()
	origin := vouch(t, size, mirrors...)
	links := []string{`</file.bin.torrent>; rel=describedby; type="application/x-bittorrent"`}
	for _, m := range mirrors {
		links = append(links, "<"+m.URL+">; rel=duplicate")
	}
	origin.Set(mirrortest.Link(links...), mirrortest.Document("/file.bin.torrent", metalink.Torrent, torrent))
	return origin
}

// Proves S10 with the pieces of a torrent, without its swarm: a source of wrong bytes is named as soon as a
// piece is complete.
func TestTorrentPiecesAsTheyCome_S10(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Corrupt(marks(mib, size)...))
	good := sized(t, size, held(4*mib, sent(piece, liar)))
	origin := torrented(t, size, torrentOf(t, "other.name", made(size, 7)), liar, good)
	origin.Set(held(2*mib, sent(piece, liar)))
	res := newRun(t, origin.URL).right(origin.Content)
	verified(t, res, byDigest)
	banned(t, res, liar, origin, good)
	if res.Fetched > size*3/2 {
		t.Errorf("%d bytes came for %d", res.Fetched, size)
	}
}

// Proves S19: a torrent is requested when the whole file is wrong, also after a Metalink document without
// pieces.
func TestTorrentPiecesWhenTheWholeIsWrong_S19(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for _, document := range []bool{false, true} {
		liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
		origin := torrented(t, size, torrentOf(t, "file.bin", made(size, 7)), liar)
		origin.Set(held(2*mib, sent(mib, liar)))
		if document {
			doc, err := metalink.Format(metalink.Document{Files: []metalink.File{of(t, made(size, 7))}})
			if err != nil {
				t.Fatal(err)
			}
			origin.Set(mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc),
				mirrortest.Link("<"+liar.URL+">; rel=duplicate",
					`</file.bin.torrent>; rel=describedby; type="application/x-bittorrent"`,
					`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`))
		}
		r := newRun(t, origin.URL)
		res := r.right(origin.Content)
		banned(t, res, liar, origin)
		if res.Fetched > size*2 || len(saw[download.Restarted](r)) > 0 ||
			!strings.Contains(notes(r), "file.bin.torrent show where") {
			t.Errorf("%d bytes came for %d, begun again %v, notes:\n%s", res.Fetched, size, saw[download.Restarted](r), notes(r))
		}
	}
}

// notes returns all notes.
func notes(r *run) string {
	var all []string
	for _, n := range saw[download.Note](r) {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

// A torrent locates damage and never decides: one of another version, or an unusable one, only costs time
// (C9).
func TestTorrentThatIsWrong_C9(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	for name, tt := range map[string]struct {
		torrent []byte
		note    string
	}{
		"another version": {torrentOf(t, "file.bin", made(size, 8)), "no source has bytes that match"},
		"another size":    {torrentOf(t, "file.bin", made(size-1, 7)), "8388607 bytes there, not 8388608"},
		"no torrent":      {[]byte("<html>"), "is not used: torrent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := sized(t, size, mirrortest.Rate(8*mib))
			origin := torrented(t, size, tt.torrent, good)
			r := newRun(t, origin.URL)
			noted := seen(r, func(n download.Note) bool { return strings.Contains(n.Text, tt.note) })
			good.Set(held(8*mib, noted))
			origin.Set(held(2*mib, noted))
			verified(t, r.right(origin.Content), byDigest)
			if !strings.Contains(notes(r), tt.note) {
				t.Errorf("notes:\n%s", notes(r))
			}
		})
	}
}

// A Metalink document without pieces may name a torrent that has some.
func TestTorrentOfADocument_S10(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Corrupt(marks(mib, size)...))
	a := sized(t, size, held(4*mib, sent(piece, liar)))
	a.Set(mirrortest.Document("/x.torrent", metalink.Torrent, torrentOf(t, "x", made(size, 7))))
	f := of(t, made(size, 7))
	f.Documents = []metalink.MetaURL{{URL: parse(t, strings.Replace(a.URL, "file.bin", "x.torrent", 1)),
		Type: metalink.Torrent, Name: "x", Pri: 1, By: address.Loopback}}
	r := following(t, f, liar, a)
	res := r.right(a.Content)
	verified(t, res, byDocument)
	banned(t, res, liar, a)
	if strings.Contains(notes(r), "not supported") {
		t.Errorf("notes:\n%s", notes(r))
	}
}

// Evidence has the pieces of a torrent, if no better description exists.
func TestTorrentIsEvidence(t *testing.T) {
	t.Parallel()
	const size = mib
	origin := torrented(t, size, torrentOf(t, "file.bin", made(size, 7)))
	c := &download.Client{}
	req := download.Request{URL: parse(t, origin.URL)}
	o, err := c.Probe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Evidence(t.Context(), req, o)
	if e.Err != nil || e.File.BestPieces().Count() != 4 || !strings.HasSuffix(e.Document, ".torrent") {
		t.Errorf("got %+v", e)
	}
	weak := metalink.File{Size: size, Documents: o.File.Documents}
	if e := c.Evidence(t.Context(), req, download.Offer{File: weak}); e.Err == nil {
		t.Error("pieces are used although nothing decides")
	}
}

// The pieces of a torrent also locate damage of a file on disk, and it is repaired by them. Without a size
// from another source, they prove nothing.
func TestTorrentPiecesRepair_S3(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	right := made(size, 7)
	origin := torrented(t, size, torrentOf(t, "other.name", right), sized(t, size))
	r := newRun(t, origin.URL)
	r.onDisk(changed(right, 1, 5*mib))
	r.repaired(origin.Content, 2*piece)

	origin = torrented(t, size, torrentOf(t, "other.name", made(mib, 8)))
	origin.Set(mirrortest.Chunked())
	r = newRun(t, origin.URL)
	r.onDisk(changed(right, 5*mib))
	if v := r.verify(download.Mismatch); v.Damaged.Count() > 0 {
		t.Errorf("damaged: %v", &v.Damaged)
	}
}
