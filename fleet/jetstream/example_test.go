package jetstream_test

import (
	"context"
	"fmt"
	"os"

	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/listen"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	h, err := jetstream.NewHost(dir, jetstream.Socket{Listen: listen.Socket, Dial: listen.Dial}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker 1", Works: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	job := fleet.Job{Name: "disk.iso", URIs: []string{"https://example.org/disk.iso"}}
	fmt.Println(q.Report(ctx, job))
	claim, err := q.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := claim.Finish(ctx, fleet.Ending{Kind: fleet.Right})
	fmt.Println(r.Job.Name, r.State, err)
	fmt.Println(q.Report(ctx, job))
	// Output:
	// queued <nil>
	// disk.iso done <nil>
	// known <nil>
}
