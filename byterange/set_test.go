package byterange

import (
	"iter"
	"slices"
	"testing"
)

func TestSetAdd(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  []Range
		want string
	}{
		{"nothing", nil, "empty"},
		{"an empty range", []Range{{5, 5}}, "empty"},
		{"a backwards range", []Range{{9, 5}}, "empty"},
		{"an empty range inside a gap", []Range{{0, 2}, {8, 9}, {5, 5}}, "0-1,8-8"},
		{"touching at the end", []Range{{0, 5}, {5, 9}}, "0-8"},
		{"touching at the start", []Range{{5, 9}, {0, 5}}, "0-8"},
		{"one byte between", []Range{{0, 5}, {6, 9}}, "0-4,6-8"},
		{"filling a gap exactly", []Range{{0, 5}, {8, 9}, {5, 8}}, "0-8"},
		{"over several", []Range{{2, 3}, {5, 6}, {8, 9}, {4, 20}}, "2-2,4-19"},
		{"inside", []Range{{0, 9}, {3, 4}}, "0-8"},
		{"at the front", []Range{{5, 6}, {0, 1}}, "0-0,5-5"},
		{"unbounded", []Range{{0, 5}, {9, Unbounded}, {20, 30}}, "0-4,9-"},
	} {
		s := NewSet(tt.add...)
		checkCanonical(t, &s)
		if got := s.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSetRemove(t *testing.T) {
	for _, tt := range []struct {
		name string
		from []Range
		r    Range
		want string
	}{
		{"of the empty set", nil, Range{0, 5}, "empty"},
		{"nothing", []Range{{0, 5}}, Range{3, 3}, "0-4"},
		{"a backwards range", []Range{{0, 5}}, Range{4, 2}, "0-4"},
		{"all", []Range{{0, 5}}, Range{0, 5}, "empty"},
		{"more than all", []Range{{2, 5}, {7, 9}}, Range{0, Unbounded}, "empty"},
		{"the middle", []Range{{0, 9}}, Range{3, 6}, "0-2,6-8"},
		{"the head", []Range{{0, 9}}, Range{0, 3}, "3-8"},
		{"the tail", []Range{{0, 9}}, Range{3, 9}, "0-2"},
		{"what touches", []Range{{0, 3}, {6, 9}}, Range{3, 6}, "0-2,6-8"},
		{"parts of several", []Range{{0, 3}, {4, 5}, {6, 9}}, Range{2, 7}, "0-1,7-8"},
		{"of an unbounded range", []Range{{0, Unbounded}}, Range{5, 6}, "0-4,6-"},
	} {
		s := NewSet(tt.from...)
		s.Remove(tt.r)
		checkCanonical(t, &s)
		if got := s.String(); got != tt.want {
			t.Errorf("remove %s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSetQueries(t *testing.T) {
	s := NewSet(Range{2, 4}, Range{6, 9})
	if s.Len() != 5 || s.Count() != 2 {
		t.Errorf("Len, Count are %d, %d, want 5, 2", s.Len(), s.Count())
	}
	for _, tt := range []struct {
		r             Range
		contains      bool
		gaps, covered []Range
	}{
		{Range{0, 10}, false, []Range{{0, 2}, {4, 6}, {9, 10}}, []Range{{2, 4}, {6, 9}}},
		{Range{3, 7}, false, []Range{{4, 6}}, []Range{{3, 4}, {6, 7}}},
		{Range{6, 9}, true, nil, []Range{{6, 9}}},
		{Range{7, 8}, true, nil, []Range{{7, 8}}},
		{Range{8, 10}, false, []Range{{9, 10}}, []Range{{8, 9}}},
		{Range{4, 6}, false, []Range{{4, 6}}, nil},
		{Range{20, Unbounded}, false, []Range{{20, Unbounded}}, nil},
		{Range{5, 5}, true, nil, nil},
		{Range{8, 3}, true, nil, nil},
	} {
		if got := s.Contains(tt.r); got != tt.contains {
			t.Errorf("Contains(%v) is %t, want %t", tt.r, got, tt.contains)
		}
		if got := slices.Collect(s.Gaps(tt.r)); !slices.Equal(got, tt.gaps) {
			t.Errorf("Gaps(%v) is %v, want %v", tt.r, got, tt.gaps)
		}
		if got := slices.Collect(s.Covered(tt.r)); !slices.Equal(got, tt.covered) {
			t.Errorf("Covered(%v) is %v, want %v", tt.r, got, tt.covered)
		}
	}
	for off, want := range []int64{0, 1, 4, 4, 4, 5, 9, 9, 9, 9, 10} {
		if got := s.FirstGap(int64(off)); got != want {
			t.Errorf("FirstGap(%d) is %d, want %d", off, got, want)
		}
	}
}

// TestSetStop breaks out of each iterator after its first range, because an iterator that calls yield again would
// panic.
func TestSetStop(t *testing.T) {
	s := NewSet(Range{2, 4}, Range{6, 9})
	whole := Range{0, 20}
	for name, ranges := range map[string]iter.Seq[Range]{
		"All": s.All(), "Covered": s.Covered(whole), "Gaps": s.Gaps(whole),
	} {
		n := 0
		for range ranges {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s: %d ranges before the stop, want 1", name, n)
		}
	}
}

func TestSetClone(t *testing.T) {
	s := NewSet(Range{0, 5}, Range{10, 15})
	c := s.Clone()
	s.Add(Range{5, 7})
	s.Remove(Range{12, 13})
	if got := c.String(); got != "0-4,10-14" {
		t.Errorf("the clone became %s", got)
	}
	c.Add(Range{0, 99})
	if got := s.String(); got != "0-6,10-11,13-14" {
		t.Errorf("a change of the clone made the set %s", got)
	}
}

func TestSetAddGrowingDoesNotAllocate(t *testing.T) {
	for name, grow := range map[string]func(s *Set, step int64){
		"at the end":   func(s *Set, step int64) { s.Add(Range{1000 + step, 1001 + step}) },
		"in the midst": func(s *Set, step int64) { s.Add(Range{0, 1 + step}) },
		"joining":      func(s *Set, step int64) { s.Add(Range{900 - step, 910}) },
	} {
		s := NewSet(Range{0, 1}, Range{898, 899}, Range{900, 910}, Range{999, 1000})
		var step int64
		if n := testing.AllocsPerRun(100, func() { grow(&s, step); step++ }); n != 0 {
			t.Errorf("growing %s: %v allocations for one Add", name, n)
		}
	}
}

// checkCanonical fails the test if s has an empty range, or two that are not in order with a gap between.
func checkCanonical(t *testing.T, s *Set) {
	t.Helper()
	last := int64(-1)
	for r := range s.All() {
		if r.Empty() || r.Start <= last {
			t.Fatalf("not canonical: %v", slices.Collect(s.All()))
		}
		last = r.End
	}
}

func BenchmarkSetAddGrowing(b *testing.B) {
	var s Set
	for i := range int64(100) { // typical of a download in 100 places
		s.Add(Range{i << 20, i<<20 + 1})
	}
	at := int64(99<<20 + 1)
	b.ReportAllocs()
	for b.Loop() {
		s.Add(Range{at, at + 32<<10})
		at += 32 << 10
	}
}
