package smime

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
)

// TestDistinguishedName_Rule61: a mail address in a name can be read, what is no text stays as RFC 4514 writes it, and
// nothing in it passes for another part or moves a cursor.
func TestDistinguishedName_Rule61(t *testing.T) {
	email, dc, unknown := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, asn1.ObjectIdentifier{0, 9, 2342, 19200300,
		100, 1, 25}, asn1.ObjectIdentifier{1, 2, 3}
	cn := asn1.ObjectIdentifier{2, 5, 4, 3}
	part := func(id asn1.ObjectIdentifier, value any) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: id, Value: value}}
	}
	for want, name := range map[string]pkix.RDNSequence{
		"emailAddress=alice@example.org,CN=Alice": {part(cn, "Alice"), part(email, "alice@example.org")},
		"DC=example,DC=org":                       {part(dc, "org"), part(dc, "example")},
		`emailAddress=a\,CN=b`:                    {part(email, "a,CN=b")},
		"1.2.3=#130178,CN=x":                      {part(cn, "x"), part(unknown, "x")},
		"1.2.840.113549.1.9.1=#020107":            {part(email, 7)},
		"CN=x+emailAddress=a�b":                   {{{Type: cn, Value: "x"}, {Type: email, Value: "a\x1bb"}}},
	} {
		der, err := asn1.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := distinguishedName(der); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
