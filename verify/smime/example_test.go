package smime_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"braid/verify"
	"braid/verify/smime"
)

func Example() {
	roots, err := smime.ParseRoots(read("root.crt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	now := roots[0].NotBefore.Add(time.Hour) // time.Now() outside of examples
	for _, file := range []string{"braid\n", "another\n"} {
		c, err := smime.New(read("p-256.p7"), roots, now)
		if err != nil {
			fmt.Println(err) // no file could pass
			return
		}
		if _, err := io.Copy(c, strings.NewReader(file)); err != nil {
			fmt.Println(err)
			return
		}
		all, err := c.Signatures()
		if err != nil {
			fmt.Println(err)
			continue
		}
		s, _ := verify.GoodSignature(all)
		fmt.Println(s.Code, s.Signer, s.Hash)
	}
	// Output:
	// good "CN=p-256,O=braid test" ECDSA P-256 with SHA-256
	// signature by "CN=p-256,O=braid test": bad: it is not a signature of this file
}

// read reads what openssl made.
func read(name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", "openssl", name))
	if err != nil {
		fmt.Println(err)
	}
	return data
}
