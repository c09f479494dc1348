//go:build linux

package torture

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/internal/test/gotool"
)

// For scripts/torture.
var (
	clientName = flag.String("client", "braid", "the client to torture: braid, aria2, curl or wget2")
	runs       = flag.Int("runs", 1, "how often each case is run; the worst counts")
	only       = flag.String("only", "", "only the cases whose rule and name match this regular expression")
	printTable = flag.Bool("table", false, "print a line for each case and the sums instead of judging")
)

// patience is how long a run may take: twice what any case needs. Other clients have nothing that takes ten timeouts.
func patience(c client) time.Duration {
	if c.name == "braid" {
		return 2 * time.Minute // which ends what hangs; a busy machine has some cases wait long
	}
	return 20 * time.Second
}

// program is the path of the client.
var program string

func TestMain(m *testing.M) {
	if does := os.Getenv(badClient); does != "" {
		misbehave(does)
	}
	flag.Parse()
	debug.SetGCPercent(30) // see settle: a large parent makes its children look large
	debug.SetMemoryLimit(50 << 20)
	if err := flag.Set("test.parallel", "16"); err != nil { // cases wait more than they work
		panic(err)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "braid-torture-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = obtain(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// obtain finds the client, or builds it.
func obtain(dir string) (string, error) {
	c := chosen()
	if c.name == "" {
		return "", fmt.Errorf("no client %q; there are braid, aria2, curl and wget2", *clientName)
	}
	if c.name != "braid" {
		return exec.LookPath(c.program)
	}
	return gotool.Braid(dir)
}

func chosen() client {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == *clientName })
	if i < 0 {
		return client{}
	}
	return clients[i]
}

// torments is the whole table.
func torments() []torment {
	return slices.Concat(framings(), heads(), statuses(), ranges(), lengths(), redirects(), digests(), links(), mirrors(),
		tlsCases(), names(), documents(), described(), signatures(), torrents(), lists(), ftps(), feeds(), escapes(),
		near(), leftovers(), shared(), smimes(), others(), twices(), remoteNames(), triggers(),
		replaced(), evidences(), endless(), found(), forges(), keyed())
}

// TestTorture runs the table once, or each fifth case of it with -short, and wants of braid what it says.
func TestTorture(t *testing.T) {
	wanted := regexp.MustCompile(*only)
	var sheet sheet
	t.Run("cases", func(t *testing.T) {
		seen := map[string]bool{}
		at := map[string][]torment{}
		for range *runs { // a table for each run: what servers do may depend on what they did
			for _, c := range torments() {
				at[c.name()] = append(at[c.name()], c)
			}
		}
		for i, c := range torments() {
			name := c.name()
			if seen[name] {
				t.Errorf("two cases are called %q", name)
			}
			seen[name] = true
			if !wanted.MatchString(name) || testing.Short() && i%5 != 0 {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sheet.add(name, play(t, at[name]))
			})
		}
		if *only == "" && len(seen) < 200 {
			t.Errorf("%d cases, fewer than 200", len(seen))
		}
	})
	if *printTable {
		fmt.Print(sheet.text(chosen().name, *runs))
	}
}

func (c torment) name() string { return "rule " + c.rule + ": " + c.does }

// play runs each copy of a case and gives the worst verdict.
func play(t *testing.T, copies []torment) (worst verdict) {
	for _, c := range copies {
		w := newWorld(t)
		c.set(w)
		o, ran := w.run(chosen(), program, patience(chosen()))
		if !ran {
			return verdict{}
		}
		v := judge(o, w.limits)
		if chosen().name == "braid" {
			c.hold(t, w, v, o)
		}
		if v.class >= worst.class {
			worst = v
		}
	}
	return worst
}

// hold compares a verdict with the table.
func (c torment) hold(t *testing.T, w *world, v verdict, o observation) {
	problem := c.want.meets(v, o)
	for _, asked := range w.asked {
		if s := asked(); problem == "" {
			problem = s
		}
	}
	if problem != "" {
		t.Errorf("%s\n%s", problem, strings.ToValidUTF8(o.output, "?"))
	}
}

// A sheet collects verdicts. Cases write to it at the same time.
type sheet struct {
	mu    sync.Mutex
	rows  []string
	count map[class]int
}

func (s *sheet) add(name string, v verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[class]int{}
	}
	s.count[v.class]++
	s.rows = append(s.rows, fmt.Sprintf("%-18v %s  [%.160q]", v.class, name, v.why))
}

// text is a line for each case, and the sums as a row of a table in Markdown.
func (s *sheet) text(client string, runs int) string {
	slices.Sort(s.rows)
	var b strings.Builder
	for _, row := range s.rows {
		fmt.Fprintln(&b, row)
	}
	fmt.Fprintf(&b, "\nthe worst of %d runs of each case:\n\n| client | cases |", runs)
	for _, c := range classes {
		fmt.Fprintf(&b, " %s |", c.word)
	}
	fmt.Fprintf(&b, "\n%s\n| %s | %d |", strings.Repeat("|---", len(classes)+2)+"|", client, len(s.rows))
	for _, c := range classes {
		fmt.Fprintf(&b, " %d |", s.count[c.class])
	}
	return b.String() + "\n"
}
