package verify

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// OfURL returns the digests of the file at u that u itself contains. A digest is in the fragment, as #sha256=HEX or as
// #sha256-BASE64 (Subresource Integrity), or at the end of the path of a content-addressed store:
// /v2/NAME/blobs/sha256:HEX (OCI Distribution Specification), /by-hash/SHA256/HEX (Debian's repositories),
// /.well-known/ni/sha-256/BASE64URL (RFC 6920, section 4). The author of the URL claims these digests. A fragment or
// path of such a form that names an algorithm without a valid digest is an error.
func OfURL(u *url.URL) (digests []Digest, err error) {
	for part := range strings.SplitSeq(u.Fragment, "&") {
		d, ok, err := ofFragment(part)
		switch {
		case err != nil:
			return nil, fmt.Errorf("its fragment: %w", err)
		case ok:
			digests = append(digests, d)
		}
	}
	d, err := ofPath(u.Path)
	if err != nil {
		return nil, fmt.Errorf("its path: %w", err)
	}
	if !d.IsZero() {
		digests = append(digests, d)
	}
	return digests, nil
}

// ofFragment parses a part of a fragment. ok reports whether part names an algorithm. It is an error if no valid digest
// of that algorithm follows.
func ofFragment(part string) (d Digest, ok bool, err error) {
	if d, ok, err = ParseIntegrity(part); ok {
		return d, true, err
	}
	i := strings.IndexAny(part, "=:")
	if i < 0 {
		return d, false, nil
	}
	name := part[:i]
	switch alg, known := ParseAlgorithm(name); {
	case !known && looksLikeSHA(name):
		return d, true, unsupported(name)
	case !known:
		return d, false, nil
	case part[i] == ':':
		return d, true, fmt.Errorf("write %s=HEX", name)
	default:
		d, err = ParseHex(alg, part[i+1:])
		return d, true, err
	}
}

// looksLikeSHA reports whether name looks like the name of an algorithm, such as sha384, sha-384 or sha3-256.
func looksLikeSHA(name string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(name), "sha")
	rest = strings.TrimPrefix(rest, "-")
	return ok && rest != "" && '0' <= rest[0] && rest[0] <= '9'
}

// unsupported returns the error for a digest of the unsupported algorithm name.
func unsupported(name string) error {
	return fmt.Errorf("%s is not supported; %v and %v are", name, SHA256, SHA512)
}

// ParseIntegrity parses sha256-BASE64 or sha512-BASE64 (W3C Subresource Integrity, section 3.5). ok reports whether s
// has that form. A value that is not base64 of the right length is an error. So is sha384, which is not supported.
func ParseIntegrity(s string) (d Digest, ok bool, err error) {
	name, value, ok := strings.Cut(s, "-")
	name = strings.ToLower(name)
	if !ok || name != "sha256" && name != "sha384" && name != "sha512" {
		return Digest{}, false, nil
	}
	alg, known := ParseAlgorithm(name)
	if !known {
		return Digest{}, true, unsupported(name)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return Digest{}, true, fmt.Errorf("%v is not base64", alg)
	}
	d, err = NewDigest(alg, raw)
	return d, true, err
}

// ofPath parses the digest at the end of p if p is a path of a content-addressed store; see OfURL. For other paths it
// returns the zero Digest.
func ofPath(p string) (Digest, error) {
	if named, ok := strings.CutPrefix(p, "/.well-known/ni/"); ok {
		return parseNamed(named)
	}
	dir, last := path.Split(p)
	before, kind := path.Dir(path.Clean(dir)), path.Base(dir)
	switch {
	case last == "":
	case kind == "blobs" && strings.HasPrefix(p, "/v2/") && strings.Contains(last, ":"):
		return parseOCI(last)
	case strings.HasSuffix(before, "/by-hash"):
		if alg, ok := ParseAlgorithm(strings.TrimSuffix(kind, "Sum")); ok {
			return ParseHex(alg, last)
		}
	}
	return Digest{}, nil
}

// parseNamed parses ALGORITHM/VALUE of a named information URI (RFC 6920, section 4). Truncated digests are not supported.
func parseNamed(s string) (Digest, error) {
	name, value, _ := strings.Cut(s, "/")
	alg, ok := ParseAlgorithm(name)
	if !ok || !alg.Strong() || name != alg.String() {
		return Digest{}, unsupported(name)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil {
		return Digest{}, fmt.Errorf("%v is not base64url without padding", alg)
	}
	return NewDigest(alg, raw)
}

// WellKnownURL returns the https URL for a named information URI with an authority, ni://HOST/ALGORITHM;VALUE (RFC
// 6920, section 4). It returns any other text unchanged.
func WellKnownURL(s string) string {
	rest, ok := strings.CutPrefix(s, "ni://")
	host, named, slash := strings.Cut(rest, "/")
	algorithm, value, semicolon := strings.Cut(named, ";")
	if !ok || !slash || !semicolon || host == "" {
		return s
	}
	value, _, _ = strings.Cut(value, "?")
	return "https://" + host + "/.well-known/ni/" + algorithm + "/" + value
}
