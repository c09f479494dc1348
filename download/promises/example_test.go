package promises_test

import (
	"fmt"
	"net/url"
	"time"

	"braid/download/promises"
	"braid/verify"
)

// A server that had a digest for its file and has none any more is noticed.
func ExampleMemory_Check() {
	u, err := url.Parse("https://example.org/disk.iso")
	if err != nil {
		fmt.Println(err)
		return
	}
	claims, err := verify.FromHeader(map[string][]string{"Digest": {"SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="}}, verify.HTTPS)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := promises.Open("") // in memory
	m.Keep(u, promises.Of(claims), now)
	fmt.Println(m.Check(u, promises.Of(claims), now))
	fmt.Println(m.Check(u, promises.Of(nil), now) != nil)
	// Output:
	// <nil>
	// true
}
