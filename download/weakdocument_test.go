package download_test

import (
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// weakly returns the description of data in a document without a SHA-256: by MD5, by pieces, or by both.
func weakly(t *testing.T, data []byte, md5, pieces bool) metalink.File {
	t.Helper()
	f := metalink.File{Name: "file.bin", Size: int64(len(data))}
	if md5 {
		f.Claims = []verify.Claim{{Digest: md5Of(t, data)}}
	}
	if pieces {
		f.Pieces = []verify.Pieces{piecesOf(t, data)}
	}
	return f
}

// Proves rules 43 and 64: the digest of a place of a document is no evidence for the file, and a place whose
// bytes contradict the document is dropped.
func TestPlaceSaysOfItself_Rule43_Rule64(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	for name, tt := range map[string]struct{ md5, pieces bool }{"md5": {md5: true}, "pieces": {pieces: true},
		"both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := weakly(t, made(size, 7), tt.md5, tt.pieces)
			bad := mirrortest.New(t, made(size, 8), mirrortest.Digest(), mirrortest.ETag(`"1"`))
			good := sized(t, size, mirrortest.ETag(`"1"`))
			r := following(t, f, bad, good)
			if res := r.right(good.Content); res.Proof.Verified() {
				t.Errorf("%v", res.Proof)
			}
			liar := sized(t, size, mirrortest.Digest(sum(t, made(size, 8))))
			following(t, f, liar).right(liar.Content)
			following(t, f, bad, liar).right(liar.Content)
			r = following(t, f, bad)
			r.wrong(download.Mismatch)
			r = following(t, f, bad, good)
			r.req.Trust.Require = download.RequireDigest
			r.wrong(download.NoEvidence)
		})
	}
}

// Proves rule 42: the pieces of a document without a strong digest are evidence, and are never dropped.
func TestPiecesAreNotGivenUp_Rule42(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	for _, md5 := range []bool{false, true} {
		f := weakly(t, made(size, 7), false, true)
		if md5 {
			f.Claims = []verify.Claim{{Digest: md5Of(t, made(size, 8))}}
		}
		a, b := mirrortest.New(t, made(size, 8)), mirrortest.New(t, made(size, 8))
		following(t, f, a, b).wrong(download.Mismatch)
		r := following(t, f, a, b)
		r.req.Mirrors = append(r.req.Mirrors, parse(t, mirrortest.New(t, made(size, 8)).URL))
		r.wrong(download.Mismatch)
	}
}
