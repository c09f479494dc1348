package feed_test

import (
	"fmt"

	"braid/antenna/feed"
)

// Decide compares a report with what was handled before. Its verdict is a hint for what to download.
func ExampleDecide() {
	const day = 24 * 3600
	now := feed.Time(1794261900)
	report := feed.Record{URL: "http://example.org/a", LastModified: now - 3600, Detected: now - 1800}
	var state feed.State // nothing is known yet
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
