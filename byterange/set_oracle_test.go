package byterange

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// cells is the number of offsets that the oracle knows. Cell i is byte i, but the last cell is every byte from there to
// Unbounded.
const cells = 48

// An oracle is a simple implementation of Set, with one bool for each cell.
type oracle [cells]bool

// edge returns the offset at which cell i begins.
func edge(i int) int64 {
	if i == cells {
		return Unbounded
	}
	return int64(i)
}

func (o *oracle) put(from, to int, in bool) {
	for i := from; i < to; i++ {
		o[i] = in
	}
}

// runs returns the ranges within cells from to to-1 that are in the set or, if in is false, that are not.
func (o *oracle) runs(from, to int, in bool) (runs []Range) {
	for i := from; i < to; i++ {
		switch last := len(runs) - 1; {
		case o[i] != in:
		case last >= 0 && runs[last].End == edge(i):
			runs[last].End = edge(i + 1)
		default:
			runs = append(runs, Range{edge(i), edge(i + 1)})
		}
	}
	return runs
}

func (o *oracle) firstGap(from int) int64 {
	for i := from; i < cells; i++ {
		if !o[i] {
			return edge(i)
		}
	}
	return Unbounded
}

// check compares every query of s with the oracle's answer; from and to delimit the queries that take a range.
func (o *oracle) check(t *testing.T, s *Set, from, to int) {
	t.Helper()
	checkCanonical(t, s)
	all := o.runs(0, cells, true)
	var size int64
	for _, r := range all {
		size += r.Len()
	}
	within := Range{edge(from), edge(to)}
	checkRanges(t, "All", s.All(), all)
	checkRanges(t, "Covered", s.Covered(within), o.runs(from, to, true))
	gaps := o.runs(from, to, false)
	checkRanges(t, "Gaps", s.Gaps(within), gaps)
	if got := s.Len(); got != size {
		t.Fatalf("%v: Len is %d, want %d", s, got, size)
	}
	if got := s.Count(); got != len(all) {
		t.Fatalf("%v: Count is %d, want %d", s, got, len(all))
	}
	if got, want := s.Contains(within), len(gaps) == 0; got != want {
		t.Fatalf("%v: Contains(%v) is %t, want %t", s, within, got, want)
	}
	if got, want := s.FirstGap(edge(from)), o.firstGap(from); got != want {
		t.Fatalf("%v: FirstGap(%d) is %d, want %d", s, edge(from), got, want)
	}
}

func checkRanges(t *testing.T, what string, got iter.Seq[Range], want []Range) {
	t.Helper()
	if got := slices.Collect(got); !slices.Equal(got, want) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// obey runs program on a Set and on the oracle. Each step has three bytes. Clones made on the way must not change when
// the original does.
func obey(t *testing.T, program []byte) {
	var s Set
	var o oracle
	type clone struct {
		set Set
		was oracle
	}
	var clones []clone
	for ; len(program) >= 3; program = program[3:] {
		from, to := int(program[1])%(cells+1), int(program[2])%(cells+1) // to may be less than from
		r := Range{edge(from), edge(to)}
		switch program[0] % 8 {
		case 0, 1, 2, 3:
			s.Add(r)
			o.put(from, to, true)
		case 4, 5, 6:
			s.Remove(r)
			o.put(from, to, false)
		case 7:
			clones = append(clones, clone{s.Clone(), o})
			if program[1]%2 == 0 { // continue with the clone, so that the original must not change
				clones[len(clones)-1].set, s = s, clones[len(clones)-1].set
			}
		}
		o.check(t, &s, from, to)
	}
	for _, c := range clones {
		c.was.check(t, &c.set, 0, cells)
	}
}

func TestSetLikeOracle(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{})
	for range 200 {
		program := make([]byte, 3*100)
		rnd.Read(program)
		obey(t, program)
	}
}

func FuzzSet(f *testing.F) {
	f.Add([]byte{0, 0, 5, 0, 7, 9, 0, 5, 7})                // fill a gap exactly
	f.Add([]byte{0, 0, 48, 4, 3, 5, 7, 0, 0, 0, 3, 4})      // clone, then grow the original
	f.Add([]byte{0, 40, 48, 4, 47, 48, 0, 47, 48})          // to the unbounded end
	f.Add([]byte{0, 9, 3, 4, 9, 3, 0, 2, 4, 4, 3, 3})       // backwards and empty
	f.Add([]byte{0, 2, 3, 0, 5, 6, 0, 8, 9, 4, 2, 9, 7, 1}) // several at once
	f.Fuzz(func(t *testing.T, program []byte) {
		obey(t, program[:min(len(program), 3*60)])
	})
}
