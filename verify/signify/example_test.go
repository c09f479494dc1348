package signify_test

import (
	"fmt"
	"os"

	"braid/verify/signify"
)

func Example() {
	data, err := os.ReadFile("testdata/key.pub")
	if err != nil {
		panic(err)
	}
	key, err := signify.ParseKey(data)
	if err != nil {
		panic(err)
	}
	signature, err := os.ReadFile("testdata/tool.tar.sig")
	if err != nil {
		panic(err)
	}
	checker, err := signify.New(signature, []signify.Key{key})
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(checker, "a tool")
	results, err := checker.Signatures()
	fmt.Println(results[0], err)
	// Output:
	// signify signature by aae506b64f8864c1 <nil>
}
