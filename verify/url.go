package verify

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// OfURL returns the digests that the text of u has of its file. They are in the fragment, as #sha256=HEX or as
// #sha256-BASE64 (Subresource Integrity), or at the end of the path, in stores that name files by their content:
// /v2/NAME/blobs/sha256:HEX (OCI Distribution Specification), /by-hash/SHA256/HEX (Debian's repositories),
// /.well-known/ni/sha-256/BASE64URL (RFC 6920, section 4). They are claims of the author of the URL. A fragment that
// names an algorithm without a valid digest is an error.
func OfURL(u *url.URL) (digests []Digest, err error) {
	for part := range strings.SplitSeq(u.Fragment, "&") {
		d, ok, err := ParseIntegrity(part)
		if name, digits, cut := strings.Cut(part, "="); !ok && cut {
			var alg Algorithm
			if alg, ok = ParseAlgorithm(name); ok {
				d, err = ParseHex(alg, digits)
			}
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("its fragment: %w", err)
		case ok:
			digests = append(digests, d)
		}
	}
	if d, ok := ofPath(u.Path); ok {
		digests = append(digests, d)
	}
	return digests, nil
}

// ParseIntegrity parses sha256-BASE64 or sha512-BASE64 (W3C Subresource Integrity, section 3.5). It reports whether s
// has that form. It returns an error if the value is not base64 of the right length.
func ParseIntegrity(s string) (d Digest, ok bool, err error) {
	name, value, ok := strings.Cut(s, "-")
	if !ok || name != "sha256" && name != "sha512" {
		return Digest{}, false, nil
	}
	alg, _ := ParseAlgorithm(name)
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return Digest{}, true, fmt.Errorf("%v is not base64", alg)
	}
	d, err = NewDigest(alg, raw)
	return d, true, err
}

// ofPath parses a digest at the end of a path. It ignores names that only resemble one.
func ofPath(p string) (d Digest, ok bool) {
	dir, last := path.Split(p)
	before, kind := path.Dir(path.Clean(dir)), path.Base(dir)
	var err error
	switch {
	case kind == "blobs" && strings.HasPrefix(p, "/v2/"):
		d, err = parseOCI(last)
	case strings.HasSuffix(before, "/by-hash"):
		var alg Algorithm
		if alg, ok = ParseAlgorithm(strings.TrimSuffix(kind, "Sum")); !ok {
			return Digest{}, false
		}
		d, err = ParseHex(alg, last)
	case before == "/.well-known/ni" && kind == "sha-256":
		var raw []byte
		if raw, err = base64.RawURLEncoding.Strict().DecodeString(last); err == nil {
			d, err = NewDigest(SHA256, raw)
		}
	}
	return d, err == nil && !d.IsZero()
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
