package scheduler_test

import (
	"fmt"
	"time"

	"braid/byterange"
	"braid/scheduler"
)

// Events and times are the input, and actions the output. Here a source answers and delivers all bytes of a small file
// at once. How the actions are carried out is up to the caller.
func Example() {
	const size = 1000
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := scheduler.New(scheduler.Config{Size: size})
	events := []scheduler.Event{scheduler.SourceAdded{ID: 1, Host: "a.example.net:443"}}
	for len(events) > 0 {
		actions, _ := s.Step(now, events[0])
		events = events[1:]
		now = now.Add(10 * time.Millisecond)
		for _, action := range actions {
			switch a := action.(type) {
			case scheduler.Fetch:
				fmt.Printf("fetch %v of source %d\n", a.Range, a.Source)
				events = append(events,
					scheduler.Answered{Fetch: a.ID, Host: "a.example.net:443", Size: size, Ranged: true},
					scheduler.Progress{Fetch: a.ID, Range: byterange.Range{Start: a.Range.Start, End: size}},
					scheduler.FetchEnded{Fetch: a.ID})
			case scheduler.Finish:
				fmt.Println("every byte is here")
			}
		}
	}
	// Output:
	// fetch 0-999 of source 1
	// every byte is here
}
