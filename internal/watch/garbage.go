package watch

import (
	"os"
	"runtime/debug"
)

// garbage is the GOGC value of a service, half of the default. A service has CPU time to spare, and holds its
// memory for years.
const garbage = 50

// SpareMemory lowers GOGC to garbage until end is called, unless the environment sets GOGC.
func SpareMemory() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbage)
	return func() { debug.SetGCPercent(before) }
}
