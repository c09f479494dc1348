package cli

import (
	"errors"

	"braid/verify"
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

var signatureHints = map[verify.SignatureCode]string{
	verify.SignatureMissing: hintNoSignature, verify.SignatureNotOfFile: hintNoSignature, verify.SignatureMalformed: hintNoSignature,
	verify.SignatureUnsupported: hintNoSignature, verify.SignatureKeyExpired: hintExpiredKey, verify.SignatureWeak: hintWeak,
	verify.SignatureBad: hintNotTheSigned, verify.SignatureNoCertificate: hintNoRoot, verify.SignatureNoChain: hintNoRoot,
	verify.SignatureCertificateExpired: hintExpiredCert, verify.SignatureCertificateNotYetValid: hintExpiredCert,
}

// hintForSignature is the next step; empty if there is none that is better than that of the exit code.
func hintForSignature(err error) string {
	if e, ok := errors.AsType[*verify.SignatureError](err); ok {
		return signatureHints[e.Code]
	}
	return ""
}
