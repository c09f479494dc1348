package cli

import (
	"crypto/x509"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/download"
	"braid/internal/problem"
	"braid/source"
	"braid/verify/openpgp"
	"braid/verify/smime"
)

// anchorFlags say who may sign files, and where signatures are.
type anchorFlags struct {
	Keyring, Pin    cli.StringSlice
	SMIMECA         cli.StringSlice
	Signature       cli.StringSlice
	AllowExpiredKey bool
}

// names reports whether a signature is named that can be of one file only.
func (a *anchorFlags) names() bool {
	return slices.ContainsFunc(a.Signature.Value(), func(word string) bool { return !isSuffix(word) })
}

// isSuffix tells ".asc" from a path.
func isSuffix(word string) bool { return strings.HasPrefix(word, ".") && !strings.Contains(word, "/") }

// given reports whether the user trusts a key or certificate.
func (a *anchorFlags) given() bool {
	return len(a.Keyring.Value())+len(a.Pin.Value())+len(a.SMIMECA.Value()) > 0
}

// requireKeys refuses at once what could not succeed: a signature is demanded, and no key or certificate is trusted (rule 51).
func requireKeys(r *download.Request) error {
	if r.Require != download.RequireSignature || r.Anchors.Any() {
		return nil
	}
	return &problem.Problem{
		Kind: download.NoEvidence, What: "verify", Where: "--require signature",
		Why:  "no key or certificate is trusted",
		Hint: "--keyring FILE has the keys that count, --pin names some of them, --smime-ca FILE has root certificates",
	}
}

func (a *anchorFlags) anchors() (out download.Anchors, err error) {
	out.AllowExpiredKey = a.AllowExpiredKey
	var exports [][]byte
	for _, path := range a.Keyring.Value() {
		data, err := readSmall("--keyring", path, mostKeyring)
		if err != nil {
			return out, err
		}
		if _, err := openpgp.ParseKeyring(data); err != nil { // by itself, so that it can be named
			return out, problem.Misuse("--keyring "+path, err.Error(), "gpg --export FINGERPRINT writes one")
		}
		exports = append(exports, data)
	}
	if len(exports) > 0 {
		if out.Keys, err = openpgp.ParseKeyring(exports...); err != nil {
			return out, problem.Misuse("--keyring", err.Error(), "")
		}
	}
	for _, word := range a.Pin.Value() {
		f, err := openpgp.ParseFingerprint(word)
		if err != nil {
			return out, problem.Misuse("--pin", err.Error(), "gpg --fingerprint shows it")
		}
		out.Pins = append(out.Pins, f)
	}
	if len(out.Pins) > 0 && out.Keys.Len() == 0 {
		return out, problem.Misuse("--pin", "says which key counts, and there is none", "--keyring FILE has the keys")
	}
	out.Roots, err = a.roots()
	return out, err
}

func (a *anchorFlags) roots() (out []*x509.Certificate, err error) {
	for _, path := range a.SMIMECA.Value() {
		data, err := readSmall("--smime-ca", path, mostKeyring)
		if err != nil {
			return nil, err
		}
		roots, err := smime.ParseRoots(data)
		if err != nil {
			return nil, problem.Misuse("--smime-ca", path+": "+err.Error(), "a file of certificates in PEM")
		}
		out = append(out, roots...)
	}
	return out, nil
}

const mostKeyring = 64 << 20

// signaturesFor are the signatures of the file at u that the user names.
func (a *anchorFlags) signaturesFor(u *url.URL) ([]download.Signature, error) {
	return a.named(func(ending string) (download.Signature, error) { return download.Beside(u, ending), nil })
}

// signaturesBeside are the signatures of a file on disk that the user names or, if that is none, the first one that lies
// beside it, with one of the endings.
func (a *anchorFlags) signaturesBeside(path string, endings []string) ([]download.Signature, error) {
	beside := func(ending string) (download.Signature, error) { return signatureAt(path + ending) }
	if len(a.Signature.Value()) > 0 {
		return a.named(beside)
	}
	for _, ending := range endings {
		if _, err := os.Stat(path + ending); err == nil {
			sig, err := beside(ending)
			return []download.Signature{sig}, err
		}
	}
	return nil, nil
}

// named are the signatures that the user names; beside finds those that are named by what is behind the name of the file.
func (a *anchorFlags) named(beside func(ending string) (download.Signature, error)) (out []download.Signature, err error) {
	for _, word := range a.Signature.Value() {
		find := signatureAt
		if isSuffix(word) {
			find = beside
		}
		sig, err := find(word)
		if err != nil {
			return nil, err
		}
		out = append(out, sig)
	}
	return out, nil
}

// signatureAt is the signature that a word names: a URL or a path.
func signatureAt(word string) (download.Signature, error) {
	if isWebAddress(word) {
		u, err := placeURL(word)
		return download.Signature{From: source.Mask(u), URL: u}, err
	}
	data, err := readSmall("--signature", word, smime.MaxSize)
	return download.Signature{From: word, Data: data}, err
}

// readSmall reads a file that a flag names.
func readSmall(flag, path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &problem.Problem{
			Kind: download.Usage, What: "usage", Where: flag + " " + path, Why: problem.Reason(err),
		}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, &problem.Problem{
			Kind: download.Usage, What: "usage", Where: flag + " " + path, Why: problem.Reason(err),
		}
	case int64(len(data)) > most:
		return nil, problem.Misuse(flag+" "+path, "has more than "+sizeText(most), "")
	}
	return data, nil
}
