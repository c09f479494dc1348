package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Channel states how a claim was received. A greater Channel is more trusted.
type Channel uint8

const (
	// HTTP means that an attacker on the network may have changed the claim. It protects only against accidents.
	HTTP Channel = iota + 1
	// HTTPS means that the server is authenticated and made the claim.
	HTTPS
	// Signed means that a verified signature covers the claim, for example a digest in a signed list.
	Signed
	// User means that the user who started the download made the claim.
	User
)

// String names the channel: http, https, signed, user.
func (c Channel) String() string {
	switch c {
	case HTTP:
		return "http"
	case HTTPS:
		return "https"
	case Signed:
		return "signed"
	case User:
		return "user"
	}
	return "unknown channel"
}

// A Claim states a digest of the whole file, and where the digest is from.
type Claim struct {
	Digest  Digest
	Field   string          // header field, file or option: "Digest", "Repr-Digest", "X-Checksum-Sha256", "--sha256"
	Channel Channel         // zero: unknown, and trusted less than any other
	By      SignatureResult // the signature, if Channel is Signed
}

// Hex returns the user's claim that the whole file has the digest with these hexadecimal digits, in either case: 32
// digits are MD5, 40 SHA-1, 64 SHA-256 and 128 SHA-512. Any other text is an error.
func Hex(digits string) (Claim, error) {
	var lengths []string
	for _, a := range Algorithms() {
		if len(digits) == 2*a.Size() {
			d, err := ParseHex(a, digits)
			return Claim{Digest: d, Channel: User}, err
		}
		lengths = append(lengths, strconv.Itoa(2*a.Size()))
	}
	last := len(lengths) - 1
	return Claim{}, fmt.Errorf("%d characters are not a hexadecimal digest, which has %s or %s",
		len(digits), strings.Join(lengths[:last], ", "), lengths[last])
}

// String returns the algorithm and the origin of the claim: "sha-256 from Digest over https", "sha-256 from --sha256".
func (c Claim) String() string { return c.Digest.Algorithm().String() + " " + c.from() }

func (c Claim) from() string {
	from := "from " + c.Field
	switch {
	case c.Field == "" && c.Channel == User:
		return "from the user"
	case c.Field == "":
		from = "from an unknown source"
	}
	switch {
	case c.Channel == Signed && c.By != (SignatureResult{}):
		return from + ", " + c.By.String()
	case c.Channel == HTTP || c.Channel == HTTPS:
		return from + " over " + c.Channel.String()
	}
	return from
}

// Strong reports whether one of the claims is SHA-256 or better. Otherwise a server's mirrors are not used.
func Strong(claims []Claim) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return c.Digest.Algorithm().Strong() })
}

// Agree returns a *ConflictError if the claims in a and b, all about the same file, have different values for one
// algorithm. RFC 6249, section 7: "Metalink clients MUST reject individual downloads from mirrors that support Instance
// Digests if the Instance Digest from the mirror does not match".
func Agree(a, b []Claim) error {
	var first [len(algorithms)]Claim
	for _, c := range slices.Concat(a, b) {
		alg := c.Digest.Algorithm()
		switch known := first[alg]; { // the zero Digest is compared with first[0], which is also zero
		case known.Digest.IsZero():
			first[alg] = c
		case known.Digest != c.Digest:
			return &ConflictError{A: known, B: c}
		}
	}
	return nil
}

// SortClaims sorts claims by algorithm, the strongest first, then by channel, the most trusted first. The sort is
// stable.
func SortClaims(claims []Claim) { slices.SortStableFunc(claims, byStrength) }

// byStrength compares by algorithm, the strongest first, then by channel, the most trusted first.
func byStrength(a, b Claim) int {
	return cmp.Or(cmp.Compare(b.Digest.alg, a.Digest.alg), cmp.Compare(b.Channel, a.Channel))
}

// byTrust compares by channel, the most trusted first, then by algorithm, the strongest first.
func byTrust(a, b Claim) int {
	return cmp.Or(cmp.Compare(b.Channel, a.Channel), cmp.Compare(b.Digest.alg, a.Digest.alg))
}
