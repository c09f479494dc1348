package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"braid/address"
	"braid/download"
	"braid/internal/partfile"
	"braid/internal/problem"
	"braid/metalink/metainfo"
	"braid/objectstore"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// kindHints are the default hints by kind.
var kindHints = map[download.Kind]string{
	download.Network:      "check the address and the network",
	download.Auth:         "-u USER:PASSWORD gives credentials",
	download.Mismatch:     "the server has another file than the one that was asked for",
	download.NoEvidence:   "give a checksum with --sha256 HEX",
	download.NoKey:        "--keyring FILE has the keys that count, --pin those of them",
	download.BadSignature: "this is not the file that was signed, or the signature does not count any more; ask those who publish it",
	download.Limit:        "--max-size SIZE sets the limit",
}

// ownWay has the kinds of problems for which the same command would not resume the download.
var ownWay = map[download.Kind]bool{download.NoKey: true, download.BadSignature: true, download.Limit: true}

// downloadProblem makes a problem of an error of a download, with what was kept and a hint about the flags of
// the command. The context is that of the command.
func downloadProblem(ctx context.Context, err error) *problem.Problem {
	e, ok := errors.AsType[*download.Error](err)
	if !ok {
		return problemOf(ctx, err)
	}
	p := problem.OfDownload(e)
	p.Hint = hintOf(e)
	if ended := endedBy(e.Err); ended != "" {
		p.Why = ended
	}
	if signal := signalOf(ctx); signal != nil && e.Kind == download.Interrupted {
		p.Err = errors.Join(e, signal)
	}
	if _, late := errors.AsType[*timeUpError](context.Cause(ctx)); late && e.Kind == download.Interrupted {
		p.Kind = download.Network // rule 21: nothing was kept to resume
		if e.Kept > 0 {
			p.Kind = download.Budget
		}
	}
	if e.What == "select" {
		p.What, p.Where = "usage", "--select"
	}
	tellKept(p, e)
	if p.Hint == "" {
		p.Hint = hintFor(e)
	}
	return p
}

// tellKept adds to a problem what was kept of the file, and a hint for resuming the download.
func tellKept(p *problem.Problem, e *download.Error) {
	switch {
	case e.Kept > 0 && e.Part != "":
		p.Kept = sizeText(e.Kept) + " " + keptIn(e)
		if first := hintFirst(e); p.Hint == "" && first != "" {
			p.Hint = first + "; then the same command goes on"
		} else if p.Hint == "" && !ownWay[e.Kind] {
			p.Hint = "run the same command to go on"
			if errors.Is(e, syscall.ENOSPC) || errors.Is(e, syscall.EDQUOT) {
				p.Hint = roomBy(e.Part) + ", then " + p.Hint
			}
		}
	// of a document or a list nothing is kept
	case e.Kind != download.Usage && e.Kind != download.Local && e.What != "read":
		p.Kept = "nothing kept"
	}
}

// roomBy returns a hint for freeing disk space. A file that was set aside is the least useful one.
func roomBy(part string) string {
	if info, err := os.Lstat(part + ".bad"); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return "make room, as by removing " + part + ".bad (" + sizeText(info.Size()) + ", set aside)"
	}
	return "make room"
}

// hintFor returns the hint for an error after which the same command cannot resume the download.
func hintFor(e *download.Error) string {
	if use, ok := errors.AsType[*partfile.InUseError](e); ok && use != nil {
		return "wait for it, or take another name with -o"
	}
	if name, ok := errors.AsType[*partfile.NameError](e); ok && name != nil {
		return "-o takes another name; -o - writes to a program or a device"
	}
	if errors.Is(e, fs.ErrNotExist) && e.Kind == download.Local {
		return "-d FOLDER makes the folder"
	}
	if errors.Is(e, syscall.ENOSPC) {
		part := e.Part
		if space, ok := errors.AsType[*partfile.SpaceError](e); ok {
			part = space.Path
		}
		return roomBy(part) + ", or choose another folder with -d"
	}
	if e.Kind == download.TLS {
		return hintForTLS(e)
	}
	if hint := cmp.Or(hintForSignature(e), hintForPlain(e)); hint != "" {
		return hint
	}
	if hint := hintFirst(e); hint != "" {
		return hint
	}
	if torrent, ok := errors.AsType[*metainfo.Error](e); ok && torrent.Unsupported {
		return "a torrent of version 1 or of both, or a Metalink document, can be read"
	}
	if src, ok := errors.AsType[*source.Error](e); e.What == "read" && e.Kind == download.Protocol && (!ok || src == nil) {
		return "it is damaged, or something else; where it comes from there may be a better one"
	}
	if near, ok := errors.AsType[*address.Error](e); ok {
		if near.Excluded != "" {
			return "--not-host " + near.Excluded + " excludes it"
		}
		return "--allow-host " + near.Addr.String() + " connects to it all the same"
	}
	src, ok := errors.AsType[*source.Error](e)
	if ok && src.Fault == source.FaultLimit { // a limit on what servers may send, which no flag changes
		return ""
	}
	if !ok || e.Kind != download.Refused {
		return kindHints[e.Kind]
	}
	switch {
	case src.Status == http.StatusTooManyRequests || src.Status >= 500:
		return "the server is unavailable (" + strconv.Itoa(src.Status) + "): try again later"
	case src.Status >= 400:
		return "check the URL"
	}
	return ""
}

// hintFirst returns the hint for a change without which the same command would fail again, or "".
func hintFirst(e *download.Error) string {
	if errors.Is(e, httpsource.ErrDowngrade) {
		return "--allow-downgrade follows it; then the file may have been changed on the way, unless --sha256 HEX says otherwise"
	}
	if src, ok := errors.AsType[*source.Error](e); ok && src.Status == http.StatusProxyAuthRequired {
		return "it is the proxy that asks: http_proxy and https_proxy may be http://USER:PASSWORD@HOST:PORT"
	}
	if e.Kind == download.Auth {
		if src, ok := errors.AsType[*source.Error](e); ok && src.Told {
			return "the server was told a name and a password, and takes others: check those of -u, of the URL or of ~/.netrc"
		}
		return kindHints[download.Auth]
	}
	return ""
}

// hintForPlain returns the hint for HTTP on a port for TLS. Some servers answer it with status 400, some with
// a TLS alert (RFC 8446, section 6: 21 is the type of its record), some close the connection.
func hintForPlain(e *download.Error) string {
	src, ok := errors.AsType[*source.Error](e)
	switch {
	case !ok || !strings.HasPrefix(e.Where, "http://"):
		return ""
	case strings.Contains(src.Error(), `malformed HTTP response "\x15\x03`):
		return "the server speaks TLS there: is it https://?"
	case src.Status == http.StatusBadRequest:
		return "check the URL; a port for https answers so: is it https://?"
	case src.Status == 0 && errors.Is(src, io.EOF):
		return "check the address and the network; a port for https may end so: is it https://?"
	}
	return ""
}

// hintForTLS returns the hint for a server that could not prove its identity.
func hintForTLS(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "--cacert FILE names further authorities; --insecure HOST does without, for one host"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for a different host: check the address"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "check the clock of this machine; else the server needs a new certificate"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS there: is it http://, or another port?"
	}
	return ""
}

// endedBy returns the text of the signal or the time limit in the chain of err; "" if neither is in it.
func endedBy(err error) string {
	text := ""
	if e, ok := errors.AsType[*signalError](err); ok {
		text = e.Error()
	} else if e, ok := errors.AsType[*timeUpError](err); ok {
		text = e.Error()
	}
	if moved, ok := errors.AsType[*partfile.MovedError](err); ok && text != "" { // the part file was moved
		text += "; " + moved.Error()
	}
	return text
}

// flagHints maps the hints of package download to texts with the flags of the command.
var flagHints = map[download.Hint]string{
	download.HintSigners:       "--keyring FILE or --smime-ca FILE names one",
	download.HintSignature:     "--signature FILE|URL names one",
	download.HintDigest:        "give a checksum with --sha256 HEX",
	download.HintDigestOrList:  "give a checksum with --sha256 HEX or --checksums LIST, or accept less with --require none",
	download.HintGiveDigest:    "give --sha256, or leave out --require digest",
	download.HintAllowOlder:    "--sha256 HEX says what it is; --allow-older takes the server's",
	download.HintTorrentDigest: "--sha256 HEX is what a torrent lacks",
	download.HintListed:        "--checksum ALGORITHM=HEX takes a digest whatever name it stands beside",
	download.HintLessProof:     "--allow-less-proof goes on without, and forgets the promise",
	download.HintEvidence:      "--sha256 HEX, --checksums LIST or --keyring FILE say what it should be",
	download.HintAnyEvidence:   "--from URL|FILE.meta4, --sha256 HEX, --checksums LIST or --keyring FILE say it",
	download.HintUnsealed:      "nothing shows that the journal beside the part file is of a download of yours: --sha256 HEX says what the file is",
	download.HintUnproven:      "the server gives neither a digest nor a strong ETag, so nothing shows that the rest would be of the same file: --continue goes on if size, date and samples are the same",
	download.HintRefresh:       "--continue goes on if size and samples are the same",
	download.HintAnew:          "without --refresh it begins anew, and sets aside what is here",
	download.HintName:          "give -o NAME",
	download.HintNameIt:        "-o NAME names the file",
	download.HintShorterName:   "-o NAME takes a shorter one",
	download.HintSelect:        "--select NAME chooses one",
	download.HintExists:        "--overwrite replaces it once the new one is verified; -o NAME takes another name",
	download.HintLimit:         "--max-size sets another limit",
	download.HintPipe:          "mirrors that nothing ties to the server's file were left out; into a file (-o NAME) they are used, as wrong bytes can be fetched again there",
	download.HintMirror:        "--mirror URL names another place",
	download.HintNoLookup:      "--no-lookup takes it as it is, unverified",
	download.HintPlain:         "--no-metalink saves it as it is",
	download.HintFTP:           "leave out --no-ftp",
	download.HintFrom:          "--from URL|FILE.meta4 says it",
	download.HintFetch:         "braid get fetches it",
	download.HintRepair:        "--repair --from URL|FILE.meta4 mends it",
	download.HintRepairPart:    "--repair fetches what is damaged",
	download.HintRepairAll:     "--repair fetches it anew",
}

// hintOf returns the hint of an error with the flags of the command.
func hintOf(e *download.Error) string {
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
	hintNoSignature  = "what is there is no signature of a file; --signature FILE|URL names another, or ask those who publish it"
	hintExpiredKey   = "--allow-expired-key takes signatures by keys that have expired since, for archives; a newer key may be published"
	hintWeak         = "ask those who publish it for a signature that counts: with SHA-256 or better, by a key of Ed25519, of ECDSA, or of RSA with 2048 bits or more"
	hintNoRoot       = "--smime-ca FILE has the root certificates that count, in PEM"
	hintExpiredCert  = "ask those who publish it for a signature by a certificate that is valid now; and check the clock of this machine"
	hintNotTheSigned = "this is not the file that was signed: it was changed, or the signature is of another version; ask those who publish it"
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
