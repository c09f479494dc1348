package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Channel is how a claim reached us. A greater one is more trusted.
type Channel uint8

const (
	// HTTP can be changed by an attacker on the way: it guards against accidents only.
	HTTP Channel = iota + 1
	// HTTPS is the word of the server.
	HTTPS
	// Signed is for claims whose signature was checked: of a list of digests, say, that is signed as a whole.
	Signed
	// User is the word of whoever started the download.
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

// A Claim says that the whole file has a digest, and where that is from.
type Claim struct {
	Digest  Digest
	Field   string          // where it was written: "Digest", "Repr-Digest", "X-Checksum-Sha256", "--sha256"
	Channel Channel         // if zero, it is not known, and less trusted than any other
	By      SignatureResult // who signed what it is from, if Channel is Signed
}

// Hex is the user's claim that the whole file has the digest of these hexadecimal digits, in either case: 32 digits are
// of MD5, 40 of SHA-1, 64 of SHA-256 and 128 of SHA-512. Any other text is an error.
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
	return Claim{}, fmt.Errorf("%d characters are no digest in hexadecimal digits, which has %s or %s",
		len(digits), strings.Join(lengths[:last], ", "), lengths[last])
}

// String says what is claimed and where the claim is from: "sha-256 from Digest over https", "sha-256 from --sha256".
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

// Strong says that one of the claims is SHA-256 or better. Only then are a server's mirrors of use.
func Strong(claims []Claim) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return c.Digest.Algorithm().Strong() })
}

// Agree compares claims about what should be one file. If one algorithm has two values, anywhere in a and
// b, the error is a *ConflictError. RFC 6249, section 7: "Metalink clients MUST reject individual downloads
// from mirrors that support Instance Digests if the Instance Digest from the mirror does not match".
func Agree(a, b []Claim) error {
	var first [len(algorithms)]Claim
	for _, c := range slices.Concat(a, b) {
		alg := c.Digest.Algorithm()
		switch known := first[alg]; { // no digest is first[0], which agrees with itself
		case known.Digest.IsZero():
			first[alg] = c
		case known.Digest != c.Digest:
			return &ConflictError{A: known, B: c}
		}
	}
	return nil
}

// SortClaims puts the strongest algorithm first and, of one algorithm, the most trusted claim; of equals the order stays.
func SortClaims(claims []Claim) { slices.SortStableFunc(claims, byStrength) }

// byStrength puts the strongest algorithm first and, of one algorithm, the most trusted claim.
func byStrength(a, b Claim) int {
	return cmp.Or(cmp.Compare(b.Digest.alg, a.Digest.alg), cmp.Compare(b.Channel, a.Channel))
}

// byTrust puts the most trusted claim first and, of one channel, the strongest algorithm.
func byTrust(a, b Claim) int {
	return cmp.Or(cmp.Compare(b.Channel, a.Channel), cmp.Compare(b.Digest.alg, a.Digest.alg))
}
