// Package leaktest fails the tests of a package when goroutines of theirs stay.
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
//
// It is goleak with patience: goleak.VerifyTestMain waits for less than half a second, and on a busy machine a
// goroutine that has been told to end may need longer to do so. It must not be imported but by tests.
package leaktest

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end. One that stays for good takes all of it.
const patience = time.Minute

// Main runs the tests of a package and exits. What http.DefaultClient keeps is closed before.
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

// find returns an error about goroutines that are still there after the patience.
func find(patience time.Duration, options ...goleak.Option) error {
	begun := time.Now()
	for {
		err := goleak.Find(options...)
		if err == nil || time.Since(begun) > patience {
			return err
		}
	}
}
