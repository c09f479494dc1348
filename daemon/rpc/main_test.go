package rpc

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives a test.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
	}))
}
