package verify_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"braid/verify"
)

// A body is read as ever. End of file is the proof: without an error, size and digests are right.
func Example() {
	claims, err := verify.FromHeader(map[string][]string{
		"Digest": {"SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="},
	}, verify.HTTPS)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{"hello world", "HELLO WORLD", "hello"} {
		r := verify.NewReader(strings.NewReader(body), 11, claims)
		_, err := io.Copy(io.Discard, r)
		if wrong, ok := errors.AsType[*verify.MismatchError](err); ok {
			fmt.Println("another file:", wrong.Claim)
		} else if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("proven:", r.Proof())
		}
	}
	// Output:
	// proven: sha-256 from Digest over https
	// another file: sha-256 from Digest over https
	// ends after 5 of 11 bytes
}
