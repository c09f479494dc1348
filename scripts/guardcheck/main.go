// Command guardcheck negates the conditions of the packages that check untrusted input, one by one, and runs their
// tests: a check that can be negated without a failing test is not tested. With -rules it breaks the rules of
// doc/rules.md instead, with patches written for that. See the usage in scripts/guards.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"braid/scripts/rulebook"
)

// guarded are the packages that are checked by default. Each has the packages whose tests run if its own tests pass.
var guarded = map[string][]string{
	"antenna": {"cli"}, "antenna/feed": {"antenna/lirs", "antenna/hinadi", "antenna/soif", "antenna"},
	"antenna/indexpage": {"antenna", "internal/lookup"}, "antenna/releaseapi": {"antenna"},
	"antenna/hinadi": {"antenna", "cli"}, "antenna/lirs": {"antenna", "cli"}, "antenna/soif": {"antenna", "cli"},
	"byterange": {"source/httpsource"}, "linkheader": {"metalink", "download"}, "metalink": {"download", "cli", "internal/test/e2e"},
	"metalink/metainfo": {"download", "cli"},
	"internal/partfile": {"download", "internal/test/e2e"}, "download/state": {"download", "cli", "internal/test/e2e"},
	"internal/fsys": {"internal/partfile", "antenna", "cli", "internal/test/e2e"}, "internal/mask": {"cli", "internal/test/e2e"}, "internal/web": {"source/httpsource", "antenna", "download"}, "address": {"internal/web", "download"},
	"source/ftpsource": {"download"}, "source/httpsource": {"download"},
	"verify": {"download"}, "verify/openpgp": {"cli", "internal/test/e2e"}, "verify/smime": {"cli", "internal/test/e2e"}, "verify/sums": {"cli", "internal/test/e2e"},
	"internal/watch": {"cli", "internal/test/e2e"},
}

// guardedFiles are the files to check, for packages of which not all are.
var guardedFiles = map[string][]string{
	"antenna":        {"day.go", "discover.go", "format.go", "pace.go"},
	"internal/watch": {"access.go", "build.go", "config.go", "empty.go", "flags.go", "overlap.go", "parse.go", "tables.go", "template.go", "watches.go"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("guards: ")
	kind := flag.String("kind", "negate", "negate a condition, or switch it `off`")
	match := flag.String("match", "", "only guards whose place matches `REGEXP`")
	sample := flag.Int("sample", 0, "only `N` guards, chosen by -seed")
	seed := flag.Uint64("seed", 1, "of the sample")
	fast := flag.Bool("fast", false, "end the tests of a package with the first failure: the count by rules is then too small")
	own := flag.Bool("own", false, "ask only the tests of the package itself, which is many times faster: survivors are then what its callers' tests may notice")
	by := flag.String("by", "", "ask only the tests of `PACKAGE`, as of one that tells stories about all of download")
	list := flag.Bool("list", false, "only print what would be tried")
	byRules := flag.Bool("rules", false, "break rules, all or those named, by the patches that are written for them")
	flag.Parse()
	only, err := regexp.Compile(*match)
	if err != nil {
		log.Fatal(err)
	}
	o := options{off: *kind == "off", only: only, sample: *sample, seed: *seed, fast: *fast, own: *own, by: *by, list: *list}
	try := check
	if *byRules {
		try = checkRules
	}
	switch survivors, err := inWork(try, flag.Args(), o); {
	case err != nil:
		log.Fatal(err)
	case survivors > 0:
		os.Exit(1)
	}
}

type options struct {
	off, fast, own, list bool
	by                   string
	only                 *regexp.Regexp
	sample               int
	seed                 uint64
}

// inWork calls try with the root of the repository and a temporary folder.
func inWork(try func(root, work string, names []string, o options) (int, error), names []string, o options) (int, error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "guards")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	return try(root, work, names, o)
}

func check(root, work string, packages []string, o options) (int, error) {
	m := &mutator{off: o.off}
	files := map[string][]byte{}
	for pkg := range names(packages) {
		rewritten, err := m.rewrite(root, pkg)
		if err != nil {
			return 0, err
		}
		for path, text := range rewritten {
			files[path] = text
		}
	}
	guards := choose(m.guards, o)
	if o.list {
		for _, g := range guards {
			fmt.Println(g.place())
		}
		return 0, nil
	}
	b, err := newBench(root, work, files)
	if err != nil {
		return 0, err
	}
	b.fast, b.own, b.by = o.fast, o.own, o.by
	argued, err := readArgued(filepath.Join(root, "scripts/guardcheck/argued.txt"))
	if err != nil {
		return 0, err
	}
	return try(b, guards, argued)
}

func choose(guards []guard, o options) []guard {
	guards = slices.DeleteFunc(guards, func(g guard) bool { return !o.only.MatchString(g.place()) })
	if o.sample == 0 || o.sample >= len(guards) {
		return guards
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	r.Shuffle(len(guards), func(i, j int) { guards[i], guards[j] = guards[j], guards[i] })
	guards = guards[:o.sample]
	slices.SortFunc(guards, func(a, b guard) int { return a.number - b.number })
	return guards
}

// names yields the packages in order.
func names(packages []string) func(func(string) bool) {
	if len(packages) == 0 {
		for pkg := range guarded {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	return slices.Values(packages)
}

// try switches each guard and returns the number of guards that no test noticed and argued.txt does not justify.
func try(b *bench, guards []guard, argued map[string]string) (survivors int, err error) {
	noticed := map[string]int{}
	alive, excused := 0, 0
	for i, g := range guards {
		failed, err := notice(b, g)
		if err != nil {
			return survivors, err
		}
		for _, rule := range rules(failed) {
			noticed[rule]++
		}
		switch reason := argued[g.name()]; {
		case len(failed) > 0:
			alive++
		case reason != "":
			excused++
		default:
			survivors++
			fmt.Printf("SURVIVED %s:%d %s\n", g.file, g.line, g.place())
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(os.Stderr, "guards: %d of %d, %d noticed, %d argued, %d survived\n", i+1, len(guards), alive, excused, survivors)
		}
	}
	fmt.Printf("\n%d guards: %d noticed, %d argued, %d survived\n", len(guards), alive, excused, survivors)
	writeRules(noticed)
	return survivors, nil
}

// notice runs the tests of the package, and then those of its callers.
func notice(b *bench, g guard) ([]string, error) {
	asked := []string{g.pkg}
	switch {
	case b.by != "":
		asked = []string{b.by}
	case !b.own:
		asked = append(asked, guarded[g.pkg]...)
	}
	for _, pkg := range asked {
		path, err := b.binary(pkg)
		if err != nil {
			return nil, err
		}
		if path == "" {
			continue
		}
		if failed, _ := b.run(pkg, g.number); len(failed) > 0 {
			return failed, nil
		}
	}
	return nil, nil
}

// rules returns the rule numbers in the names of tests.
func rules(failed []string) (numbers []string) {
	for _, test := range failed {
		for _, n := range rulebook.Numbers(test) {
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}

func writeRules(noticed map[string]int) {
	var all []string
	for rule := range noticed {
		all = append(all, rule)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	fmt.Print("noticed by tests of rule:")
	for _, rule := range all {
		fmt.Printf(" %s (%d)", rule, noticed[rule])
	}
	fmt.Println()
}

// readArgued reads lines of the name of a guard, two spaces or more, "# " and the reason why no test can notice the
// guard.
func readArgued(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	argued := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, reason, ok := strings.Cut(lines.Text(), "  # "); ok {
			argued[strings.TrimSpace(name)] = reason
		}
	}
	return argued, lines.Err()
}
