// Command ruletable prints the rules of doc/rules.md with the tests that carry their numbers. A Go test carries one in its
// name (TestRefused_Rule41, TestMetalink_S5), a script of testdata in the comments of its own ("rule 40", "C9").
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("ruletable: ")
	results := flag.String("results", "", "what go test -json wrote to `FILE`")
	flag.Parse()
	rules, err := readRules("doc/rules.md")
	if err != nil {
		log.Fatal(err)
	}
	tests, err := findTests(".")
	if err != nil {
		log.Fatal(err)
	}
	ended := map[string]string{}
	if *results != "" {
		if ended, err = readResults(*results); err != nil {
			log.Fatal(err)
		}
	}
	if !write(rules, tests, ended) {
		os.Exit(1)
	}
}

// A rule is a row of the document.
type rule struct {
	number string
	later  bool // it is not built yet
	text   string
}

var row = regexp.MustCompile(`^\| ([CSV]?\d+(?:, [CSV]?\d+)*) \| (.*?) \|(.*)$`)

// readRules reads the tables. That of exit codes has numbers of its own.
func readRules(path string) (rules []rule, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	heading := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			heading = line
		}
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.Contains(heading, "Exit codes") {
			continue
		}
		for n := range strings.SplitSeq(m[1], ", ") {
			cells := strings.Split(strings.Trim(m[3], " |"), "|")
			state := strings.TrimSpace(cells[len(cells)-1])
			rules = append(rules, rule{n, strings.HasPrefix(state, "later") || strings.HasPrefix(m[2], "Kept free"), m[2]})
		}
	}
	return rules, nil
}

var (
	testName = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	inName   = regexp.MustCompile(`_(?:Rules?(\d+)|([CSV]\d+))`)
	inText   = regexp.MustCompile(`\brules? ((?:\d+(?:, | and | to )?)+)|\b([CSV]\d+)\b`)
	digits   = regexp.MustCompile(`\d+`)
)

// findTests maps the number of a rule to the tests that carry it.
func findTests(root string) (map[string][]string, error) {
	tests := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case strings.HasSuffix(path, "_test.go"):
			return eachLine(path, func(line string) { goTest(tests, line) })
		case strings.HasSuffix(path, ".txtar"):
			script := strings.TrimSuffix(filepath.Base(path), ".txtar")
			return eachLine(path, func(line string) { scriptComment(tests, script, line) })
		}
		return nil
	})
	return tests, err
}

func goTest(tests map[string][]string, line string) {
	m := testName.FindStringSubmatch(line)
	if m == nil {
		return
	}
	for _, n := range inName.FindAllStringSubmatch(m[1], -1) {
		add(tests, n[1]+n[2], m[1])
	}
}

func scriptComment(tests map[string][]string, script, line string) {
	if !strings.HasPrefix(line, "#") {
		return
	}
	for _, n := range inText.FindAllStringSubmatch(line, -1) {
		for _, number := range digits.FindAllString(n[1], -1) {
			add(tests, number, script)
		}
		add(tests, n[2], script)
	}
}

func add(tests map[string][]string, number, test string) {
	if number != "" && !slices.Contains(tests[number], test) {
		tests[number] = append(tests[number], test)
	}
}

func eachLine(path string, do func(string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		do(lines.Text())
	}
	return lines.Err()
}

// readResults maps tests, and scripts, to how they ended: "pass", "fail" or "skip". The worst counts.
func readResults(path string) (map[string]string, error) {
	worst := []string{"", "pass", "skip", "fail"}
	ended := map[string]string{}
	err := eachLine(path, func(line string) {
		var e struct{ Action, Test string }
		if json.Unmarshal([]byte(line), &e) != nil || !slices.Contains(worst[1:], e.Action) || e.Test == "" {
			return
		}
		name, sub, _ := strings.Cut(e.Test, "/")
		if sub != "" && strings.Contains(name, "Script") {
			name = sub
		} else if sub != "" {
			return
		}
		if slices.Index(worst, e.Action) > slices.Index(worst, ended[name]) {
			ended[name] = e.Action
		}
	})
	return ended, err
}

// write prints the table, and says whether every rule that is built has tests, and all went well.
func write(rules []rule, tests map[string][]string, ended map[string]string) bool {
	var without, failed []string
	for _, r := range rules {
		state := ""
		if r.later {
			state = " (later)"
		}
		fmt.Printf("%-4s%s %s\n", r.number, state, shorten(r.text, 100))
		for _, t := range tests[r.number] {
			fmt.Printf("       %-5s %s\n", ended[t], t)
			if ended[t] == "fail" || ended[t] == "skip" {
				failed = append(failed, t)
			}
		}
		if len(tests[r.number]) == 0 && !r.later {
			without = append(without, r.number)
		}
	}
	fmt.Printf("\n%d rules", len(rules))
	if len(without) > 0 {
		fmt.Printf("; without a test: %s", strings.Join(without, ", "))
	}
	if len(failed) > 0 {
		fmt.Printf("; not passed: %s", strings.Join(slices.Compact(failed), ", "))
	}
	fmt.Println()
	return len(without)+len(failed) == 0
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
