package speeds_test

import (
	"fmt"
	"time"

	"braid/download/speeds"
)

// What one download learned of a server, the next one begins with.
func ExampleMemory() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := speeds.Open("") // in memory
	m.Learn(now, speeds.Speed{Host: "mirror.example.net:443", Rate: 5e6, RTT: 40 * time.Millisecond})
	for _, later := range []time.Duration{time.Hour, speeds.Old} {
		rate, rtt := m.Hint("mirror.example.net:443", now.Add(later))
		fmt.Printf("%.0f bytes a second, %v away\n", rate, rtt)
	}
	// Output:
	// 5000000 bytes a second, 40ms away
	// 0 bytes a second, 0s away
}
