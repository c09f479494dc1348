// Command ruletable prints the rules of doc/rules.md with the tests that carry their numbers, and how those ended.
// Scripts/rules has the usage.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"braid/scripts/rulebook"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("ruletable: ")
	results := flag.String("results", "", "what go test -json wrote to `FILE`")
	flag.Parse()
	rules, err := rulebook.Read("doc/rules.md")
	if err != nil {
		log.Fatal(err)
	}
	tests, err := rulebook.Tests(".")
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

// readResults maps tests, and scripts, to how they ended: "pass", "fail" or "skip". The worst counts.
func readResults(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	worst := []string{"", "pass", "skip", "fail"}
	ended := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || !slices.Contains(worst[1:], e.Action) || e.Test == "" {
			continue
		}
		name, sub, _ := strings.Cut(e.Test, "/")
		if sub != "" && strings.Contains(name, "Script") {
			name = sub
		} else if sub != "" {
			continue
		}
		if slices.Index(worst, e.Action) > slices.Index(worst, ended[name]) {
			ended[name] = e.Action
		}
	}
	return ended, lines.Err()
}

// write prints the table, and says whether every rule that is built has tests, and all went well.
func write(rules []rulebook.Rule, tests map[string][]rulebook.Test, ended map[string]string) bool {
	var without, failed []string
	for _, r := range rules {
		state := ""
		if r.Later {
			state = " (later)"
		}
		fmt.Printf("%-4s%s %s\n", r.Number, state, shorten(r.Text, 100))
		for _, t := range tests[r.Number] {
			fmt.Printf("       %-5s %s (%s)\n", ended[t.Name], t.Name, t.Folder)
			if ended[t.Name] == "fail" || ended[t.Name] == "skip" {
				failed = append(failed, t.Name)
			}
		}
		if len(tests[r.Number]) == 0 && !r.Later {
			without = append(without, r.Number)
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
