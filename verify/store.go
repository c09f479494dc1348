package verify

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// A storeField is a header field of a store or forge that carries a digest of the whole stored file.
type storeField struct {
	name string // in canonical form
	// parse returns the digest in value. It returns no digest and no error if the field is not about the whole file, or
	// does not hold a digest of a supported algorithm.
	parse func(value string, header map[string][]string) (Digest, error)
}

// storeFields are the fields of stores that ReadHeader parses, besides the fields of RFC 3230 and RFC 9530.
var storeFields = [...]storeField{
	{"X-Checksum-Sha512", hexField(SHA512)}, // Artifactory, GitLab's package registry
	{"X-Checksum-Sha256", hexField(SHA256)},
	{linkedEtag, linkedTag},                 // Hugging Face, in the redirect to its object store
	{"X-Amz-Checksum-Sha256", amazonSHA256}, // S3 and compatible stores
	{"Docker-Content-Digest", ociDigest},    // OCI Distribution Specification 1.1, "Pulling blobs"
	{contentMD5, base64MD5},                 // RFC 1864
	{googleHash, googleMD5},                 // Google Cloud Storage
}

// StoreFieldNames returns the names of storeFields, and of the fields that qualify them, in canonical form.
func StoreFieldNames() []string {
	names := []string{linkedSize, amazonType, googleEncoding}
	for _, f := range storeFields {
		names = append(names, f.name)
	}
	return names
}

// The fields that qualify the value of another field.
const (
	linkedSize     = "X-Linked-Size"
	amazonType     = "X-Amz-Checksum-Type"
	googleEncoding = "X-Goog-Stored-Content-Encoding"
)

const (
	linkedEtag = "X-Linked-Etag"
	contentMD5 = "Content-Md5"
	googleHash = "X-Goog-Hash"
)

// DropPartial removes the fields with an MD5 from the header of a response, unless status is 200 (OK): they may be about
// a part of the file.
func DropPartial(header map[string][]string, status int) {
	if status != 200 {
		delete(header, contentMD5)
		delete(header, googleHash)
	}
}

// DropLinked removes X-Linked-Etag from the header of a response if X-Linked-Size is not size, the size of the file. It
// reports whether it removed the field. A negative size is unknown.
func DropLinked(header map[string][]string, size int64) bool {
	v := header[linkedSize]
	if size < 0 || len(header[linkedEtag]) == 0 || len(v) != 1 || v[0] == strconv.FormatInt(size, 10) {
		return false
	}
	delete(header, linkedEtag)
	return true
}

// FromStore reports whether c is from one of the storeFields. A strong claim is evidence, like a claim from Digest. But
// it is not an Instance Digest, so Link fields in the same response are ignored (RFC 6249, section 6).
func (c Claim) FromStore() bool {
	for _, f := range storeFields {
		if c.Field == f.name {
			return true
		}
	}
	return false
}

// stored parses the storeFields in header. A malformed value is no error, because no specification defines the fields.
func (a *answer) stored(header map[string][]string) error {
	for _, f := range storeFields {
		for _, line := range header[f.name] {
			value := trimOWS(line)
			d, err := f.parse(value, header)
			if err != nil {
				a.spoil(f.name, value, err.Error(), err)
				continue
			}
			if d.IsZero() {
				continue
			}
			if err := a.add(f.name, value, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func hexField(alg Algorithm) func(string, map[string][]string) (Digest, error) {
	return func(value string, _ map[string][]string) (Digest, error) { return ParseHex(alg, value) }
}

// linkedTag parses X-Linked-Etag, which is the SHA-256 of the file if the response also has X-Linked-Size. Otherwise
// the tag is not a SHA-256 of the file, and linkedTag returns no digest.
func linkedTag(value string, header map[string][]string) (Digest, error) {
	d, err := ParseHex(SHA256, strings.Trim(value, `"`))
	if err != nil || len(header[linkedSize]) != 1 || !number(header[linkedSize][0]) {
		return Digest{}, nil
	}
	return d, nil
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// amazonSHA256 parses base64. It skips the digest of digests that an object uploaded in parts may have: the value then
// contains "-", or the checksum type is not FULL_OBJECT.
func amazonSHA256(value string, header map[string][]string) (Digest, error) {
	if strings.Contains(value, "-") || len(header[amazonType]) > 0 &&
		!strings.EqualFold(trimOWS(header[amazonType][0]), "FULL_OBJECT") {
		return Digest{}, nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return Digest{}, errors.New("not base64")
	}
	return NewDigest(SHA256, raw)
}

// ociDigest parses Docker-Content-Digest, ALGORITHM:HEX. It skips unsupported and weak algorithms.
func ociDigest(value string, _ map[string][]string) (Digest, error) { return parseOCI(value) }

func parseOCI(value string) (Digest, error) {
	name, digits, ok := strings.Cut(value, ":")
	if !ok {
		return Digest{}, errors.New("no algorithm")
	}
	alg, ok := ParseAlgorithm(name)
	if !ok || !alg.Strong() {
		return Digest{}, nil
	}
	return ParseHex(alg, digits)
}

// base64MD5 parses Content-MD5, which finds only accidents.
func base64MD5(value string, _ map[string][]string) (Digest, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return Digest{}, errors.New("not base64")
	}
	return NewDigest(MD5, raw)
}

// googleMD5 parses X-Goog-Hash, ALGORITHM=BASE64, separated by commas. It skips other algorithms than MD5, and the digest
// of a file that is stored with an encoding, which the store may remove.
func googleMD5(value string, header map[string][]string) (Digest, error) {
	if e := header[googleEncoding]; len(e) > 0 && !strings.EqualFold(trimOWS(e[0]), "identity") {
		return Digest{}, nil
	}
	for element := range strings.SplitSeq(value, ",") {
		if digits, ok := strings.CutPrefix(trimOWS(element), "md5="); ok {
			return base64MD5(digits, header)
		}
	}
	return Digest{}, nil
}
