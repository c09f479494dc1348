package minisign_test

import (
	"fmt"
	"os"

	"braid/verify/minisign"
)

func Example() {
	data, err := os.ReadFile("testdata/key.pub")
	if err != nil {
		panic(err)
	}
	key, err := minisign.ParseKey(data)
	if err != nil {
		panic(err)
	}
	signature, err := os.ReadFile("testdata/hashed.minisig")
	if err != nil {
		panic(err)
	}
	checker, err := minisign.New(signature, []minisign.Key{key}, []string{"tool.tar"})
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(checker, "a release")
	results, err := checker.Signatures()
	fmt.Println(results[0], err)
	// Output:
	// minisign signature by 9938A77EEDFBA44B, dated 2023-11-14 <nil>
}
