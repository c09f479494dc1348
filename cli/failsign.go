package cli

import (
	"errors"

	"braid/verify/openpgp"
	"braid/verify/smime"
)

// The next steps for somebody whose file has a signature that does not count, by why that is.
const (
	hintNoSignature  = "what is there is no signature of a file; --signature FILE|URL names another, or ask those who publish it"
	hintExpiredKey   = "--allow-expired-key takes signatures by keys that have expired since, for archives; a newer key may be published"
	hintWeak         = "ask those who publish it for a signature that counts: with SHA-256 or better, by a key of Ed25519, of ECDSA, or of RSA with 2048 bits or more"
	hintNoRoot       = "--smime-ca FILE has the root certificates that count, in PEM"
	hintExpiredCert  = "ask those who publish it for a signature by a certificate that is valid now; and check the clock of this machine"
	hintNotTheSigned = "this is not the file that was signed: it was changed, or the signature is of another version; ask those who publish it"
)

var openpgpHints = map[openpgp.Kind]string{
	openpgp.Missing: hintNoSignature, openpgp.NotDetached: hintNoSignature, openpgp.Malformed: hintNoSignature, openpgp.Unsupported: hintNoSignature,
	openpgp.KeyExpired: hintExpiredKey, openpgp.Weak: hintWeak, openpgp.Bad: hintNotTheSigned,
}

var smimeHints = map[smime.Kind]string{
	smime.Missing: hintNoSignature, smime.Malformed: hintNoSignature, smime.NotSigned: hintNoSignature, smime.Unsupported: hintNoSignature,
	smime.NoCertificate: hintNoRoot, smime.NoChain: hintNoRoot, smime.Expired: hintExpiredCert, smime.NotYetValid: hintExpiredCert,
	smime.Weak: hintWeak, smime.Bad: hintNotTheSigned,
}

// hintForSignature is the next step; empty if there is none that is better than that of the exit code.
func hintForSignature(err error) string {
	if e, ok := errors.AsType[*openpgp.Error](err); ok {
		return openpgpHints[e.Kind]
	}
	if e, ok := errors.AsType[*smime.Error](err); ok {
		return smimeHints[e.Kind]
	}
	return ""
}
