package serve

import (
	"io"
	"log/slog"
	"time"

	"braid/verify"
	"braid/verify/openpgp"
)

// wants is what a file is read for beside its digest.
type wants struct{ pieces, signature bool }

// cover reports whether a client that has w has o, too.
func (w wants) cover(o wants) bool {
	return (w.pieces || !o.pieces) && (w.signature || !o.signature)
}

// facts are what the bytes of a file give.
type facts struct {
	digest    verify.Digest
	pieces    verify.Pieces // zero if the file is empty
	signature string        // armored; "" if the key could not sign
	has       wants         // which of them were tried
	twice     bool          // the file had other bytes before with a time in the same second
}

// pieceAlgorithm is the one of pieces that are made here. They locate damage, but a stronger one costs nothing more.
const pieceAlgorithm = verify.SHA256

// A signer is who signs what has no signature.
type signer struct {
	secret, passphrase []byte
	key                openpgp.Fingerprint // of the key that signs: what is remembered of another one is not ours
}

// newSigner finds out whether the key can sign, before a client waits for it; nil if there is none.
func newSigner(secret, passphrase []byte) (*signer, error) {
	if len(secret) == 0 {
		return nil, nil
	}
	try, err := openpgp.NewSigning(secret, passphrase, time.Now())
	if err != nil {
		return nil, err
	}
	return &signer{secret, passphrase, try.Key()}, nil
}

// measure reads r, a version of a file, once for all that is wanted of it.
func (d *digests) measure(r io.Reader, key jobKey) (found facts, err error) {
	pieces := verify.NewPieceMaker(pieceAlgorithm, verify.PieceLength(key.stamp.Size))
	if key.pieces {
		r = io.TeeReader(r, pieces)
	}
	var signing *openpgp.Signing
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

// beginSignature is nil if the key has expired since the server began: the file is served unsigned then.
func (d *digests) beginSignature(name string) *openpgp.Signing {
	signing, err := openpgp.NewSigning(d.signer.secret, d.signer.passphrase, time.Now())
	d.complain(name, err)
	return signing
}

// complain says that a file is not signed, if there is an error.
func (d *digests) complain(name string, err error) {
	if err != nil {
		d.log.LogAttrs(d.ctx, slog.LevelWarn, "not signed", slog.String("file", printable(name)), slog.String("error", printable(err.Error())))
	}
}

// pieceList is the digests of pieces one after the other, for the cache file.
func pieceList(p verify.Pieces) (raw []byte) {
	for i := range p.Count() {
		raw = append(raw, p.Digest(i).Bytes()...)
	}
	return raw
}

// piecesFrom reads what pieceList wrote of a file of that size.
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
