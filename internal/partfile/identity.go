package partfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/address"
	"braid/verify"
)

// Identity describes the file that a part file belongs to. The journal records it.
type Identity struct {
	// URL is the URL for display, with its secrets masked.
	URL string
	// URLSum is SumURL of the unmasked URL.
	URLSum string
	// Asked is set if the server of URL was asked for the file. Otherwise a document describes the file, and URL is a
	// place that the document names.
	Asked bool
	// Document is the document that describes the file. It is zero if Asked is set or if the document has no URL.
	Document Document
	// Size is the size of the file, or -1 if it is unknown. SizeBy is the host:port of the server that sent Size, if
	// that is not the asked server. In that case only the digests can confirm the size.
	Size   int64
	SizeBy string
	// Claims are the digests of the whole file.
	Claims []verify.Claim
	// Yielding are claims in Claims that are not the user's. A later run that does not state them itself uses them only
	// until the server or the bytes contradict them. Such claims came with the request, or from the server before it
	// stated other claims, which may be about another version.
	Yielding []verify.Claim
	// Listed are the claims in Claims that are not the user's but come from a list which the user named.
	Listed []verify.Claim
	// Looked are digests that were found beside the file. They are evidence only after they are found there again.
	Looked []verify.Claim
	// Denied are digests that the server stated and that are not in Claims, because the request gave other digests.
	// They are used in a later run whose request gives no digests, because the user may have mistyped.
	Denied []verify.Claim
	// PieceSum is SumPieces of the pieces that prove the file if no digest of the whole file is known.
	// Otherwise it is empty.
	PieceSum string
	// ETag is a strong entity tag with its quotes, or empty. ETagHost is the host:port of the server that sent it.
	ETag, ETagHost string
	// StoodIn is SumURL of the mirror that gave ETag because it stood in for the server of URL; empty if no mirror did.
	StoodIn string
	// Mixed is set if parts of the file come from servers that do not send ETag. Then only the digests show that the
	// parts belong together.
	Mixed bool
	// LastModified is zero unless it was sent together with ETag or is a strong validator (RFC 9110, section 8.8.2.2).
	LastModified time.Time
	// Mirrors are the places that offered the file.
	Mirrors []Mirror
	// Require is the proof that a run which resumes the download must require: "digest", "signature" or empty.
	Require string
	// Host is the server that answered. Date is the modification time that Host sent, which may be a weak validator.
	Host string
	Date time.Time
	// Refuted are digests that the complete file does not match.
	Refuted []verify.Claim

	asides []ownAside // files to remove when the download succeeds; set by package partfile
}

// Document is a Metalink document or a torrent that describes the file.
type Document struct {
	URL    string // masked
	URLSum string // SumURL of the unmasked URL
	File   string // name of the file in the document
}

// Given returns the claims in Claims that the request gave, or a list that the request named. The signature of a list
// is not known any more: such a claim counts as a claim over http.
func (id *Identity) Given() (claims []verify.Claim) {
	for _, c := range id.Claims {
		if c.Channel != verify.User && !slices.Contains(id.Listed, c) {
			continue
		}
		if c.Channel == verify.Signed {
			c.Channel = verify.HTTP
		}
		claims = append(claims, c)
	}
	return claims
}

// Mirror is another location of the file, as the Metalink server described it (RFC 6249, section 3).
type Mirror struct {
	URL  string // masked
	Pri  int
	Pref bool
	Geo  string
	By   address.Scope `json:",omitzero"` // network scope of the server that named the mirror
}

// SumURL returns a hash of u. It distinguishes URLs that look alike when their secrets are masked. It ignores the user
// information and the fragment, which do not change the resource.
func SumURL(u *url.URL) string {
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	sum := sha256.Sum256([]byte(c.String()))
	return hex.EncodeToString(sum[:16])
}

// SumPieces returns a hash of p.
func SumPieces(p verify.Pieces) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%v %d %d", p.Algorithm(), p.Length(), p.Size())
	if p.Lead() > 0 {
		fmt.Fprintf(sum, " %d", p.Lead())
	}
	for i := range p.Count() {
		sum.Write(p.Digest(i).Bytes())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// identityRecord and claimRecord are the stored forms of Identity and verify.Claim. ETag is stored as bytes because it
// may not be valid UTF-8 (RFC 9110, section 8.8.3, obs-text).
type identityRecord struct {
	URL, URLSum  string
	Asked        bool     `json:",omitempty"`
	Document     Document `json:",omitzero"`
	Size         int64
	SizeBy       string        `json:",omitempty"`
	Mixed        bool          `json:",omitempty"`
	Claims       []claimRecord `json:",omitempty"`
	Yielding     []claimRecord `json:",omitempty"`
	Listed       []claimRecord `json:",omitempty"`
	Looked       []claimRecord `json:",omitempty"`
	Denied       []claimRecord `json:",omitempty"`
	PieceSum     string        `json:",omitempty"`
	ETag         []byte        `json:",omitempty"`
	ETagHost     string        `json:",omitempty"`
	StoodIn      string        `json:",omitempty"`
	LastModified time.Time     `json:",omitzero"`
	Mirrors      []Mirror      `json:",omitempty"`
	Require      string        `json:",omitempty"`
	Refuted      []claimRecord `json:",omitempty"`
	Host         string        `json:",omitempty"`
	Date         time.Time     `json:",omitzero"`
	Asides       []ownAside    `json:",omitempty"`
}

type claimRecord struct {
	Algorithm, Hex, Field string
	Channel               verify.Channel
}

// MarshalJSON implements json.Marshaler.
func (id Identity) MarshalJSON() ([]byte, error) { return id.encode() }

// UnmarshalJSON implements json.Unmarshaler.
func (id *Identity) UnmarshalJSON(p []byte) (err error) {
	*id, err = decodeIdentity(p)
	return err
}

func (id Identity) encode() ([]byte, error) {
	rec := identityRecord{
		URL: id.URL, URLSum: id.URLSum, Size: max(id.Size, -1), PieceSum: id.PieceSum,
		ETag: []byte(id.ETag), ETagHost: id.ETagHost, LastModified: id.LastModified.UTC(), Mirrors: id.Mirrors,
		Require: id.Require,
	}
	rec.Host, rec.Date, rec.Asides, rec.StoodIn = id.Host, id.Date.UTC(), id.asides, id.StoodIn
	rec.Asked, rec.Document, rec.SizeBy, rec.Mixed = id.Asked, id.Document, id.SizeBy, id.Mixed
	rec.Claims, rec.Yielding, rec.Refuted = recordsOf(id.Claims), recordsOf(id.Yielding), recordsOf(id.Refuted)
	rec.Listed, rec.Looked, rec.Denied = recordsOf(id.Listed), recordsOf(id.Looked), recordsOf(id.Denied)
	p, err := json.Marshal(rec)
	if err == nil && len(p) > maxPayload {
		rec.Mirrors = nil // mirrors are only a hint, and no other field can be as long
		p, err = json.Marshal(rec)
	}
	return p, err
}

func decodeIdentity(p []byte) (Identity, error) {
	var rec identityRecord
	if err := json.Unmarshal(p, &rec); err != nil {
		return Identity{}, err
	}
	id := Identity{
		URL: rec.URL, URLSum: rec.URLSum, Size: rec.Size, PieceSum: rec.PieceSum,
		ETag: string(rec.ETag), ETagHost: rec.ETagHost, LastModified: rec.LastModified, Mirrors: rec.Mirrors,
		Require: rec.Require,
	}
	if id.Size < -1 {
		return Identity{}, fmt.Errorf("size %d", id.Size)
	}
	id.Host, id.Date, id.asides, id.StoodIn = rec.Host, rec.Date, rec.Asides, rec.StoodIn
	id.Asked, id.Document, id.SizeBy, id.Mixed = rec.Asked, rec.Document, rec.SizeBy, rec.Mixed
	for _, f := range []struct {
		to   *[]verify.Claim
		from []claimRecord
	}{
		{&id.Claims, rec.Claims}, {&id.Yielding, rec.Yielding}, {&id.Listed, rec.Listed},
		{&id.Looked, rec.Looked}, {&id.Denied, rec.Denied}, {&id.Refuted, rec.Refuted},
	} {
		var err error
		if *f.to, err = claimsOf(f.from); err != nil {
			return id, err
		}
	}
	return id, nil
}

func recordsOf(claims []verify.Claim) (out []claimRecord) {
	for _, c := range claims {
		d := c.Digest
		out = append(out, claimRecord{d.Algorithm().String(), d.Hex(), c.Field, c.Channel})
	}
	return out
}

func claimsOf(records []claimRecord) (out []verify.Claim, err error) {
	for _, c := range records {
		alg, ok := verify.ParseAlgorithm(c.Algorithm)
		if !ok {
			return nil, fmt.Errorf("digest algorithm %q", c.Algorithm)
		}
		d, err := verify.ParseHex(alg, c.Hex)
		if err != nil {
			return nil, err
		}
		out = append(out, verify.Claim{Digest: d, Field: c.Field, Channel: c.Channel})
	}
	return out, nil
}
