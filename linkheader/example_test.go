package linkheader_test

import (
	"fmt"

	"braid/linkheader"
)

// The mirrors that a server names, with what RFC 6249 says of them. What cannot be read costs only itself.
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

// A mirror as a server names it. Whatever a link holds, what is written can be sent and read again.
func ExampleLink_String() {
	l := linkheader.Link{Target: "https://a.example.net/disk 1.iso", Params: []linkheader.Param{
		{Name: "rel", Value: linkheader.Duplicate}, {Name: "pri", Value: "1"}, {Name: "geo", Value: "de"}, {Name: "pref"},
	}}
	fmt.Println("Link:", l)
	// Output: Link: <https://a.example.net/disk%201.iso>; rel=duplicate; pri=1; geo=de; pref
}
