package pace_test

import (
	"fmt"
	"time"

	"braid/antenna/pace"
)

// A feed that changes is asked often, and one that is still ever less.
func ExampleRhythm() {
	bounds := pace.Bounds{First: 15 * time.Minute, Min: 5 * time.Minute, Max: time.Hour}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := pace.Begin(now.Add(-time.Hour), now)
	for _, changed := range []bool{true, true, false, false} {
		now = now.Add(r.Interval(now, bounds))
		r = r.Saw(changed, now)
		fmt.Println(changed, r.Interval(now, bounds).Round(time.Minute))
	}
	// Output:
	// true 19m0s
	// true 7m0s
	// false 7m0s
	// false 7m0s
}
