package download_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// described returns an origin like vouch that also has a Metalink document with pieces of 256 KiB of data.
func described(t *testing.T, size int64, data []byte, mirrors ...*mirrortest.Server) *mirrortest.Server {
	t.Helper()
	origin := vouch(t, size, mirrors...)
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "file.bin", Size: int64(len(data)), Claims: []verify.Claim{{Digest: sum(t, data)}},
		Pieces: []verify.Pieces{piecesOf(t, data)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	links := []string{`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`}
	for _, m := range mirrors {
		links = append(links, "<"+m.URL+">; rel=duplicate")
	}
	origin.Set(mirrortest.Link(links...), mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc))
	return origin
}

const piece = 256 << 10

func piecesOf(t *testing.T, data []byte) verify.Pieces {
	t.Helper()
	var sums []verify.Digest
	for at := 0; at < len(data); at += piece {
		sums = append(sums, sum(t, data[at:min(at+piece, len(data))]))
	}
	p, err := verify.NewPieces(int64(len(data)), piece, sums)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sum(t *testing.T, data []byte) verify.Digest {
	t.Helper()
	raw := sha256.Sum256(data)
	d, err := verify.NewDigest(verify.SHA256, raw[:])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// marks returns an offset in each n bytes of a file.
func marks(n, size int64) (offsets []int64) {
	for at := n / 2; at < size; at += n {
		offsets = append(offsets, at)
	}
	return offsets
}

// banned checks that one server is named as the source of wrong bytes, and the others are not.
func banned(t *testing.T, res download.Result, liar *mirrortest.Server, others ...*mirrortest.Server) {
	t.Helper()
	got := from(t, res, liar)
	if !got.Banned || got.Err == nil || !strings.Contains(got.Err.Error(), "wrong bytes") {
		t.Errorf("the liar: banned %v, %v", got.Banned, got.Err)
	}
	for _, s := range others {
		if got := from(t, res, s); got.Banned {
			t.Errorf("%s is banned: %v", s.URL, got.Err)
		}
	}
}

// Proves S10: bytes of a mirror are checked as they come; the source of wrong bytes is named and banned, and
// few bytes come twice.
func TestPiecesAsTheyCome_S10(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Corrupt(marks(mib, size)...))
	good := sized(t, size, held(4*mib, sent(piece, liar)))
	origin := described(t, size, made(size, 7), liar, good)
	origin.Set(held(2*mib, sent(piece, liar)))
	res := newRun(t, origin.URL).right(origin.Content)
	verified(t, res, byDigest)
	banned(t, res, liar, origin, good)
	if res.Fetched > size*3/2 {
		t.Errorf("%d bytes came for %d", res.Fetched, size)
	}
}

// Proves S3 and S19: if the whole file is wrong, its pieces are requested, and not before. Only damaged bytes
// come again, from others.
func TestPiecesWhenTheWholeIsWrong_S3_S19_Rule40(t *testing.T) {
	t.Parallel()
	const size = 6 * mib // too small to request a document before
	liar := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
	origin := described(t, size, made(size, 7), liar)
	origin.Set(held(2*mib, sent(mib, liar)))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	banned(t, res, liar, origin)
	told := func(n download.Note) bool { return strings.Contains(n.Text, "show where it is damaged") }
	if notes := saw[download.Note](r); !slices.ContainsFunc(notes, told) {
		t.Errorf("the pieces were not asked: %+v", notes)
	}
	if res.Fetched > size*2 || len(saw[download.Restarted](r)) > 0 {
		t.Errorf("%d bytes came for %d, begun again %v", res.Fetched, size, saw[download.Restarted](r))
	}
}

// Proves rule 40: without pieces, samples show which source sent wrong bytes, and others replace them.
func TestSamplesTellWhoLied_Rule40(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	corrupt := mirrortest.Corrupt(marks(mib/2, size)...)
	for name, lies := range map[string]int{"a mirror": 1, "the origin": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := sized(t, size, mirrortest.Rate(4*mib))
			b := sized(t, size, waiting(4*mib, a))
			origin := vouch(t, size, a, b)
			origin.Set(waiting(2*mib, a))
			servers := []*mirrortest.Server{origin, a, b}
			servers[lies].Set(corrupt)
			r := newRun(t, origin.URL)
			res := r.right(origin.Content)
			banned(t, res, servers[lies], servers[1-lies], b)
			if res.Fetched > size*9/5 || len(saw[download.Restarted](r)) > 0 {
				t.Errorf("%d bytes came for %d, begun again: %v", res.Fetched, size, saw[download.Restarted](r))
			}
		})
	}
}

// What an earlier run left may be wrong, too.
func TestSamplesAccuseAnEarlierRun_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	origin := sized(t, size, mirrortest.Rate(16*mib), mirrortest.Digest(), mirrortest.Corrupt(marks(mib/4, size)...))
	r := newRun(t, origin.URL)
	r.interrupt(3 * mib)
	origin.Set(mirrortest.Corrupt())
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	if len(saw[download.Restarted](r)) > 0 {
		t.Errorf("begun again: %v", saw[download.Restarted](r))
	}
}

// Proves rule 42: pieces that no source has are wrong themselves, and the digest of the whole file decides
// (C9).
func TestWrongPieces_C9_Rule42(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	a := sized(t, size, mirrortest.Rate(4*mib))
	origin := described(t, size, made(size, 7), a)
	wrong := piecesOf(t, made(size, 8))
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "file.bin", Size: size, Claims: []verify.Claim{{Digest: sum(t, made(size, 7))}}, Pieces: []verify.Pieces{wrong},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	origin.Set(mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc))
	res := newRun(t, origin.URL).right(origin.Content)
	verified(t, res, byDigest)
}

// Proves rule 46: a document without a digest of the file is not about it, whatever pieces it has.
func TestDocumentWithoutDigest_Rule46(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	a := sized(t, size, mirrortest.Rate(4*mib))
	origin := described(t, size, made(size, 7), a)
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "file.bin", Size: size, Pieces: []verify.Pieces{piecesOf(t, made(size, 8))},
		Mirrors: []metalink.Mirror{{URL: parse(t, a.URL), Pri: 1}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	origin.Set(mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc))
	r := newRun(t, origin.URL)
	said := func(n download.Note) bool {
		return strings.Contains(n.Text, "no digest (SHA-256 or better) is known both")
	}
	a.Set(held(4*mib, seen(r, said)))
	origin.Set(held(2*mib, seen(r, said)))
	verified(t, r.right(origin.Content), byDigest)
	if notes := saw[download.Note](r); !slices.ContainsFunc(notes, said) {
		t.Errorf("notes: %+v", notes)
	}
}

// Proves rule 46: a document about another file is ignored and named.
func TestDocumentOfAnotherFile_Rule46(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	a := sized(t, size, mirrortest.Rate(4*mib))
	origin := described(t, size, made(size, 8), a)
	r := newRun(t, origin.URL)
	noted := seen(r, func(download.Note) bool { return true })
	a.Set(held(4*mib, noted))
	origin.Set(held(2*mib, noted))
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	var notes bytes.Buffer
	for _, n := range saw[download.Note](r) {
		notes.WriteString(n.Text + "\n")
	}
	if !strings.Contains(notes.String(), "file.bin.meta4 is not used") {
		t.Errorf("notes:\n%s", notes.String())
	}
}
