package antenna_test

import (
	"bytes"
	"io"
	"iter"
	"testing"

	"braid/antenna/feed"
)

// TestWeights checks that the records kept in tolerant mode are those for which a strict pass finds no fatal violation.
func TestWeights(t *testing.T) {
	seen := map[feed.Weight]int{}
	vectors(t, func(t *testing.T, f format, raw []byte, _ document) {
		fatal, strict := map[int]bool{}, map[int]bool{}
		discarded := map[int]feed.Weight{}
		kept := numbers(f.decode, raw, feed.Options{Strict: true, Report: func(v feed.Violation) {
			seen[v.Weight]++
			fatal[v.Record] = fatal[v.Record] || v.Weight == feed.Fatal
			if v.Discarded {
				discarded[v.Record] = v.Weight
			}
		}})
		for _, line := range kept {
			strict[line] = true
		}
		for line, weight := range discarded {
			if strict[line] || weight == feed.Note {
				t.Errorf("line %d is discarded for a %v, and kept: %v", line, weight, strict[line])
			}
		}
		tolerant := map[int]bool{}
		for _, line := range numbers(f.decode, raw, feed.Options{}) {
			if tolerant[line] = true; fatal[line] {
				t.Errorf("line %d is kept, and something fatal was found", line)
			}
		}
		for line := range discarded {
			if !fatal[line] && !tolerant[line] {
				t.Errorf("line %d: nothing fatal was found, and it is discarded", line)
			}
		}
	})
	for _, w := range []feed.Weight{feed.Note, feed.Repair, feed.Fatal} {
		if seen[w] == 0 {
			t.Errorf("nothing is a %v", w)
		}
	}
}

// numbers returns the line numbers of the records of a feed.
func numbers(decode func(io.Reader, feed.Options) iter.Seq2[feed.Record, error], raw []byte, o feed.Options) (lines []int) {
	for r, err := range decode(bytes.NewReader(raw), o) {
		if err == nil {
			lines = append(lines, r.Line)
		}
	}
	return lines
}
