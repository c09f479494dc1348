package scheduler

import "time"

// clock is the time of a step. Only Scheduler.Step sets it.
type clock struct {
	epoch time.Time // of the first step
	now   time.Time
}

func (c *clock) set(now time.Time) {
	if c.epoch.IsZero() {
		c.epoch = now
	}
	c.now = now
}

// actions are what a step demands of the caller, in order.
type actions struct{ list []Action }

func (a *actions) add(do Action) { a.list = append(a.list, do) }

// reset begins a step. It reuses the memory of the previous step.
func (a *actions) reset() { a.list = a.list[:0] }
