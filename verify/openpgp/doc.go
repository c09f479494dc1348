// Package openpgp checks detached OpenPGP signatures of files (RFC 9580, section 10.4) against keys that the user trusts,
// while the file's bytes arrive, and makes such signatures. The mathematics are ProtonMail/go-crypto's; what a signature must
// be like to count is decided here.
//
// A signature counts if it is a detached binary one (type 0x00) with SHA-256 or better, by a key that may sign files,
// is neither weak, revoked nor expired, and is pinned. Several signatures: one by a pinned key must be good, a bad one
// by a pinned key is an error, those by unknown keys are named and ignored. Every refusal is an
// [*verify.SignatureError] that says which key and why.
//
// It refuses to be a mail program: no signed messages, no encryption, no web of trust and no key servers. A cleartext
// signature is checked if a parser has taken the text out of it ([Policy.Text]). The clock is an argument; files are
// bytes. Nothing is trusted because it is in a message or because a server sent it: only the [Keyring] is an anchor,
// and without one the answer is that nothing was validated, never that it is good.
//
//	keys, err := openpgp.ParseKeyring(export)
//	...
//	c, err := openpgp.New(signatures, keys, openpgp.Policy{Now: time.Now()}) // fails at once if no file could pass
//	...
//	_, err = io.Copy(c, file)
//	all, err := c.Signatures()              // no error: a key that counts signed these bytes, if there are keys at all
//	by, ok := verify.GoodSignature(all)
package openpgp
