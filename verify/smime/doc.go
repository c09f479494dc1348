// Package smime checks S/MIME signatures of files, which are CMS messages (RFC 5652, RFC 8551), against roots that the
// user trusts, while the file's bytes arrive. It reads the message itself and decides what a signature must be like to
// count; the mathematics and the chains of certificates (RFC 5280) are the standard library's.
//
// A signature counts if the message is detached or holds the very file, all its digests are SHA-256 or better, its signed
// attributes name the file's digest, and the certificate of its key is for signing, valid now and chained to a root. Several
// signers: one with a chain to a root must be good, a bad one with a chain is an error, the others are named and ignored. Every
// refusal is an [*verify.SignatureError] that says whose signature and why.
//
// It refuses to be a mail program: no multipart messages, no encryption, no text canonicalised. It asks no server
// whether a certificate was revoked. The clock is an argument; files are bytes. Nothing is trusted because it is in a
// message: certificates there only lead to the roots, and without roots the answer is that nothing was validated, never
// that it is good.
//
//	roots, err := smime.ParseRoots(pem)
//	...
//	c, err := smime.New(signature, roots, time.Now()) // fails at once if no file could pass
//	...
//	_, err = io.Copy(c, file)
//	all, err := c.Signatures()              // no error: somebody whom a root vouches for signed these bytes, if there are roots at all
//	by, ok := verify.GoodSignature(all)
package smime
