package metalink_test

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"braid/metalink"
	"braid/verify"
)

// Parse describes the files of a document. It leaves out a file whose name could lead out of its folder.
func ExampleParse() {
	doc, err := metalink.Parse(strings.NewReader(`<metalink xmlns="urn:ietf:params:xml:ns:metalink">
		<file name="pub/disk.iso"><size>11</size><hash type="sha-256">b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9</hash>
			<url priority="2">https://a.example.net/disk.iso</url><url priority="1">https://b.example.net/disk.iso</url></file>
		<file name="../.bashrc"><url>https://a.example.net/x</url></file></metalink>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range doc.Files {
		fmt.Println(f.Name, f.Size, len(f.Claims), f.Mirrors[0].URL)
	}
	for _, r := range doc.Refused {
		fmt.Println("refused:", r.Name)
	}
	// Output:
	// pub/disk.iso 11 1 https://b.example.net/disk.iso
	// refused: ../.bashrc
}

// Format writes a document for a file. One pass over the file computes its digest and those of its pieces. Size must be
// -1 if it is not known, because 0 is the size of an empty file.
func ExampleFormat() {
	const body = "hello world"
	whole := verify.NewChecker(-1, nil)
	parts := verify.NewPieceMaker(verify.SHA256, 8)
	if _, err := io.Copy(io.MultiWriter(whole, parts), strings.NewReader(body)); err != nil {
		fmt.Println(err)
		return
	}
	proof, err := whole.Proof()
	if err != nil {
		fmt.Println(err)
		return
	}
	mirror, err := url.Parse("https://a.example.net/hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	var claims []verify.Claim
	for _, d := range proof.Digests() {
		claims = append(claims, verify.Claim{Digest: d})
	}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "hello.txt", Size: proof.Size(), Claims: claims, Pieces: []verify.Pieces{parts.Pieces()},
		Mirrors: []metalink.Mirror{{URL: mirror, Pri: 1, Geo: "DE"}},
	}}})
	fmt.Printf("%s%v\n", doc, err)
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <metalink xmlns="urn:ietf:params:xml:ns:metalink">
	//   <file name="hello.txt">
	//     <size>11</size>
	//     <hash type="sha-256">b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9</hash>
	//     <pieces length="8" type="sha-256">
	//       <hash>2850459f91fca1b8ca435e518708137a0eee63750d71056a67d700eb3d3ae9c9</hash>
	//       <hash>85c76dcae2299d2235c793fe3425bd88376f5c4721cfddc1c9a9c452c20c5d33</hash>
	//     </pieces>
	//     <url location="de" priority="1">https://a.example.net/hello.txt</url>
	//   </file>
	// </metalink>
	// <nil>
}
