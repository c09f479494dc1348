package serve

import (
	"io"
	"log/slog"
	"path"
	"time"

	"braid/verify"
	"braid/verify/signatures"
)

// wants selects what is computed for a file in addition to its digest.
type wants struct{ pieces, signature bool }

func (w wants) cover(o wants) bool {
	return (w.pieces || !o.pieces) && (w.signature || !o.signature)
}

// facts are the results of reading a file.
type facts struct {
	digest    verify.Digest
	pieces    verify.Pieces // zero if the file is empty
	signature string        // text of the signature; "" if the key could not sign
	has       wants         // which of the wants were computed
	twice     bool          // another version of the file had a time in the same second
}

// pieceAlgorithm is the algorithm of pieces. Pieces only locate damage, but a stronger algorithm costs nothing more.
const pieceAlgorithm = verify.SHA256

// newSigner returns the signer of a secret key, or nil if secret is empty.
func newSigner(secret, passphrase []byte) (verify.Signer, error) {
	if len(secret) == 0 {
		return nil, nil
	}
	return signatures.NewSigner(secret, passphrase, time.Now())
}

// measure reads r, a version of a file, once. It computes the digest and everything in key.wants.
func (d *digests) measure(r io.Reader, key jobKey) (found facts, err error) {
	pieces := verify.NewPieceMaker(pieceAlgorithm, verify.PieceLength(key.stamp.Size))
	if key.pieces {
		r = io.TeeReader(r, pieces)
	}
	var signing verify.Signing
	if key.signature {
		signing = d.beginSignature(key.name)
	}
	if signing != nil {
		r = io.TeeReader(r, signing)
	}
	found.has = key.wants
	if found.digest, err = d.sum(d.ctx, r); err != nil {
		return facts{}, err
	}
	found.pieces = pieces.Pieces()
	if signing != nil {
		sig, err := signing.Signature()
		d.complain(key.name, err)
		found.signature = string(sig)
	}
	return found, nil
}

// beginSignature begins the signature of the file name. It returns nil if the key cannot sign any more. The file is
// then served unsigned.
func (d *digests) beginSignature(name string) verify.Signing {
	signing, err := d.signer.Begin(path.Base(name), time.Now())
	if err != nil {
		d.complain(name, err)
		return nil
	}
	return signing
}

// complain logs that a file is not signed, if err is not nil.
func (d *digests) complain(name string, err error) {
	if err != nil {
		d.log.LogAttrs(d.ctx, slog.LevelWarn, "not signed", slog.String("file", printable(name)),
			slog.String("error", printable(err.Error())))
	}
}

// pieceList returns the concatenated digests of pieces, for the cache file.
func pieceList(p verify.Pieces) (raw []byte) {
	for i := range p.Count() {
		raw = append(raw, p.Digest(i).Bytes()...)
	}
	return raw
}

// piecesFrom decodes the output of pieceList for a file of the given size.
func piecesFrom(raw []byte, size int64) (verify.Pieces, error) {
	var list []verify.Digest
	for n := pieceAlgorithm.Size(); len(raw) >= n; raw = raw[n:] {
		digest, err := verify.NewDigest(pieceAlgorithm, raw[:n])
		if err != nil {
			return verify.Pieces{}, err
		}
		list = append(list, digest)
	}
	return verify.NewPieces(size, verify.PieceLength(size), list)
}
