package queue_test

import (
	"fmt"
	"time"

	"braid/daemon/queue"
)

func Example() {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	q := queue.New(1)
	q.Add(now, queue.Entry{URIs: []string{"https://example.org/a.iso"}}, -1)
	q.Add(now, queue.Entry{URIs: []string{"https://example.org/b.iso"}}, 0) // in front

	e, _ := q.Start(now)
	q.Ended(now.Add(time.Minute), e.GID, queue.Outcome{Verified: "sha-256 from Digest over https"})
	for _, e := range append(q.Stopped(0, 10), q.Waiting(0, 10)...) {
		fmt.Println(e.URIs[0], e.Status)
	}
	c := q.Drain()
	fmt.Println(len(c.Store), "to be stored;", c.Notices[0].What, c.Notices[1].What)
	// Output:
	// https://example.org/b.iso complete
	// https://example.org/a.iso waiting
	// 2 to be stored; onDownloadStart onDownloadComplete
}
