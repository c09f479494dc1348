package scheduler

import (
	"cmp"
	"time"

	"braid/byterange"
)

// Config sets up a Scheduler. Zero values and negative ones mean the default.
type Config struct {
	// Size is that of the file in bytes; -1 if it is not known yet.
	Size int64
	// Have is what is here already.
	Have byterange.Set
	// PerHost is how many requests one host may get at a time. If zero, 1 (RFC 6249, section 7).
	PerHost int
	// Split is how many sources may be in use at a time. If zero, 16.
	Split int
	// MinSplit is the least that the user wants to ask a further source for: a range is not split into less, so a file of less than
	// two of them comes from one source. What a failed source leaves behind is asked for all the same. If zero, speeds and
	// round trips alone decide.
	MinSplit int64
	// Aggregate is the best that all sources together once brought, in bytes a second, if it is remembered. Sources
	// whose speed is remembered are used from the start as long as their speeds do not add up to it. If zero,
	// that is no limit.
	Aggregate float64
	// Growth is how connections are added. The zero value doubles.
	Growth GrowthMode
	// Tries is how often a source may fail without progress. If zero, 20.
	Tries int
	// FirstTries is the same for as long as no source has ever answered. If zero, Tries.
	FirstTries int
	// RetryWait is the pause after a first failure; it doubles up to 30 s. If zero, 1 s.
	RetryWait time.Duration
	// Silence is how long a source may send nothing when no other can take over. If zero, 30 s.
	Silence time.Duration
}

func (c Config) withDefaults() Config {
	c.PerHost = cmp.Or(max(c.PerHost, 0), 1)
	c.Split = cmp.Or(max(c.Split, 0), 16)
	c.MinSplit = max(c.MinSplit, 0)
	c.Tries = cmp.Or(max(c.Tries, 0), 20)
	c.FirstTries = cmp.Or(max(c.FirstTries, 0), c.Tries)
	c.RetryWait = cmp.Or(max(c.RetryWait, 0), time.Second)
	c.Silence = cmp.Or(max(c.Silence, 0), 30*time.Second)
	return c
}
