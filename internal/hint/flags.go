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
	download.HintSigners: "give one with --key FILE",
	download.HintSignature: "--signature FILE|URL names one, --checksums LIST a signed list; " +
		"braid trust shows the URLs that need one",
	download.HintDigest:        "give a checksum with --sha256 HEX",
	download.HintDigestOrList:  "give a checksum with --sha256 HEX or --checksums LIST, or accept less with --require none",
	download.HintGiveDigest:    "give --sha256, or leave out --require digest",
	download.HintAllowOlder:    "give its checksum with --sha256 HEX, or accept the server's file with --allow-older",
	download.HintTorrentDigest: "give a checksum of the whole file with --sha256 HEX",
	download.HintListed:        "give the digest itself with --checksum ALGORITHM=HEX, for a file of any name",
	download.HintLessProof:     "--allow-less-proof continues without it and forgets the promise",
	download.HintEvidence:      "give a digest or a trusted key with --sha256 HEX, --checksums LIST or --key FILE",
	download.HintAnyEvidence:   "give evidence with --from URL|FILE.meta4, --sha256 HEX, --checksums LIST or --key FILE",
	download.HintUnsealed: "nothing shows that the journal beside the part file belongs to one of your downloads: " +
		"give a checksum with --sha256 HEX",
	download.HintUnproven: "the server sends neither a digest nor a strong ETag with the file, " +
		"so the rest may be of another file: --continue resumes if size, date and samples match",
	download.HintForget: "the server sent this digest in an earlier run, but not in this one: give a checksum " +
		"with --sha256 HEX, or run braid parts remove FILE to forget the digest and start over",
	download.HintRefresh:     "--continue resumes if size and samples match",
	download.HintAnew:        "without --refresh braid sets aside the received part and starts over",
	download.HintName:        "give -o NAME",
	download.HintNameIt:      "-o NAME names the file",
	download.HintShorterName: "give a shorter one with -o NAME",
	download.HintSelect:      "choose one with --select NAME",
	download.HintExists:      "--overwrite replaces it once the new one is verified; -o NAME takes another name",
	download.HintLimit:       "set another limit with --max-size",
	download.HintPipe: "mirrors that may have a different file were left out; " +
		"with -o NAME they are used, because wrong bytes in a file can be replaced",
	download.HintMirror:     "name a mirror with --mirror URL",
	download.HintNoLookup:   "--no-lookup accepts it unverified",
	download.HintPlain:      "--no-metalink saves it as it is",
	download.HintFTP:        "leave out --no-ftp",
	download.HintFrom:       "name its source with --from URL|FILE.meta4",
	download.HintFetch:      "download it with braid get",
	download.HintRepair:     "repair it with --repair --from URL|FILE.meta4",
	download.HintRepairPart: "--repair fetches the damaged parts",
	download.HintRepairAll:  "--repair fetches all of it again",
}

// Of returns the hint of an error, with the flags of the command. See [Problem] for errors without a hint.
func Of(e *download.Error) string {
	if e.Hint == download.HintFolder {
		return "resume there with -d " + filepath.Dir(e.Part)
	}
	if objectstore.IsURL(e.Where) && (e.Hint == download.HintRepair || e.Hint == download.HintRepairPart ||
		e.Hint == download.HintRepairAll) {
		return "an object is not repaired; braid get --overwrite -o " + e.Where + " URL replaces it"
	}
	if hint, ok := flagHints[e.Hint]; ok {
		return hint
	}
	return string(e.Hint)
}

// Hints for signatures that are not accepted.
const (
	hintNoSignature = "this is not the signature of a file; --signature FILE|URL names another, or ask the publisher"
	hintExpiredKey  = "--allow-expired-key accepts signatures by keys that have expired since, for archives; " +
		"a newer key may be published"
	hintWeak = "ask the publisher for a stronger signature: with SHA-256 or better, " +
		"by a key of Ed25519, of ECDSA, or of RSA with 2048 bits or more"
	hintNoRoot      = "give the trusted root certificates with --smime-ca FILE, in PEM"
	hintExpiredCert = "ask the publisher for a signature by a certificate that is valid now; " +
		"and check the clock of this machine"
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

// hintForSignature returns the hint for a signature's error. It returns "" if the hint of the error's kind is as good.
func hintForSignature(err error) string {
	if e, ok := errors.AsType[*verify.SignatureError](err); ok {
		return signatureHints[e.Code]
	}
	return ""
}
