package scheduler

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Flags for scripts/scenarios, which prints the table.
var (
	printTable = flag.Bool("table", false, "print the table of scenarios instead of judging it")
	manySizes  = flag.Bool("sizes", false, "with -table: each scenario with files of 1 MiB to 20 GiB")
	seeds      = flag.Int("seeds", 3, "with -table: how many variations of each network")
	only       = flag.String("only", "", "with -table: only the scenarios that match this regular expression")
)

// TestTable checks each scenario against its bars, with each seed.
func TestTable(t *testing.T) {
	if *printTable {
		printRows(t)
		return
	}
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for seed := range r.variations(5) {
				for _, problem := range r.play(t, uint64(seed), r.bar).problems {
					t.Errorf("seed %d: %s", seed, problem)
				}
			}
		})
	}
}

// variations returns the number of seeds for a row, which is smaller if the row takes long.
func (r row) variations(most int) int {
	if r.size > gib {
		return 1
	}
	return most
}

// result is the result of a row with a seed.
type result struct {
	cold, warm report
	problems   []string
}

// play plays a row and reports the bars that it does not reach.
func (r row) play(t testing.TB, seed uint64, b bar) (res result) {
	sc := r.net.seeded(seed)
	sc.size = r.size
	res.cold = run(t, sc)
	res.problems = b.judge(res.cold, b.least)
	if b.warm > 0 {
		res.warm = run(t, sc.remembering(res.cold))
		for _, p := range b.judge(res.warm, b.warm) {
			res.problems = append(res.problems, "remembered: "+p)
		}
	}
	return res
}

// judge returns the requirements that a report does not meet.
func (b bar) judge(rep report, least float64) (problems []string) {
	if !rep.finished {
		return []string{fmt.Sprintf("not finished: failed %v after %v and %v requests", rep.failed, rep.elapsed, rep.requests)}
	}
	if rep.near() < b.floor {
		problems = append(problems, fmt.Sprintf("%.1f %% of the floor, want %.1f %% (%v, at best %v)", 100*rep.near(),
			100*b.floor, rep.elapsed, rep.floor.all))
	}
	if e := rep.efficiency(); e < least {
		problems = append(problems, fmt.Sprintf("efficiency %.1f %%, want %.1f %% (%v, at best %v)", 100*e, 100*least,
			rep.elapsed, rep.best))
	}
	if most := max(b.waste, 0.01); rep.wasted() > most && rep.duplicate+rep.lost > mib {
		problems = append(problems, fmt.Sprintf("%.2f %% came in vain, want %.2f %%", 100*rep.wasted(), 100*most))
	}
	if b.also != nil {
		if p := b.also(rep); p != "" {
			problems = append(problems, p)
		}
	}
	return problems
}

// printRows prints the table, or one of invented networks. It does not fail, because it is used to judge a policy.
func printRows(t *testing.T) {
	match := regexp.MustCompile(*only)
	fmt.Printf("| scenario | size | efficiency, worst and median | remembered | of the floor | ramp, s | round trips | " +
		"tail, s | of the floor | " +
		"in vain | requests | connections | after 10 s | all in use | falls short |\n")
	fmt.Printf("|%s\n", strings.Repeat("---|", 15))
	if *invented > 0 {
		printInvented(t)
		return
	}
	var sum, n float64
	for _, r := range rows() {
		if !match.MatchString(r.name) {
			continue
		}
		for _, v := range r.ofSizes() {
			if e := v.print(t); r.floor == 0 { // not one of the worst invented networks
				sum, n = sum+e, n+1
			}
		}
	}
	fmt.Printf("| mean | | %.1f |%s\n", 100*sum/max(n, 1), strings.Repeat(" |", 12))
}

// ofSizes returns the row with the selected sizes.
func (r row) ofSizes() []row {
	if !*manySizes {
		return []row{r}
	}
	var out []row
	for _, size := range []int64{mib, 16 * mib, 256 * mib, 2 * gib, 20 * gib} {
		v := r
		v.size = size
		out = append(out, v)
	}
	return out
}

// print prints a line and returns the median efficiency.
func (r row) print(t *testing.T) float64 {
	var all line
	b := r.bar
	if r.goal != nil {
		b = *r.goal
	}
	for seed := range *seeds {
		res := r.play(t, uint64(seed), b)
		all.add(res.cold)
		if b.warm > 0 {
			all.warm = append(all.warm, res.warm.efficiency())
		}
		for _, p := range res.problems {
			all.short = append(all.short, fmt.Sprintf("%d: %s", seed, p))
		}
	}
	if *manySizes {
		all.short = nil // requirements apply to one size
	}
	all.print(r.name, size(r.size))
	return median(all.cold)
}

// line is the summary of some runs, printed as a line of the table.
type line struct {
	cold, warm, waste, floors, ramps, trips, tails, shares []float64
	most, late, requests                                   int
	allIn                                                  time.Duration
	short                                                  []string
}

func (y *line) add(r report) {
	y.cold, y.waste = append(y.cold, r.efficiency()), append(y.waste, r.wasted())
	y.floors = append(y.floors, r.near())
	y.ramps, y.trips = append(y.ramps, r.ramp().Seconds()), append(y.trips, r.ramp().Seconds()/r.sc.trip().Seconds())
	y.tails, y.shares = append(y.tails, r.tail().Seconds()), append(y.shares, r.tail().Seconds()/r.floor.all.Seconds())
	y.most, y.late, y.requests = max(y.most, r.most), max(y.late, r.late), max(y.requests, r.total())
	y.allIn = max(y.allIn, r.allIn)
}

func (y *line) print(name, size string) {
	fmt.Fprintf(os.Stdout, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.2f %% | %d | %d | %d | %s | %s |\n", name,
		size, percent(y.cold), percent(y.warm),
		percent(y.floors), worst(y.ramps, 2), worst(y.trips, 1), worst(y.tails, 2), worstPercent(y.shares),
		100*slices.Max(y.waste), y.requests, y.most, y.late, seconds(y.allIn), strings.Join(y.short, "; "))
}

func size(n int64) string {
	if n >= gib && n%gib == 0 {
		return fmt.Sprintf("%d GiB", n/gib)
	}
	return fmt.Sprintf("%d MiB", n/mib)
}

func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// percent formats the worst and the median.
func percent(v []float64) string {
	if len(v) == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f, %.1f", 100*slices.Min(v), 100*median(v))
}

// worst formats the largest and the median.
func worst(v []float64, digits int) string {
	return fmt.Sprintf("%.*f, %.*f", digits, slices.Max(v), digits, median(v))
}

func worstPercent(v []float64) string {
	return fmt.Sprintf("%.1f %%, %.1f %%", 100*slices.Max(v), 100*median(v))
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
