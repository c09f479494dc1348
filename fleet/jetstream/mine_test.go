package jetstream

import (
	"slices"
	"testing"
)

// A job is taken once. One that is about to be taken is not one that the process has.
func TestMine(t *testing.T) {
	m := mine{claims: map[string]*Claim{}}
	if !m.reserve("a") || m.reserve("a") || !m.reserve("b") || len(m.all()) != 0 {
		t.Errorf("%v is reserved", m.claims)
	}
	c := new(Claim)
	if m.take("a", c); m.reserve("a") || !slices.Equal(m.all(), []*Claim{c}) {
		t.Errorf("%v is taken", m.all())
	}
	m.free("a")
	m.free("b")
	if !m.reserve("a") || !m.reserve("b") {
		t.Errorf("%v is left", m.claims)
	}
}
