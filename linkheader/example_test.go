package linkheader_test

import (
	"fmt"

	"braid/linkheader"
)

// Parse returns the mirrors that a server lists, with their attributes of RFC 6249. A link that cannot be parsed is
// reported and does not affect the others.
func ExampleParse() {
	links, problems := linkheader.Parse([]string{
		`<https://a.example.net/disk.iso>; rel=duplicate; pri=2; geo=de, <https://b.example.net/disk.iso>; rel=duplicate; pri=1; pref`,
		`<disk.iso.asc>; rel=describedby; type="application/pgp-signature"`,
		`https://c.example.net/disk.iso; rel=duplicate`,
	})
	for _, l := range links {
		fmt.Println(l.Target, l.Rel(linkheader.Duplicate), l.Pri(), l.Geo(), l.Pref())
	}
	fmt.Println(len(problems), "problem")
	// Output:
	// https://a.example.net/disk.iso true 2 DE false
	// https://b.example.net/disk.iso true 1  true
	// disk.iso.asc false 999999  false
	// 1 problem
}

// String formats a link to a mirror. Whatever characters the link has, the result is a valid field value that can be
// parsed again.
func ExampleLink_String() {
	l := linkheader.Link{Target: "https://a.example.net/disk 1.iso", Params: []linkheader.Param{
		{Name: "rel", Value: linkheader.Duplicate}, {Name: "pri", Value: "1"}, {Name: "geo", Value: "de"}, {Name: "pref"},
	}}
	fmt.Println("Link:", l)
	// Output: Link: <https://a.example.net/disk%201.iso>; rel=duplicate; pri=1; geo=de; pref
}
