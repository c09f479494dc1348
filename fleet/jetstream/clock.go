package jetstream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A clock returns the time of a queue's server. Leases and waits use it, because a worker's clock may be wrong.
type clock struct {
	local  func() time.Time // the clock of this machine
	offset atomic.Int64     // the server's clock minus the clock of this machine
}

func (c *clock) now() time.Time { return c.at(c.local()) }

// at converts t, a time of this machine's clock, to the server's clock.
func (c *clock) at(t time.Time) time.Time { return t.Add(c.ahead()) }

// ahead returns how far the server's clock is ahead of this machine's clock. It may be negative.
func (c *clock) ahead() time.Duration { return time.Duration(c.offset.Load()) }

// measure measures the offset of the server's clock. It stores a value that the server adds its time to.
func (c *clock) measure(ctx context.Context, leases jetstream.KeyValue) error {
	began := c.local()
	if _, err := leases.Put(ctx, keyClock, nil); err != nil {
		return err
	}
	middle := began.Add(c.local().Sub(began) / 2)
	e, err := leases.Get(ctx, keyClock)
	if err == nil {
		c.offset.Store(int64(e.Created().Sub(middle)))
	}
	return err
}
