package partfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"braid/address"
	"braid/verify"
)

// An Identity says which file a part file is a part of. It is kept in the journal.
type Identity struct {
	// URL is for people: masked.
	URL string
	// URLSum is SumURL of the real one.
	URLSum string
	// Size is -1 if it is not known. SizeBy is the host:port of the server that gave it, if that is not the one that
	// was asked; then the digests decide whether it is right.
	Size   int64
	SizeBy string
	// Claims are the digests of the whole file.
	Claims []verify.Claim
	// Yielding are those of Claims, beside the user's, that hold in a run which does not make them itself until the server
	// or the bytes say otherwise. The request gave them, or the server did before it stated others that may be of another
	// version.
	Yielding []verify.Claim
	// PieceSum is SumPieces of the pieces that are to prove the file, for want of a digest of the whole; else empty.
	PieceSum string
	// ETag is a strong entity tag with its quotes, or empty; ETagHost is the host:port that gave it.
	ETag, ETagHost string
	// Mixed says that parts of the file are from servers that do not give ETag, so that the digests alone tie them together.
	Mixed bool
	// LastModified is zero unless it came beside ETag, or is a strong validator (RFC 9110, section 8.8.2.2).
	LastModified time.Time
	// Mirrors are where the file was offered.
	Mirrors []Mirror
	// Require is what was to be proven of the file, for a run that goes on with it: "digest", "signature" or nothing.
	Require string
	// Host is the server that answered, and Date what it said of when the file was changed, whatever that is worth.
	Host string
	Date time.Time
	// Refuted are digests that the bytes, which are all there, do not have.
	Refuted []verify.Claim

	asides []ownAside // what goes when the download succeeds; the part file's own
}

// A Mirror is a place of the same file, as the Metalink server described it (RFC 6249, section 3).
type Mirror struct {
	URL  string // masked
	Pri  int
	Pref bool
	Geo  string
	By   address.Scope `json:",omitzero"` // where the server is that named it
}

// SumURL tells URLs apart that look alike once their secrets are masked. Passwords and fragments, which
// do not change what a URL stands for, make no difference.
func SumURL(u *url.URL) string {
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	sum := sha256.Sum256([]byte(c.String()))
	return hex.EncodeToString(sum[:16])
}

// SumPieces tells pieces apart.
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

// identityRecord and claimRecord are the durable form. ETag is bytes because it may be no UTF-8
// (RFC 9110, section 8.8.3, obs-text).
type identityRecord struct {
	URL, URLSum  string
	Size         int64
	SizeBy       string        `json:",omitempty"`
	Mixed        bool          `json:",omitempty"`
	Claims       []claimRecord `json:",omitempty"`
	Yielding     []claimRecord `json:",omitempty"`
	PieceSum     string        `json:",omitempty"`
	ETag         []byte        `json:",omitempty"`
	ETagHost     string        `json:",omitempty"`
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
		ETag: []byte(id.ETag), ETagHost: id.ETagHost, LastModified: id.LastModified.UTC(), Mirrors: id.Mirrors, Require: id.Require,
	}
	rec.Host, rec.Date, rec.Asides = id.Host, id.Date.UTC(), id.asides
	rec.SizeBy, rec.Mixed = id.SizeBy, id.Mixed
	rec.Claims, rec.Yielding, rec.Refuted = recordsOf(id.Claims), recordsOf(id.Yielding), recordsOf(id.Refuted)
	p, err := json.Marshal(rec)
	if err == nil && len(p) > maxPayload {
		rec.Mirrors = nil // they are only a hint, and the only thing that can be this many
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
		ETag: string(rec.ETag), ETagHost: rec.ETagHost, LastModified: rec.LastModified, Mirrors: rec.Mirrors, Require: rec.Require,
	}
	if id.Size < -1 {
		return Identity{}, fmt.Errorf("size %d", id.Size)
	}
	id.Host, id.Date, id.asides = rec.Host, rec.Date, rec.Asides
	id.SizeBy, id.Mixed = rec.SizeBy, rec.Mixed
	for _, f := range []struct {
		to   *[]verify.Claim
		from []claimRecord
	}{{&id.Claims, rec.Claims}, {&id.Yielding, rec.Yielding}, {&id.Refuted, rec.Refuted}} {
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
