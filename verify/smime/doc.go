// Package smime checks S/MIME signatures of files, which are CMS messages (RFC 5652, RFC 8551), against roots that the
// user trusts, while the file is read. It parses the message and decides which signatures are accepted. The standard
// library does the cryptography and verifies the chains of certificates (RFC 5280).
//
// A signature is accepted if the message is detached or holds the same file, all its digests are SHA-256 or better, its
// signed attributes have the file's digest, and the certificate of its key is for signing, valid now and chained to a
// root. Of several signers, one with a chain to a root must be good, and none with a chain may be bad. The other
// signers are reported and ignored. Every refusal is an [*verify.SignatureError] with the signer and the reason.
//
// The package does not handle mail in general: it has no multipart messages, encryption or text canonicalization. It
// does not ask servers about revoked certificates. It reads no clock and opens no file. Certificates in a message are
// not trusted: they only connect the signer to the roots. Without roots nothing is validated, and no signature is
// reported as good.
//
//	roots, err := smime.ParseRoots(pem)
//	...
//	c, err := smime.New(signature, roots, time.Now()) // fails at once if no file could pass
//	...
//	_, err = io.Copy(c, file)
//	all, err := c.Signatures() // no error: a signer with a chain to a root signed these bytes, unless roots is empty
//	by, ok := verify.GoodSignature(all)
package smime
