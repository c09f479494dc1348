package limit_test

import (
	"context"
	"fmt"

	"braid/download/limit"
)

// A download has a limit of its own within that of all downloads. The bytes of an answer pass in turns.
func Example() {
	all := limit.New(10 << 20)
	own := limit.New(1 << 20).Within(all)
	n, err := own.Wait(context.Background(), 1000)
	fmt.Println(n, err)
	fmt.Println(own.Rate(), all.Passed())
	own.Set(0) // no limit of its own any more
	fmt.Println(own.Rate() == all.Rate())
	// Output:
	// 1000 <nil>
	// 1048576 1000
	// true
}
