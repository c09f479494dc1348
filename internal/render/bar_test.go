package render

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"braid/download"
)

// wide is a bar on a terminal of the usual size.
func wide(w io.Writer) *bar { return &bar{w: w, size: func() (int, int) { return 80, 24 }} }

// onTerminal is what a terminal shows after what was written, from its first line to the last that is not empty. Lines
// that are too long would be broken, which nothing here may rely upon.
func onTerminal(t *testing.T, written string, columns int) []string {
	t.Helper()
	lines, row, col := [][]rune{nil}, 0, 0
	for written != "" {
		if written[0] == '\x1b' {
			end := strings.IndexAny(written, "JAm")
			amount, _ := strconv.Atoi(strings.TrimPrefix(written[:end], "\x1b["))
			switch written[end] {
			case 'J':
				lines = lines[:row+1]
				lines[row] = lines[row][:min(col, len(lines[row]))]
			case 'A':
				if row -= amount; row < 0 {
					t.Fatalf("the cursor is moved above the first line")
				}
			}
			written = written[end+1:]
			continue
		} else if written[0] == '\r' {
			col, written = 0, written[1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(written)
		written = written[n:]
		if r == '\n' {
			if row, col = row+1, 0; row == len(lines) {
				lines = append(lines, nil)
			}
			continue
		}
		lines[row] = append(lines[row][:min(col, len(lines[row]))], r)
		if col++; columns > 0 && col >= columns {
			t.Fatalf("a line of %d columns on a terminal of %d: %q", col, columns, string(lines[row]))
		}
	}
	var shown []string
	for _, l := range lines {
		shown = append(shown, strings.TrimRight(string(l), " "))
	}
	for len(shown) > 0 && shown[len(shown)-1] == "" {
		shown = shown[:len(shown)-1]
	}
	return shown
}

func TestBar(t *testing.T) {
	var b bytes.Buffer
	m := wide(&b)
	frame := func() string { return strings.Join(onTerminal(t, b.String(), 80), "\n") }
	m.Show(time.Time{}, fileProgress("a", download.Progress{Done: 64 << 20, Size: 256 << 20, Rate: 12 << 20, Active: 4}))
	if got := frame(); !strings.HasPrefix(got, "  25% |██") || !strings.Contains(got, "64 MiB of 256 MiB") ||
		!strings.Contains(got, "ETA 16 s") || !strings.Contains(got, "12 MiB/s") {
		t.Errorf("%q", got)
	}
	m.Clear()
	if got := frame(); got != "" {
		t.Errorf("after clear there is %q", got)
	}
	// all is there, but not yet proven
	m.Show(time.Time{}, fileProgress("a", download.Progress{Done: 256 << 20, Size: 256 << 20, Rate: 12 << 20, Active: 4}))
	if got := frame(); !strings.HasPrefix(got, "  99% |") {
		t.Errorf("%q", got)
	}
	// and it was the wrong file: from the beginning
	m.Show(time.Time{}, fileProgress("a", download.Progress{Size: 256 << 20, Active: 1}))
	if got := frame(); !strings.HasPrefix(got, "   0% |") || !strings.HasSuffix(got, "1 mirror") {
		t.Errorf("%q", got)
	}
}

// TestBarNarrow: at 40 columns rate and time left stay, and the bar goes.
func TestBarNarrow(t *testing.T) {
	for columns, want := range map[int]string{
		40: "  25% 12 MiB/s  ETA 16 s", 60: "  25% 64 MiB of 256 MiB    12 MiB/s  ETA 16 s", 22: "  25% 12 MiB/s",
	} {
		var b bytes.Buffer
		m := &bar{w: &b, size: func() (int, int) { return columns, 24 }}
		m.Show(time.Time{}, fileProgress("a", download.Progress{Done: 64 << 20, Size: 256 << 20, Rate: 12 << 20, Active: 4}))
		if got := strings.Join(onTerminal(t, b.String(), columns), "\n"); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

// TestBarOfUnknownSize moves all the same.
func TestBarOfUnknownSize(t *testing.T) {
	for _, size := range []int64{-1, 0} {
		var b bytes.Buffer
		m := wide(&b)
		var seen []string
		for done := range int64(3) {
			m.Show(time.Time{}, fileProgress("a", download.Progress{Done: done << 20, Size: size, Rate: 1 << 20, Active: 1}))
			seen = append(seen, onTerminal(t, b.String(), 80)[0][:1])
		}
		if got := onTerminal(t, b.String(), 80)[0]; !strings.Contains(got, "2 MiB") || strings.Contains(got, "%") ||
			len(slices.Compact(seen)) != 3 {
			t.Errorf("size %d: %q, %q", size, got, seen)
		}
	}
}

// TestBarIsDrawnSeldom: a slow terminal is not flooded.
func TestBarIsDrawnSeldom(t *testing.T) {
	var b bytes.Buffer
	m := wide(&b)
	at := time.Unix(1e9, 0)
	for i := range 1000 {
		m.Show(at.Add(time.Duration(i)*time.Millisecond), fileProgress("a", download.Progress{Done: int64(i), Size: 1000}))
	}
	if n := strings.Count(b.String(), eraseBelow); n != 10 {
		t.Errorf("drawn %d times in a second", n)
	}
}

// crowd is a table of so many sources.
func crowd(n int) (rows [][]string) {
	for i := range n {
		rows = append(rows, []string{fmt.Sprintf("  host%d.example.org:443\x1b", i), "  12 MiB", " 10 %", "   1 MiB/s",
			"again later, for a reason that is long"})
	}
	return rows
}

// TestBarOnAnyTerminal: whatever the size of the terminal, and however that changes, messages stay and nothing of what
// was drawn does, and no line is so long that it would be broken, nor are there more than the terminal has.
func TestBarOnAnyTerminal(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		columns, height := 80, 24
		var b, all bytes.Buffer
		m := &bar{w: &b, size: func() (int, int) { return columns, height }}
		s := &Screen{Out: &b, Meter: m, Verbose: true}
		var said []string
		for i := range 40 {
			columns, height = 4+rng.IntN(150), 1+rng.IntN(40)
			done, size := rng.Int64N(1<<40), rng.Int64N(1<<40)-1
			p := fileProgress("a", download.Progress{Done: min(done, max(size, 0)), Size: size,
				Rate: rng.Float64() * 1e9, Active: rng.IntN(20)})
			p.table = crowd(rng.IntN(30))
			s.progress(time.Time{}, p)
			drawn := onTerminal(t, b.String(), columns)
			if len(drawn) > max(height, 1) {
				t.Fatalf("seed %d: %d lines on a terminal of %d", seed, len(drawn), height)
			}
			all.Write(b.Bytes())
			if got := onTerminal(t, all.String(), 0); !slices.Equal(got[:min(len(said), len(got))], said) ||
				len(got) > len(said)+len(drawn) {
				t.Fatalf("seed %d: there is %q, said was %q, drawn %q", seed, got, said, drawn)
			}
			b.Reset()
			if rng.IntN(3) == 0 {
				said = append(said, fmt.Sprintf("message %d", i))
				s.Say("%s", said[len(said)-1])
				all.Write(b.Bytes())
				b.Reset()
				if got := onTerminal(t, all.String(), 0); !slices.Equal(got, said) {
					t.Fatalf("seed %d: there is %q, said was %q", seed, got, said)
				}
			}
		}
	}
}
