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
	download.HintSigners: "--key FILE names one",
	download.HintSignature: "--signature FILE|URL names one, --checksums LIST a signed list; " +
		"braid trust shows the URLs that need one",
	download.HintDigest:        "give a checksum with --sha256 HEX",
	download.HintDigestOrList:  "give a checksum with --sha256 HEX or --checksums LIST, or accept less with --require none",
	download.HintGiveDigest:    "give --sha256, or leave out --require digest",
	download.HintAllowOlder:    "--sha256 HEX says what it is; --allow-older takes the server's",
	download.HintTorrentDigest: "--sha256 HEX is what a torrent lacks",
	download.HintListed:        "--checksum ALGORITHM=HEX takes a digest whatever name it stands beside",
	download.HintLessProof:     "--allow-less-proof goes on without, and forgets the promise",
	download.HintEvidence:      "--sha256 HEX, --checksums LIST or --key FILE say what it should be",
	download.HintAnyEvidence:   "--from URL|FILE.meta4, --sha256 HEX, --checksums LIST or --key FILE say it",
	download.HintUnsealed: "nothing shows that the journal beside the part file is of a download of yours: " +
		"--sha256 HEX says what the file is",
	download.HintUnproven: "the server sends neither a digest nor a strong ETag with the file, " +
		"so nothing shows that the rest would be of the same file: " +
		"--continue goes on if size, date and samples are the same",
	download.HintForget: "the server stated this digest in an earlier run and not in this one: " +
		"--sha256 HEX says what the file is; braid parts remove FILE forgets the digest, and begins anew",
	download.HintRefresh:     "--continue goes on if size and samples are the same",
	download.HintAnew:        "without --refresh it begins anew, and sets aside what is here",
	download.HintName:        "give -o NAME",
	download.HintNameIt:      "-o NAME names the file",
	download.HintShorterName: "-o NAME takes a shorter one",
	download.HintSelect:      "--select NAME chooses one",
	download.HintExists:      "--overwrite replaces it once the new one is verified; -o NAME takes another name",
	download.HintLimit:       "--max-size sets another limit",
	download.HintPipe: "mirrors that nothing ties to the server's file were left out; " +
		"into a file (-o NAME) they are used, as wrong bytes can be fetched again there",
	download.HintMirror:     "--mirror URL names another place",
	download.HintNoLookup:   "--no-lookup takes it as it is, unverified",
	download.HintPlain:      "--no-metalink saves it as it is",
	download.HintFTP:        "leave out --no-ftp",
	download.HintFrom:       "--from URL|FILE.meta4 says it",
	download.HintFetch:      "braid get fetches it",
	download.HintRepair:     "--repair --from URL|FILE.meta4 mends it",
	download.HintRepairPart: "--repair fetches what is damaged",
	download.HintRepairAll:  "--repair fetches it anew",
}

// Of returns the hint that an error names, with the flags of the command. See [Problem] for errors that name none.
func Of(e *download.Error) string {
	if e.Hint == download.HintFolder {
		return "-d " + filepath.Dir(e.Part) + " goes on from there"
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
	hintNoSignature = "what is there is no signature of a file; --signature FILE|URL names another, or ask those who publish it"
	hintExpiredKey  = "--allow-expired-key takes signatures by keys that have expired since, for archives; " +
		"a newer key may be published"
	hintWeak = "ask those who publish it for a signature that counts: with SHA-256 or better, " +
		"by a key of Ed25519, of ECDSA, or of RSA with 2048 bits or more"
	hintNoRoot      = "--smime-ca FILE has the root certificates that count, in PEM"
	hintExpiredCert = "ask those who publish it for a signature by a certificate that is valid now; " +
		"and check the clock of this machine"
	hintNotTheSigned = "this is not the file that was signed: " +
		"it was changed, or the signature is of another version; ask those who publish it"
)

var signatureHints = map[verify.SignatureCode]string{
	verify.SignatureMissing: hintNoSignature, verify.SignatureNotOfFile: hintNoSignature,
	verify.SignatureMalformed:   hintNoSignature,
	verify.SignatureUnsupported: hintNoSignature, verify.SignatureKeyExpired: hintExpiredKey, verify.SignatureWeak: hintWeak,
	verify.SignatureBad: hintNotTheSigned, verify.SignatureNoCertificate: hintNoRoot, verify.SignatureNoChain: hintNoRoot,
	verify.SignatureCertificateExpired: hintExpiredCert, verify.SignatureCertificateNotYetValid: hintExpiredCert,
}

// hintForSignature returns the hint for a signature's error, or "" if that of the kind is as good.
func hintForSignature(err error) string {
	if e, ok := errors.AsType[*verify.SignatureError](err); ok {
		return signatureHints[e.Code]
	}
	return ""
}
