package signatures_test

import (
	"fmt"

	"braid/verify/signatures"
)

func Example() {
	for _, data := range []string{"-----BEGIN PGP SIGNATURE-----\n", "-----BEGIN CMS-----\n", "<html>"} {
		fmt.Println(signatures.Of([]byte(data)).Name)
	}
	kind, ok := signatures.OfType("application/pkcs7-signature")
	fmt.Println(kind.Name, ok)
	// Output:
	// OpenPGP
	// S/MIME
	// OpenPGP
	// S/MIME true
}
