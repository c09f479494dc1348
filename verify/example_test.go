package verify_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"braid/verify"
)

// A Checker takes what is read. Without an error, size and digests are right.
func Example() {
	claims, err := verify.FromHeader(map[string][]string{
		"Digest": {"SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="},
	}, verify.HTTPS)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{"hello world", "HELLO WORLD", "hello"} {
		c := verify.NewChecker(11, claims)
		if _, err := io.Copy(c, strings.NewReader(body)); err != nil {
			fmt.Println(err)
			return
		}
		proof, err := c.Proof()
		if wrong, ok := errors.AsType[*verify.MismatchError](err); ok {
			fmt.Println("another file:", wrong.Claim)
		} else if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("proven:", proof)
		}
	}
	// Output:
	// proven: sha-256 from Digest over https
	// another file: sha-256 from Digest over https
	// ends after 5 of 11 bytes
}

// Pieces tell where a file is damaged; that it is the right one tells its digest alone.
func ExamplePieces() {
	const right, wrong = "hello world", "hello w0rld"
	m := verify.NewPieceMaker(verify.SHA256, 4)
	if _, err := io.WriteString(m, right); err != nil {
		fmt.Println(err)
		return
	}
	pieces := m.Pieces()
	for i := range pieces.Count() {
		start, end := pieces.At(i)
		fmt.Printf("%d to %d: %t\n", start, end, pieces.Check(i, []byte(wrong[start:end])))
	}
	// Output:
	// 0 to 4: true
	// 4 to 8: false
	// 8 to 11: true
}

// A file is checked by a digest that a user knows, here of another file.
func ExampleChecker() {
	digest, err := verify.ParseHex(verify.SHA256, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := verify.NewChecker(-1, []verify.Claim{{Digest: digest, Field: "the release notes", Channel: verify.User}})
	if _, err := io.Copy(c, strings.NewReader("hello world!")); err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Proof()
	fmt.Println(err)
	// Output: sha-256 is 7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9, want b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9 (from the release notes)
}

// The digest that somebody published becomes a claim, which the file has to meet.
func ExampleHex() {
	claim, err := verify.Hex("b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := verify.NewChecker(-1, []verify.Claim{claim})
	if _, err := io.WriteString(c, "hello world"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Proof())
	// Output: sha-256 from the user <nil>
}
