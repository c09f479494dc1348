package jetstream

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"braid/fleet"
)

// serverAt is a server with a port, and what it stores in a folder.
func serverAt(t *testing.T, port int, dir string) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir,
		NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.WaitForShutdown)
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("it does not listen")
	}
	return s
}

// TestConnectionMeanwhile: a connection that comes while the queue is looked at is looked at, too.
func TestConnectionMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		back, looks := make(chan struct{}), 0
		first := back
		again := func() {
			old := back
			back = make(chan struct{})
			close(old) // the goroutine reads back only when this has ended
		}
		go onEach(ctx, first, func() <-chan struct{} { return back }, func() error {
			if looks++; looks == 1 {
				again()
				return errMissing // which is tried again
			}
			return nil
		})
		synctest.Wait()
		if looks != 0 {
			t.Fatalf("%d looks at the first connection", looks)
		}
		again()
		time.Sleep(time.Minute)
		synctest.Wait()
		if looks != 3 {
			t.Errorf("%d looks, want one that failed, one after it and one at what came meanwhile", looks)
		}
		stop()
		synctest.Wait()
	})
}

// TestServerLost: a server that comes back with another, empty store is told of once by each process, and by whoever
// looks later. What is reported from then on is done, and who follows the records knows that the others are gone.
func TestServerLost(t *testing.T) {
	t.Parallel()
	first := serverAt(t, server.RANDOM_PORT, t.TempDir())
	url, port := first.ClientURL(), first.Addr().(*net.TCPAddr).Port
	if _, err := Open(t.Context(), Options{URL: url, Name: "looks", There: true}); !Missing(err) {
		t.Errorf("a queue that was never made: %v", err)
	}
	worker, said := heardBy(t, Options{URL: url, Name: "worker"})
	other, otherSaid := heardBy(t, Options{URL: url, Name: "other"})
	told := make(chan string, 100)
	other.Follow(func(key string, r *fleet.Record) {
		switch {
		case r != nil:
			told <- r.Job.Name
		case key == fleet.KeyOf("a.iso"):
			told <- "a.iso is gone"
		}
	})
	follows := func(want string) {
		t.Helper()
		for end := time.After(20 * time.Second); ; {
			select {
			case got := <-told:
				if got == want {
					return
				}
			case <-end:
				t.Fatalf("who follows is not told of %s", want)
			}
		}
	}
	for range 5 { // revisions that the next queue has later
		report(t, worker, prior("a.iso", fleet.Low), fleet.Fresh)
		if _, err := worker.Drop(t.Context(), fleet.KeyOf("a.iso")); err != nil {
			t.Fatal(err)
		}
	}
	report(t, worker, prior("a.iso", fleet.Normal), fleet.Fresh)
	follows("a.iso")
	if at, err := worker.Lost(t.Context()); err != nil || !at.IsZero() {
		t.Fatalf("it was lost at %v, %v", at, err)
	}
	if err := other.Pause(t.Context(), true); err != nil { // which is lost, too
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !worker.Paused(); rest(t.Context(), 10*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the worker is not told to pause")
		}
	}
	first.Shutdown()
	first.WaitForShutdown()

	serverAt(t, port, t.TempDir())
	const what = "has lost its data"
	for _, log := range []*heard{said, otherSaid} {
		for end := time.Now().Add(20 * time.Second); log.count(what) == 0; rest(t.Context(), 10*time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it is not told:\n%s", &log.text)
			}
		}
	}
	follows("a.iso is gone")
	for end := time.Now().Add(20 * time.Second); ; rest(t.Context(), 10*time.Millisecond) { // until another one is made
		if _, err := other.Report(t.Context(), prior("b.iso", fleet.Normal)); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	follows("b.iso")
	if c := next(t, worker); c.Record.Job.Name != "b.iso" {
		t.Errorf("%s is taken", c.Record.Job.Name)
	}
	late, err := Open(t.Context(), Options{URL: url, Name: "looks", There: true})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if at, err := late.Lost(t.Context()); err != nil || at.IsZero() {
		t.Errorf("who looks later is told of %v, %v", at, err)
	}
	if err := look(t.Context(), worker); err != nil {
		t.Error(err)
	}
	for _, log := range []*heard{said, otherSaid} {
		if n := log.count(what); n != 1 {
			t.Errorf("it is told %d times:\n%s", n, &log.text)
		}
	}
}
