// Package rulebook reads the rules of doc/rules.md, and finds the tests that carry their numbers. A Go test carries one in its
// name (TestRefused_Rule41, TestMetalink_S5), a script of testdata in the comments of its own ("rule 40", "C9"). It runs nothing.
package rulebook

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Rule is an item of the document.
type Rule struct {
	Number string
	Later  bool // it is not built yet
	Text   string
}

var item = regexp.MustCompile(`^- \*\*([CSV]?\d+(?:, [CSV]?\d+)*)\*\* (.*)$`)

// Read reads the rules of the document. An item that begins with more than one number has as many rules.
func Read(path string) (rules []Rule, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	begin := 0 // of the rules of the last item
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "  "); is { // goes on with the item
			for i := range rules[begin:] {
				rules[begin+i].Text += " " + strings.TrimSpace(rest)
			}
			continue
		}
		begin = len(rules)
		if m := item.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			for n := range strings.SplitSeq(m[1], ", ") {
				rules = append(rules, Rule{n, strings.HasPrefix(m[2], "Kept free"), m[2]})
			}
		}
	}
	return rules, nil
}

// A Test is a Go test or a script.
type Test struct {
	Name   string
	Folder string // of its file, as "download" or "testdata/script", with slashes
	Tagged bool   // it needs a build tag, as those against real servers do
}

var (
	testName = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	inName   = regexp.MustCompile(`_(?:Rules?(\d+(?:_\d+)*)|([CSV]\d+))`)
	inText   = regexp.MustCompile(`\brules? ((?:\d+(?:, | and | to )?)+)|\b([CSV]\d+)\b`)
	digits   = regexp.MustCompile(`\d+`)
)

// Tests maps the number of a rule to the tests below root that carry it.
func Tests(root string) (map[string][]Test, error) {
	tests := map[string][]Test{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		shown, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(shown))
		switch {
		case strings.HasSuffix(path, "_test.go"):
			return goTests(tests, path, folder)
		case strings.HasSuffix(path, ".txtar"):
			script := Test{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), Folder: folder}
			return eachLine(path, func(line string) { scriptComment(tests, script, line) })
		}
		return nil
	})
	return tests, err
}

func goTests(tests map[string][]Test, path, folder string) error {
	tagged := false
	return eachLine(path, func(line string) {
		tagged = tagged || strings.HasPrefix(line, "//go:build realservers")
		m := testName.FindStringSubmatch(line)
		if m == nil {
			return
		}
		for _, n := range Numbers(m[1]) {
			add(tests, n, Test{m[1], folder, tagged})
		}
	})
}

// Numbers returns the numbers of the rules that the name of a Go test carries.
func Numbers(test string) (numbers []string) {
	for _, m := range inName.FindAllStringSubmatch(test, -1) {
		numbers = append(numbers, digits.FindAllString(m[1], -1)...)
		if m[2] != "" {
			numbers = append(numbers, m[2])
		}
	}
	return numbers
}

func scriptComment(tests map[string][]Test, script Test, line string) {
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

func add(tests map[string][]Test, number string, test Test) {
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
