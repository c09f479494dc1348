package state

import (
	"encoding/json"
	"slices"
	"strings"

	"braid/verify"
	"braid/verify/signatures"
)

// Kinds is a set of kinds of signatures: a bit for each row of the table of package signatures.
type Kinds uint64

// kindsOf returns the set with one kind.
func kindsOf(kind *verify.SignatureKind) Kinds { return 1 << slices.Index(signatures.All(), kind) }

// wordOf returns the key of a kind in an entry: OpenPGP, SMIME.
func wordOf(kind *verify.SignatureKind) string { return strings.ReplaceAll(kind.Name, "/", "") }

// A pinRecord is the entry of a Pin. Each kind of signatures is a key of its own.
type pinRecord struct {
	V           int
	HTTPS, HTTP string `json:",omitempty"` // algorithms
	Signatures  Kinds  `json:"-"`
	Pieces      bool   `json:",omitempty"`
}

// A plainRecord is a pinRecord without its kinds of signatures.
type plainRecord pinRecord

// MarshalJSON writes r with its kinds of signatures.
func (r pinRecord) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(plainRecord(r))
	if err != nil || r.Signatures == 0 {
		return text, err
	}
	all := map[string]any{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, kind := range signatures.All() {
		if r.Signatures&kindsOf(kind) != 0 {
			all[wordOf(kind)] = true
		}
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads data, which MarshalJSON wrote. It ignores a kind that is not in the table.
func (r *pinRecord) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*plainRecord)(r)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	r.Signatures = 0
	for _, kind := range signatures.All() {
		if string(all[wordOf(kind)]) == "true" {
			r.Signatures |= kindsOf(kind)
		}
	}
	return nil
}

func (p Pin) record() pinRecord {
	r := pinRecord{V: format, Signatures: p.Signatures, Pieces: p.Pieces}
	if p.HTTPS != 0 {
		r.HTTPS = p.HTTPS.String()
	}
	if p.HTTP != 0 {
		r.HTTP = p.HTTP.String()
	}
	return r
}

// pin returns the Pin in r. It reports false if r has an unknown algorithm.
func (r pinRecord) pin() (p Pin, ok bool) {
	https, known := verify.ParseAlgorithm(r.HTTPS)
	http, also := verify.ParseAlgorithm(r.HTTP)
	if r.HTTPS != "" && !known || r.HTTP != "" && !also {
		return Pin{}, false
	}
	return Pin{HTTPS: https, HTTP: http, Signatures: r.Signatures, Pieces: r.Pieces}, true
}
