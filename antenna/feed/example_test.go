package feed_test

import (
	"fmt"

	"braid/antenna/feed"
)

// A report is judged by what was handled before. What comes out is a hint of what to ask for.
func ExampleDecide() {
	const day = 24 * 3600
	now := feed.Time(1794261900)
	report := feed.Record{URL: "http://example.org/a", LastModified: now - 3600, Detected: now - 1800}
	var state feed.State // nothing has been seen yet
	for range 2 {
		v := feed.Decide(state, []feed.Record{report}, now)
		fmt.Println(v.Action == feed.None, v.Reason)
		state = v.Next
		now += day
	}
	// Output:
	// false first-sight
	// true stale
}
