package indexpage

import (
	"testing"

	"braid/internal/test/feedtest"
)

func TestVectors_Rule79(t *testing.T) {
	feedtest.Vectors(t, "../../testdata/vectors/antenna-index/*", Format.Decode)
}
