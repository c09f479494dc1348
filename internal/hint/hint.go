// Package hint converts errors of downloads to problems. It adds what was kept of the file, and the next step with the
// flags of the command.
package hint

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"braid/address"
	"braid/download"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/source/httpsource"
)

// Problem converts an error of a download to a problem.
func Problem(e *download.Error) *problem.Problem {
	p := problem.OfDownload(e)
	p.Hint = Of(e)
	if e.What == "select" {
		p.What, p.Where = "usage", "--select"
	}
	tellKept(p, e)
	p.TellLeftOut()
	if p.Hint == "" {
		p.Hint = hintFor(e)
	}
	return p
}

// kindHints are the default hints by kind.
var kindHints = map[download.Kind]string{
	download.Network:    "check the address and the network",
	download.Auth:       "give a name and password with -u USER:PASSWORD",
	download.Mismatch:   "the server has a different file from the requested one",
	download.NoEvidence: "give a checksum with --sha256 HEX",
	download.NoKey: "give the trusted keys with --key FILE, and check --pin; for URLs that braid trust lists, only the " +
		"keys listed there are trusted",
	download.BadSignature: "this is not the file that was signed, or the signature is no longer valid; " +
		"ask the publisher",
	download.Limit: "set another limit with --max-size SIZE",
}

// ownWay has the kinds of problems for which the same command would not resume the download.
var ownWay = map[download.Kind]bool{download.NoKey: true, download.BadSignature: true, download.Limit: true}

// tellKept adds to a problem what was kept of the file, and how to resume the download.
func tellKept(p *problem.Problem, e *download.Error) {
	switch {
	case e.Kept > 0 && e.Part != "":
		p.Kept = option.SizeText(e.Kept) + " " + keptIn(e)
		if first := hintFirst(e); p.Hint == "" && first != "" {
			p.Hint = first + "; then repeat the command"
		} else if p.Hint == "" && !ownWay[e.Kind] {
			p.Hint = "run the same command to go on"
			if errors.Is(e, syscall.ENOSPC) || errors.Is(e, syscall.EDQUOT) {
				p.Hint = roomBy(e.Part) + ", then " + p.Hint
			}
		}
	// errors of the other kinds are about a document or a list, and nothing of it is kept
	case e.Kind != download.Usage && e.Kind != download.Local && e.What != "read":
		if p.Kept = "nothing kept"; len(e.Aside) > 0 {
			p.Kept += " but " + strings.Join(e.Aside, " and ") + ", which was set aside"
		} else if e.There != "" {
			p.Kept = e.There + " is unchanged"
		}
	}
}

// roomBy returns a hint for freeing disk space. A file that was set aside is the least useful file.
func roomBy(part string) string {
	if info, err := os.Lstat(part + ".bad"); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return "free some disk space, for example by removing " + part + ".bad (" + option.SizeText(info.Size()) + ", " +
			"set aside)"
	}
	return "free some disk space"
}

// hintFor returns the hint for an error after which the same command cannot resume the download.
func hintFor(e *download.Error) string {
	if use, ok := errors.AsType[*partfile.InUseError](e); ok && use != nil {
		return "wait for the other download, or choose another name with -o"
	}
	if newer, ok := errors.AsType[*partfile.NewerError](e); ok && newer != nil {
		return "update braid, or choose another name with -o"
	}
	if name, ok := errors.AsType[*partfile.NameError](e); ok && name != nil {
		return "choose another name with -o; to write to a program or a device, use -o -"
	}
	if errors.Is(e, fs.ErrNotExist) && e.Kind == download.Local {
		return "to create the folder, name it with -d FOLDER"
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
		return "get a torrent of BitTorrent version 1 or a Metalink document: version 2 alone is not supported"
	}
	if src, ok := errors.AsType[*source.Error](e); e.What == "read" && e.Kind == download.Protocol && (!ok || src == nil) {
		return "the file is damaged or in another format; get it again from its publisher"
	}
	if near, ok := errors.AsType[*address.Error](e); ok {
		if near.Excluded != "" {
			return "this address is excluded by --not-host " + near.Excluded
		}
		return "if you trust this address, allow it with --allow-host " + near.Addr.String()
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

// hintFirst returns the hint for a change that the user must make first, because the same command would fail again. It
// returns "" if the command needs no change.
func hintFirst(e *download.Error) string {
	if errors.Is(e, httpsource.ErrDowngrade) {
		return "follow the redirect to http with --allow-downgrade; anyone on the way can then change the file, unless " +
			"you give --sha256 HEX"
	}
	if src, ok := errors.AsType[*source.Error](e); ok && src.Status == http.StatusProxyAuthRequired {
		return "the proxy needs a name and password: set http_proxy and https_proxy to http://USER:PASSWORD@HOST:PORT"
	}
	if e.Kind == download.Auth {
		if src, ok := errors.AsType[*source.Error](e); ok && src.Told {
			return "the server rejected the name and password: check -u, the URL and ~/.netrc"
		}
		return kindHints[download.Auth]
	}
	return ""
}

// hintForPlain returns the hint for HTTP on a port for TLS. Some servers then send status 400, some send a TLS alert
// (RFC 8446, section 6: 21 is the type of its record), and some close the connection.
func hintForPlain(e *download.Error) string {
	src, ok := errors.AsType[*source.Error](e)
	switch {
	case !ok || !strings.HasPrefix(e.Where, "http://"):
		return ""
	case strings.Contains(src.Error(), `malformed HTTP response "\x15\x03`):
		return "the server speaks TLS on this port: write https://"
	case src.Status == http.StatusBadRequest:
		return "check the URL: if the server expects https, write https://"
	case src.Status == 0 && errors.Is(src, io.EOF):
		return "check the address and the network; if the server expects https, write https://"
	}
	return ""
}

// hintForTLS returns the hint for a server that could not prove its identity.
func hintForTLS(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "add an authority with --cacert FILE, or skip the check for one host with --insecure HOST"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for a different host: check the address"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "check the clock of this machine; if it is right, the server needs a new certificate"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS on this port: try http:// or another port"
	}
	return ""
}

// keptIn describes where the part of a file was kept.
func keptIn(e *download.Error) string {
	if objectstore.IsURL(e.Part) {
		return "uploaded to " + e.Part + ", but not visible until it is complete"
	}
	return "kept in " + e.Part
}
