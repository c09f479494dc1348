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

// For scripts/scenarios, which prints the table.
var (
	printTable = flag.Bool("table", false, "print the table of scenarios instead of judging it")
	manySizes  = flag.Bool("sizes", false, "with -table: each scenario with files of 1 MiB to 20 GiB")
	seeds      = flag.Int("seeds", 3, "with -table: how many variations of each network")
	only       = flag.String("only", "", "with -table: only the scenarios that match this regular expression")
)

// TestTable shows, scenario by scenario, that what must be reached is reached with each seed.
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

// variations is how many seeds a row is played with: fewer if it takes long.
func (r row) variations(most int) int {
	if r.size > gib {
		return 1
	}
	return most
}

// A result is what came of a row and a seed.
type result struct {
	cold, warm report
	problems   []string
}

// play plays a row and says what falls short of a bar.
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

// judge says what falls short.
func (b bar) judge(rep report, least float64) (problems []string) {
	if !rep.finished {
		return []string{fmt.Sprintf("not finished: failed %v after %v and %v requests", rep.failed, rep.elapsed, rep.requests)}
	}
	if e := rep.efficiency(); e < least {
		problems = append(problems, fmt.Sprintf("efficiency %.1f %%, want %.1f %% (%v, at best %v)", 100*e, 100*least, rep.elapsed, rep.best))
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

// printRows prints the table. It does not fail: a policy is to be judged by it.
func printRows(t *testing.T) {
	if *calms > 0 {
		printCalm(t)
		return
	}
	match := regexp.MustCompile(*only)
	fmt.Printf("| scenario | size | efficiency, worst and median | remembered | of the floor | ramp, s | round trips | tail, s | of the floor | " +
		"in vain | requests | connections | after 10 s | all in use | falls short |\n")
	fmt.Printf("|%s\n", strings.Repeat("---|", 15))
	var sum, n float64
	for _, r := range rows() {
		if !match.MatchString(r.name) {
			continue
		}
		for _, v := range r.ofSizes() {
			e := v.print(t)
			sum, n = sum+e, n+1
		}
	}
	fmt.Printf("| mean | | %.1f |%s\n", 100*sum/max(n, 1), strings.Repeat(" |", 12))
}

// ofSizes is the row with the sizes that are wanted.
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

// print prints a line and tells the median efficiency.
func (r row) print(t *testing.T) float64 {
	var cold, warm, waste, floors, ramps, trips, tails, shares []float64
	var most, late, requests int
	var allIn time.Duration
	var short []string
	b := r.bar
	if r.goal != nil {
		b = *r.goal
	}
	for seed := range *seeds {
		res := r.play(t, uint64(seed), b)
		cold, waste = append(cold, res.cold.efficiency()), append(waste, res.cold.wasted())
		if b.warm > 0 {
			warm = append(warm, res.warm.efficiency())
		}
		floors = append(floors, res.cold.floor.all.Seconds()/res.cold.elapsed.Seconds())
		ramps, trips = append(ramps, res.cold.ramp().Seconds()), append(trips, res.cold.ramp().Seconds()/res.cold.sc.trip().Seconds())
		tails, shares = append(tails, res.cold.tail().Seconds()), append(shares, res.cold.tail().Seconds()/res.cold.floor.all.Seconds())
		most, late, requests = max(most, res.cold.most), max(late, res.cold.late), max(requests, res.cold.total())
		allIn = max(allIn, res.cold.allIn)
		for _, p := range res.problems {
			short = append(short, fmt.Sprintf("%d: %s", seed, p))
		}
	}
	if *manySizes {
		short = nil // what must be reached is said for one size
	}
	fmt.Fprintf(os.Stdout, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.2f %% | %d | %d | %d | %s | %s |\n", r.name, size(r.size), percent(cold), percent(warm),
		percent(floors), worst(ramps, 2), worst(trips, 1), worst(tails, 2), worstPercent(shares), 100*slices.Max(waste), requests, most, late, seconds(allIn), strings.Join(short, "; "))
	return median(cold)
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

// percent is the worst and the median.
func percent(v []float64) string {
	if len(v) == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f, %.1f", 100*slices.Min(v), 100*median(v))
}

// worst is the largest and the median, with so many digits.
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
