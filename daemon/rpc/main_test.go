package rpc

import (
	"testing"

	"braid/internal/test/leaktest"
)

// No goroutine outlives a test.
func TestMain(m *testing.M) { leaktest.Main(m) }
