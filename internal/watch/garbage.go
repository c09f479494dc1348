package watch

import (
	"os"
	"runtime/debug"
)

// garbage is how much of it there may be for what is in use, in percent, before it is collected: half of what is usual.
// A service has time; its memory is taken from others for years.
const garbage = 50

// SpareMemory has less garbage lie about, unless the environment says how much, until the function is called.
func SpareMemory() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbage)
	return func() { debug.SetGCPercent(before) }
}
