package job

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
	"braid/verify"
	"braid/verify/signatures"
)

// Anchors holds the options that name trusted keys and certificates, and where to find signatures.
type Anchors struct {
	Key             option.WordsValue // keys and certificates of any kind: paths of files, or the text of a key
	Keyring, Pin    option.WordsValue
	SMIMECA         option.WordsValue
	Signature       option.WordsValue
	AllowExpiredKey bool
}

// NamesOne reports whether --signature names a path or URL. Such a signature can only be that of one file.
func (a *Anchors) NamesOne() bool {
	return slices.ContainsFunc(a.Signature, func(word string) bool { return !isSuffix(word) })
}

// isSuffix reports whether word, a value of --signature, is a suffix such as ".asc" and not a path.
func isSuffix(word string) bool { return strings.HasPrefix(word, ".") && !strings.Contains(word, "/") }

// Given reports whether the options name any trusted key or certificate.
func (a *Anchors) Given() bool {
	return len(a.Key)+len(a.Keyring)+len(a.Pin)+len(a.SMIMECA) > 0
}

// RequireKeys returns an error if r requires a signature but trusts no key or certificate. The download of r could only fail.
func RequireKeys(r *download.Request) error {
	if r.Trust.Require != download.RequireSignature || r.Trust.Anchors.Any() {
		return nil
	}
	return &problem.Problem{
		Kind: download.NoEvidence, What: "verify", Where: "--require signature",
		Why:  "no key or certificate is trusted",
		Hint: "give the trusted keys or root certificates with --key FILE",
	}
}

// of returns the values of option that name key files.
func (a *Anchors) of(option string) []string {
	switch option {
	case "keyring":
		return a.Keyring
	case "smime-ca":
		return a.SMIMECA
	}
	return nil
}

// Load reads the files that the options name, and returns the keys and certificates in them.
func (a *Anchors) Load() (out download.Anchors, err error) {
	files := keyFiles{}
	for _, option := range signatures.Options() {
		for _, path := range a.of(option) {
			if err := files.read(option, path); err != nil {
				return nil, err
			}
		}
	}
	for _, word := range a.Key {
		if err := files.sniff(word); err != nil {
			return nil, err
		}
	}
	return files.anchors(a.Pin, a.AllowExpiredKey)
}

// keyFiles has the key files that were read, by the kind of their keys.
type keyFiles map[*verify.SignatureKind][]keyFile

// A keyFile is a key file, and where the user named it: an option and its value.
type keyFile struct {
	verify.KeyFile
	where string
}

// anchors returns the keys and certificates in all files. pins are the fingerprints of --pin.
func (all keyFiles) anchors(pins []string, allowExpired bool) (out download.Anchors, err error) {
	for _, kind := range signatures.All() {
		keys, where := verify.Keys{Pins: pins, AllowExpired: allowExpired}, []string{}
		for _, f := range all[kind] {
			keys.Files, where = append(keys.Files, f.KeyFile), append(where, f.where)
		}
		t, err := kind.NewTrust(keys)
		if err != nil {
			return nil, wrongKeys(err, strings.Join(where, ", "))
		}
		if t.Any() {
			out = append(out, t)
		}
	}
	return out, nil
}

// read adds the file at path, a value of option. Several kinds of keys may share an option.
func (all keyFiles) read(option, path string) error {
	data, err := ReadFile("--"+option, path, mostKeyring)
	if err != nil {
		return err
	}
	f := keyFile{verify.KeyFile{Name: path, Data: data}, "--" + option + " " + path}
	return all.add(signatures.OfKeys(option, data), f, false)
}

// sniff adds the key in word, a value of --key.
func (all keyFiles) sniff(word string) error {
	data, err := readKey("--key", word)
	if err != nil {
		return err
	}
	return all.sniffed("--key", word, data)
}

// readKey returns the key in word, the value of flag: the text of a key, or else the path of a file with a key.
func readKey(flag, word string) ([]byte, error) {
	if IsKey(word) {
		return []byte(word), nil
	}
	data, err := ReadFile(flag, word, mostKeyring)
	if err != nil && (strings.ContainsRune(word, '\n') || len(word) > longestShown) { // word may be a secret
		return nil, problem.Misuse(flag, "is neither a public key nor the path of one", "")
	}
	return data, err
}

// sniffed adds data, the key or keys of one kind that word, the value of flag, stands for.
func (all keyFiles) sniffed(flag, word string, data []byte) error {
	kind, ok := signatures.Sniff(data)
	where := strings.TrimSpace(flag + " " + word)
	if strings.ContainsRune(word, '\n') { // the text of a key
		where = flag
	}
	switch {
	case bytes.Contains(data, []byte("PRIVATE KEY")):
		return problem.Misuse(where, "is a private key, not a public one",
			"give the public key, which checks signatures; the key of a client certificate belongs in --client-key FILE")
	case !ok:
		return problem.Misuse(where, "the file has no keys, or keys of several kinds",
			"give a file of keys of one kind (OpenPGP, minisign, signify or SSH), or of certificates of authorities in PEM")
	}
	return all.add(kind, keyFile{verify.KeyFile{Name: word, Data: data}, where}, true)
}

// add adds f, a file with keys of the given kind, if the keys can be used.
func (all keyFiles) add(kind *verify.SignatureKind, f keyFile, sniffed bool) error {
	if _, err := kind.NewTrust(verify.Keys{Files: []verify.KeyFile{f.KeyFile}, Sniffed: sniffed, Part: true}); err != nil {
		return wrongKeys(err, f.where)
	}
	all[kind] = append(all[kind], f)
	return nil
}

// longestShown is the maximum length in bytes of a value of --key that an error may show. The text of a secret key is longer.
const longestShown = 160

// IsKey reports whether word, a value of --key, is the text of a key rather than the path of a file.
func IsKey(word string) bool {
	kind, ok := signatures.Sniff([]byte(word))
	if !ok {
		return false
	}
	_, err := kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Data: []byte(word)}}, Sniffed: true, Part: true})
	return err == nil
}

// wrongKeys converts err, the error for keys that cannot be used, to a problem. where is where the user named the keys.
func wrongKeys(err error, where string) error {
	e, ok := errors.AsType[*verify.KeyError](err)
	if !ok {
		return err
	}
	if e.Option == "pin" {
		where = "--" + e.Where()
	}
	return problem.Misuse(where, e.Why, e.Hint)
}

const mostKeyring = 64 << 20

// SignaturesFor returns the signatures that the user named for the file at u.
func (a *Anchors) SignaturesFor(u *url.URL) ([]download.Signature, error) {
	return a.named(func(ending string) (download.Signature, error) { return download.Beside(u, ending), nil })
}

// SignaturesBeside returns the signatures that --signature names for the file at path. If it names none, the result is
// the first signature that exists beside the file with one of the endings.
func (a *Anchors) SignaturesBeside(path string, endings []string) ([]download.Signature, error) {
	beside := func(ending string) (download.Signature, error) { return signatureAt(path + ending) }
	if len(a.Signature) > 0 {
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

// named returns the signatures that --signature names. For a suffix, it calls beside.
func (a *Anchors) named(beside func(ending string) (download.Signature, error)) (out []download.Signature, err error) {
	for _, word := range a.Signature {
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

// signatureAt returns the signature at word, a URL or a path.
func signatureAt(word string) (download.Signature, error) {
	if IsURL(word) {
		u, err := ParseURL(word)
		return download.Signature{From: source.Mask(u), URL: u}, err
	}
	data, err := ReadFile("--signature", word, verify.MaxSignature)
	return download.Signature{From: word, Data: data}, err
}

// ReadFile reads the file at path, a value of flag. A file of more than most bytes is an error.
func ReadFile(flag, path string, most int64) ([]byte, error) {
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
		return nil, problem.Misuse(flag+" "+path, "has more than "+option.SizeText(most), "")
	}
	return data, nil
}
