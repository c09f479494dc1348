package smime

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"strings"
)

// distinguishedName formats a name in DER as in RFC 4514.
func distinguishedName(der []byte) string {
	var rdn pkix.RDNSequence
	if _, err := asn1.Unmarshal(der, &rdn); err != nil {
		return "a garbled name"
	}
	var parts []string
	for _, set := range slices.Backward(rdn) {
		var values []string
		for _, v := range set {
			values = append(values, namePart(v))
		}
		parts = append(parts, strings.Join(values, "+"))
	}
	return printable(strings.Join(parts, ","))
}

// attributeNames are the names of text attributes that package pkix does not know (RFC 2985, section 5.2.1; RFC 4514,
// section 3; RFC 4519, section 2).
var attributeNames = map[string]string{
	"1.2.840.113549.1.9.1":       "emailAddress",
	"0.9.2342.19200300.100.1.1":  "UID",
	"0.9.2342.19200300.100.1.25": "DC",
	"2.5.4.4":                    "SN",
	"2.5.4.12":                   "title",
	"2.5.4.42":                   "givenName",
	"2.5.4.97":                   "organizationIdentifier",
}

// namePart formats one part of a name. It formats the attributes in attributeNames as a common name and replaces CN,
// because package pkix would write their values in hexadecimal digits.
func namePart(v pkix.AttributeTypeAndValue) string {
	name, known := attributeNames[v.Type.String()]
	if _, isText := v.Value.(string); !known || !isText {
		return pkix.RDNSequence{{v}}.String()
	}
	v.Type = asn1.ObjectIdentifier{2, 5, 4, 3}
	return name + strings.TrimPrefix(pkix.RDNSequence{{v}}.String(), "CN")
}
