package openpgp_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"braid/verify"
	"braid/verify/openpgp"
)

// A file is checked while it arrives: the Checker is a writer like any other.
func Example() {
	export, err := os.ReadFile("testdata/gnupg/nist.pub") // gpg --armor --export
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := openpgp.ParseKeyring(export)
	if err != nil {
		fmt.Println(err)
		return
	}
	sigs, err := os.ReadFile("testdata/gnupg/nist.asc") // gpg --armor --detach-sign
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

	for _, file := range []string{"braid\n", "brain\n"} {
		c, err := openpgp.New(sigs, keys, openpgp.Policy{Now: now})
		if err != nil { // no file could pass: an unknown key, a revoked one
			fmt.Println(err)
			return
		}
		if _, err := io.Copy(c, strings.NewReader(file)); err != nil {
			fmt.Println(err)
			return
		}
		all, err := c.Signatures()
		if e, ok := err.(*verify.SignatureError); ok {
			fmt.Println(e.Code, "-", e.Reason)
			continue
		}
		s, _ := verify.GoodSignature(all)
		fmt.Println(s.Code, s.Signer, s.Time.Format(time.DateOnly), s.Hash)
	}
	// Output:
	// good "Nist <nist@example.org>" 2026-01-11 SHA-256
	// bad - it is not a signature of this file
}
