// Package leaktest fails the tests of a package if they leave goroutines behind.
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
//
// It is goleak with a longer time limit: goleak.VerifyTestMain waits less than half a second, and on a busy machine a
// goroutine may need longer to end. The package must be imported only by tests.
package leaktest

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is the time limit for goroutines to end. Only a leaked goroutine uses all of it.
const patience = time.Minute

// Main runs the tests of a package and exits. It closes the idle connections of http.DefaultClient before the check.
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		http.DefaultClient.CloseIdleConnections()
		if err := find(patience, options...); err != nil {
			fmt.Fprintln(os.Stderr, "leaktest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// find returns an error about goroutines that are still running after patience.
func find(patience time.Duration, options ...goleak.Option) error {
	begun := time.Now()
	for {
		err := goleak.Find(options...)
		if err == nil || time.Since(begun) > patience {
			return err
		}
	}
}
