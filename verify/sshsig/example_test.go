package sshsig_test

import (
	"fmt"
	"os"

	"braid/verify/sshsig"
)

func Example() {
	data, err := os.ReadFile("testdata/ed25519.pub")
	if err != nil {
		panic(err)
	}
	keys, err := sshsig.ParseKeys(data)
	if err != nil {
		panic(err)
	}
	signature, err := os.ReadFile("testdata/ed25519.sig")
	if err != nil {
		panic(err)
	}
	checker, err := sshsig.New(signature, keys, sshsig.Policy{})
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(checker, "a tool")
	results, err := checker.Signatures()
	fmt.Println(results[0], err)
	// Output:
	// SSH signature by SHA256:iDEPWtjogG7Unt1o9+z+DZY5Sjx4EwsMVKez0IH03r8, "release ed25519" <nil>
}
