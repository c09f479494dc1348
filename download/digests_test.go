package download

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/internal/partfile"
	"braid/verify"
)

func claimsOf(claims ...verify.Claim) []verify.Claim { return claims }

// Proves rules 34 and 64: an event changes the givers and the uses of the known digests as the table of rows states.
func TestDigests_Rule34_Rule64(t *testing.T) {
	var (
		v1     = claimed(t, verify.SHA256, verify.HTTPS, 1)
		weak1  = claimed(t, verify.MD5, verify.HTTPS, 1)
		http1  = claimed(t, verify.SHA256, verify.HTTP, 1)
		v2     = claimed(t, verify.SHA256, verify.HTTPS, 2) // contradicts v1
		other2 = claimed(t, verify.SHA512, verify.HTTPS, 2) // only the bytes show whether it contradicts v1
		http2  = claimed(t, verify.SHA512, verify.HTTP, 2)
		typed  = verify.Claim{Digest: v1.Digest, Field: "--sha256", Channel: verify.User}
		listed = verify.Claim{Digest: v1.Digest, Field: "SHA256SUMS", Channel: verify.HTTPS}
		signed = verify.Claim{Digest: v1.Digest, Field: "SHA256SUMS.asc", Channel: verify.Signed}
		beside = verify.Claim{Digest: other2.Digest, Field: "file.sha512", Channel: verify.HTTPS}
	)
	states := func(claims ...verify.Claim) func(*digests) {
		return func(t *digests) {
			k := &known{digests: *t}
			k.addDigests(claims)
			*t = k.digests
		}
	}
	gives := func(g giver, u use, claims ...verify.Claim) func(*digests) {
		return func(t *digests) { t.add(g, u, claims) }
	}
	recalls := func(prior partfile.Identity, trust ...verify.Claim) func(*digests) {
		return func(t *digests) {
			k := &known{digests: *t}
			k.recall(prior, &Request{Trust: Trust{Claims: trust}})
			*t = k.digests
		}
	}
	for _, tt := range []struct {
		name   string
		before digests
		event  func(*digests)
		after  digests
	}{
		{"the user gives a digest", nil, gives(theUser, counts, typed), digests{{typed, theUser, counts}}},
		{"the server states a digest", nil, states(v1), digests{{v1, theServer, counts}}},
		{"the server states it again", digests{{v1, theServer, counts}}, states(v1), digests{{v1, theServer, counts}}},
		{"the server states the user's digest", digests{{typed, theUser, counts}}, states(v1),
			digests{{typed, theUser, counts}, {v1, theServer, counts}}},
		{"the host states a digest", nil, gives(theHost, noted, v1), digests{{v1, theHost, noted}}},
		{"the host stated it, and it counts", digests{{v1, theHost, noted}}, states(v1), digests{{v1, theHost, counts}}},
		{"it counts, and the host stated it", digests{{v1, theServer, counts}}, gives(theHost, noted, v1),
			digests{{v1, theHost, counts}}},

		{"a digest is found", nil, gives(aList, noted, beside), digests{{beside, aList, noted}}},
		{"a found digest ties", digests{{beside, aList, noted}}, gives(aList, ties, beside), digests{{beside, aList, ties}}},
		{"a digest that ties is found again", digests{{beside, aList, ties}}, gives(aList, noted, beside),
			digests{{beside, aList, ties}}},
		{"the user names the list that ties", digests{{beside, theUser, counts}}, gives(aList, ties, beside),
			digests{{beside, theUser | aList, counts}}},
		{"the bytes that it ties are discarded", digests{{v1, theServer, yields}, {beside, aList, ties}},
			func(t *digests) { t.forget(ties) }, digests{{v1, theServer, yields}, {beside, aList, noted}}},

		{"the journal has digests of the server", nil, recalls(partfile.Identity{Claims: claimsOf(v1, weak1)}),
			digests{{v1, theServer, stands}, {weak1, theServer, stands}}},
		{"the journal has digests of the earlier request", nil,
			recalls(partfile.Identity{Claims: claimsOf(typed, listed, v1), Yielding: claimsOf(listed), Listed: claimsOf(listed)}),
			digests{{typed, theUser, yields}, {listed, theUser, yields}, {v1, theServer, stands}}},
		{"the journal has yielding digests of the server", nil,
			recalls(partfile.Identity{Claims: claimsOf(v1), Yielding: claimsOf(v1)}), digests{{v1, theServer, yields}}},
		{"the journal has a digest of a signer", nil,
			recalls(partfile.Identity{Claims: claimsOf(signed), Yielding: claimsOf(signed)}),
			digests{{verify.Claim{Digest: v1.Digest, Field: signed.Field, Channel: verify.HTTP}, theServer, yields}}},
		{"the journal has found digests", digests{{v1, theServer, counts}}, recalls(partfile.Identity{Looked: claimsOf(beside)}),
			digests{{v1, theServer, counts}, {beside, aList, noted}}},
		{"the journal has denied digests", digests{{typed, theUser, counts}},
			recalls(partfile.Identity{Denied: claimsOf(v2)}, typed), digests{{typed, theUser, counts}, {v2, theServer, denied}}},
		{"the user gives the digest in the journal", digests{{typed, theUser, counts}},
			recalls(partfile.Identity{Claims: claimsOf(typed)}, typed), digests{{typed, theUser, counts}}},
		{"the user outranks the digest in the journal", digests{{typed, theUser, counts}},
			recalls(partfile.Identity{Claims: claimsOf(other2)}, typed),
			digests{{typed, theUser, counts}, {other2, theServer, denied}}},
		{"the user confirms the digest in the journal", digests{{typed, theUser, counts}},
			recalls(partfile.Identity{Claims: claimsOf(v1)}, typed), digests{{typed, theUser, counts}, {v1, theServer, stands}}},
		{"the server was asked before the journal counted", digests{{v1, theServer, counts}},
			recalls(partfile.Identity{Claims: claimsOf(v1, weak1)}),
			digests{{v1, theServer, counts}, {weak1, theServer, yields}}},
		{"the server stated another algorithm before", digests{{other2, theServer, counts}},
			recalls(partfile.Identity{Claims: claimsOf(v1)}), digests{{other2, theServer, counts}, {v1, theServer, yields}}},
		{"the server contradicted yielding digests before", digests{{v2, theServer, counts}},
			recalls(partfile.Identity{Claims: claimsOf(typed, listed), Yielding: claimsOf(listed)}),
			digests{{v2, theServer, counts}, {typed, theServer, noted}, {listed, theServer, noted}}},

		{"the server states nothing", digests{{v1, theServer, stands}}, states(), digests{{v1, theServer, stands}}},
		{"outdated over as trusted a channel", digests{{v1, theServer, stands}, {weak1, theServer, stands}}, states(other2),
			digests{{v1, theServer, yields}, {weak1, theServer, yields}, {other2, theServer, counts}}},
		{"outdated over a more trusted channel", digests{{http1, theServer, stands}}, states(other2),
			digests{{http1, theServer, yields}, {other2, theServer, counts}}},
		{"not outdated over a less trusted channel", digests{{v1, theServer, stands}}, states(http2),
			digests{{v1, theServer, stands}, {http2, theServer, counts}}},
		{"not outdated by a weak digest", digests{{v1, theServer, stands}}, states(weak1),
			digests{{v1, theServer, stands}, {weak1, theServer, counts}}},
		{"not outdated: comparable", digests{{v1, theServer, stands}}, states(v2, other2),
			digests{{v1, theServer, stands}, {v2, theServer, counts}, {other2, theServer, counts}}},
		{"not outdated: of this run", digests{{typed, theUser, counts}, {v1, theServer, counts}}, states(other2),
			digests{{typed, theUser, counts}, {v1, theServer, counts}, {other2, theServer, counts}}},
		{"stated again, over another channel", digests{{v1, theServer, stands}, {weak1, theServer, stands}}, states(http1, http2),
			digests{{v1, theServer, counts}, {weak1, theServer, counts}, {http1, theServer, counts}, {http2, theServer, counts}}},
		{"stated again, but only the weak one", digests{{v1, theServer, stands}, {weak1, theServer, stands}},
			states(weak1, other2),
			digests{{v1, theServer, stands}, {weak1, theServer, stands}, {other2, theServer, counts}}},

		{"yielding, and stated again", digests{{v1, theServer, yields}, {typed, theUser, yields}}, states(v1),
			digests{{v1, theServer, counts}, {typed, theUser, yields}}},
		{"yielding, and another algorithm", digests{{typed, theUser, yields}}, states(other2),
			digests{{typed, theUser, yields}, {other2, theServer, counts}}},
		{"yielding, and contradicted", digests{{typed, theUser, yields}, {weak1, theHost, yields},
			{beside, aList, ties}}, states(v2),
			digests{{typed, theServer, noted}, {weak1, theHost, noted}, {beside, aList, noted}, {v2, theServer, counts}}},
		{"contradicted, but nothing yields", digests{{v1, theServer, stands}, {beside, aList, ties}}, states(v2),
			digests{{v1, theServer, stands}, {beside, aList, ties}, {v2, theServer, counts}}},

		{"denied, and stated again", digests{{v1, theServer, denied}, {weak1, theServer, denied}}, states(v1),
			digests{{v1, theServer, counts}, {weak1, theServer, denied}}},
		{"denied, and outdated", digests{{v1, theServer, denied}}, states(other2),
			digests{{v1, theServer, noted}, {other2, theServer, counts}}},
		{"denied, and not outdated", digests{{v1, theServer, denied}}, states(http2),
			digests{{v1, theServer, denied}, {http2, theServer, counts}}},
	} {
		got := slices.Clone(tt.before)
		if tt.event(&got); !slices.Equal(got, tt.after) {
			t.Errorf("%s:\n%v\nwant:\n%v", tt.name, rows(got), rows(tt.after))
		}
	}
}

// rows describes t, a row in each line.
func rows(t digests) string {
	var lines []string
	for _, d := range t {
		lines = append(lines, fmt.Sprintf("%v %.2s: by %03b, use %d", d.Claim, d.Digest.Hex(), d.by, d.use))
	}
	return strings.Join(lines, "\n")
}

// Proves rule 64: each query returns the claims of its rows, in the order of their arrival.
func TestDigestsQueries_Rule64(t *testing.T) {
	row := func(fill byte, g giver, u use) digest {
		return digest{claimed(t, verify.SHA256, verify.HTTPS, fill), g, u}
	}
	table := digests{
		row(0, aList, ties), row(1, theServer, counts), row(2, theUser, yields), row(3, theHost, noted),
		row(4, theServer, denied), row(5, theUser, counts), row(6, theServer, stands), row(7, theHost, counts),
		row(8, theServer, yields), row(9, aList, noted), row(10, theServer, noted),
	}
	table = append(table, digest{verify.Claim{Digest: table[3].Digest, Field: "Repr-Digest"}, theServer, counts}) // 11
	for name, tt := range map[string]struct {
		got  []verify.Claim
		want []int
	}{
		"counting":          {table.counting(), []int{1, 2, 5, 6, 7, 8, 11}},
		"firm":              {table.firm(), []int{1, 5, 6, 7, 11}},
		"of the server":     {table.ofServer(), []int{1, 6, 7, 11}},
		"yielding":          {table.used(yields), []int{2, 8}},
		"used for one of":   {table.used(ties, denied), []int{0, 4}},
		"by the user":       {table.by(theUser), []int{2, 5}},
		"by a list":         {table.by(aList), []int{0, 9}},
		"by host and user":  {table.by(theHost | theUser), []int{2, 3, 5, 7}},
		"first-hand":        {table.firsthand(), []int{5, 7}},
		"counted in a copy": {counted(table.used(denied)).counting(), []int{4}},
	} {
		var want []verify.Claim
		for _, i := range tt.want {
			want = append(want, table[i].Claim)
		}
		if !slices.Equal(tt.got, want) {
			t.Errorf("%s: %v, want %v", name, tt.got, want)
		}
	}
}
