package hint

import (
	"errors"
	"path/filepath"

	"braid/download"
	"braid/internal/plug/objectstore"
	"braid/verify"
)

// flagHints maps the hints of package download to texts with the flags of the command.
var flagHints = map[download.Hint]string{
	download.HintSigners: "give a trusted key or certificate with --key FILE",
	download.HintSignature: "give a signature with --signature FILE|URL, or a signed list with --checksums LIST; braid " +
		"trust shows the URLs that need one",
	download.HintDigest: "give a checksum with --sha256 HEX",
	download.HintDigestOrList: "give a checksum with --sha256 HEX or --checksums LIST, or accept an unverified file " +
		"with --require none",
	download.HintGiveDigest: "give --sha256, or leave out --require digest",
	download.HintAllowOlder: "give the checksum of the wanted file with --sha256 HEX, or accept the server's older " +
		"file with --allow-older",
	download.HintTorrentDigest: "give a checksum of the whole file with --sha256 HEX",
	download.HintListed: "give the digest itself with --checksum ALGORITHM=HEX, which applies whatever the " +
		"file's name is",
	download.HintLessProof: "accept the file without that proof, now and later, with --allow-less-proof",
	download.HintEvidence:  "give a digest or a trusted key with --sha256 HEX, --checksums LIST or --key FILE",
	download.HintAnyEvidence: "give something to check against: --from URL|FILE.meta4, --sha256 HEX, --checksums LIST " +
		"or --key FILE",
	download.HintUnsealed: "nothing shows that the journal beside the part file belongs to one of your downloads: " +
		"give a checksum with --sha256 HEX",
	download.HintUnproven: "the server sends neither a digest nor a strong ETag, so the rest may be of another file; " +
		"resume nevertheless, if size, date and samples match, with --continue",
	download.HintForget: "the server sent this digest in an earlier run, but not in this one: give a checksum " +
		"with --sha256 HEX, or run braid parts remove FILE to forget the digest and start over",
	download.HintRefresh:     "resume nevertheless, if size and samples match, with --continue",
	download.HintAnew:        "to set the received part aside and start over, leave out --refresh",
	download.HintName:        "give -o NAME",
	download.HintNameIt:      "give the file a name with -o NAME",
	download.HintShorterName: "give a shorter name with -o NAME",
	download.HintSelect:      "choose one with --select NAME",
	download.HintExists: "replace the existing file once the new one is verified with --overwrite, or choose " +
		"another name with -o NAME",
	download.HintLimit: "set another limit with --max-size SIZE",
	download.HintPipe: "mirrors that may have a different file were not used; with -o NAME they are, because wrong " +
		"bytes in a file can be replaced",
	download.HintMirror:     "name a mirror with --mirror URL",
	download.HintNoLookup:   "accept the file unverified with --no-lookup",
	download.HintPlain:      "save the document itself with --no-metalink",
	download.HintFTP:        "leave out --no-ftp",
	download.HintFrom:       "name the source of the file with --from URL|FILE.meta4",
	download.HintFetch:      "download it with braid get",
	download.HintRepair:     "repair the file with --repair --from URL|FILE.meta4",
	download.HintRepairPart: "download only the damaged parts with --repair",
	download.HintRepairAll:  "download the whole file again with --repair",
}

// Of returns the hint of an error, with the flags of the command. See [Problem] for errors without a hint.
func Of(e *download.Error) string {
	if e.Hint == download.HintFolder {
		return "resume there with -d " + filepath.Dir(e.Part)
	}
	if objectstore.IsURL(e.Where) && (e.Hint == download.HintRepair || e.Hint == download.HintRepairPart ||
		e.Hint == download.HintRepairAll) {
		return "objects cannot be repaired; replace the object with braid get --overwrite -o " + e.Where + " URL"
	}
	if hint, ok := flagHints[e.Hint]; ok {
		return hint
	}
	return string(e.Hint)
}

// Hints for signatures that are not accepted.
const (
	hintNoSignature = "this is not the signature of a file; give another one with --signature FILE|URL, or ask the publisher"
	hintExpiredKey  = "the publisher may have a newer key; for archives, --allow-expired-key accepts signatures by keys " +
		"that have expired since"
	hintWeak = "ask the publisher for a stronger signature: with SHA-256 or better, " +
		"by a key of Ed25519, of ECDSA, or of RSA with 2048 bits or more"
	hintNoRoot       = "give the trusted root certificates with --smime-ca FILE, in PEM"
	hintExpiredCert  = "check the clock of this machine, or ask the publisher for a signature by a certificate that is valid now"
	hintNotTheSigned = "this is not the file that was signed: " +
		"it was changed, or the signature is of another version; ask the publisher"
)

var signatureHints = map[verify.SignatureCode]string{
	verify.SignatureMissing: hintNoSignature, verify.SignatureNotOfFile: hintNoSignature,
	verify.SignatureMalformed:   hintNoSignature,
	verify.SignatureUnsupported: hintNoSignature, verify.SignatureKeyExpired: hintExpiredKey, verify.SignatureWeak: hintWeak,
	verify.SignatureBad: hintNotTheSigned, verify.SignatureNoCertificate: hintNoRoot, verify.SignatureNoChain: hintNoRoot,
	verify.SignatureCertificateExpired: hintExpiredCert, verify.SignatureCertificateNotYetValid: hintExpiredCert,
}

// hintForSignature returns the hint for a signature's error. It returns "" if the hint for the error's kind suffices.
func hintForSignature(err error) string {
	if e, ok := errors.AsType[*verify.SignatureError](err); ok {
		return signatureHints[e.Code]
	}
	return ""
}
