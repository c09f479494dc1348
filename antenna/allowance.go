package antenna

import "sync/atomic"

// An Allowance is how many bytes the updates of a feed may still bring today (rule 56). Those that are handled at the same time share
// it: each spends what it transfers while it does. The nil Allowance has no end.
type Allowance struct {
	day  int64
	left atomic.Int64
}

// NewAllowance returns one of n bytes.
func NewAllowance(n int64) *Allowance {
	a := &Allowance{}
	a.left.Store(n)
	return a
}

// Left returns how much is left; limited is false if there is no end.
func (a *Allowance) Left() (n int64, limited bool) {
	if a == nil {
		return 0, false
	}
	return max(a.left.Load(), 0), true
}

// Spend takes n bytes, and reports whether they were there.
func (a *Allowance) Spend(n int64) bool { return a == nil || a.left.Add(-n) >= 0 }

// mayHave returns what the updates of m may still bring today, and whether it may have a further one.
func (m *member) mayHave() (a *Allowance, ok bool) {
	left, ok := m.saved.Day.Left(m.feed.Limits.Updates, m.feed.Limits.DayBytes)
	if !ok || left == 0 {
		return nil, ok
	}
	if m.handling == 0 || m.allowance.day != m.saved.Day.Number {
		m.allowance = NewAllowance(left)
		m.allowance.day = m.saved.Day.Number
	}
	rest, _ := m.allowance.Left() // what is being handled may have spent it
	return m.allowance, rest > 0
}
