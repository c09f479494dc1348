package worker

import (
	"testing"

	"braid/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
