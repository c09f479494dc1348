// Package openpgp checks detached OpenPGP signatures of files (RFC 9580, section 10.4) against keys that the user
// trusts, while the file is read, and makes such signatures. ProtonMail/go-crypto does the cryptography. This package
// decides which signatures are accepted.
//
// A signature is accepted if it is a detached binary signature (type 0x00) with SHA-256 or better, by a pinned key that
// may sign files and is not weak, revoked or expired. Of several signatures, one by a pinned key must be good, and none
// by a pinned key may be bad. Signatures by unknown keys are reported and ignored. Every refusal is an
// [*verify.SignatureError] with the key and the reason.
//
// The package does not handle mail: it has no signed messages, encryption, web of trust or key servers. It checks a
// cleartext signature if a parser has extracted the text ([Policy.Text]). It reads no clock and opens no file. Only
// keys in the [Keyring] are trusted, not a key in a message or from a server. Without a keyring nothing is validated,
// and no signature is reported as good.
//
//	keys, err := openpgp.ParseKeyring(export)
//	...
//	c, err := openpgp.New(signatures, keys, openpgp.Policy{Now: time.Now()}) // fails at once if no file could pass
//	...
//	_, err = io.Copy(c, file)
//	all, err := c.Signatures()              // no error: an accepted key signed these bytes, unless keys is empty
//	by, ok := verify.GoodSignature(all)
package openpgp
