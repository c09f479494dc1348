package jetstream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A clock is the clock of a queue's server. It times leases and waits, as the clocks of workers may be wrong.
type clock struct {
	local  func() time.Time // the clock of this machine
	offset atomic.Int64     // server's clock minus this machine's
}

func (c *clock) now() time.Time { return c.at(c.local()) }

// at converts a time of this machine's clock to the server's clock.
func (c *clock) at(t time.Time) time.Time { return t.Add(c.ahead()) }

// ahead returns how far the server's clock is ahead of this machine's.
func (c *clock) ahead() time.Duration { return time.Duration(c.offset.Load()) }

// measure measures the offset of the server's clock, which sets the time of a stored value.
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
