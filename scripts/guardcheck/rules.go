package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/scripts/rulebook"
)

// scripts is the folder with script tests: subtests of one test of the command.
const scripts = "testdata/script"

// A court checks patches with the tests of all rules.
type court struct {
	*tree
	work     string
	tests    map[string][]rulebook.Test
	overlay  string            // all patches except those in alone
	alone    map[int]bool      // by their numbers
	binaries map[string]string // by overlay and package
	innocent map[string]error  // by folder and rule: result of the tests without a patch
}

// checkRules tries the patches of the given rules, or all. It returns the number that were not noticed or prove
// nothing.
func checkRules(root, work string, rules []string, o options) (bad int, err error) {
	patches, err := readPatches(filepath.Join(root, "scripts/guardcheck/patches"))
	if err != nil {
		return 0, err
	}
	c, err := newCourt(root, work, patches)
	if err != nil {
		return 0, err
	}
	var breaches []breach
	for _, p := range patches {
		for _, rule := range p.rules {
			b := breach{p, rule, fmt.Sprintf("%-4s %s: %s", rule, p.place(c.tree), p.title)}
			if (len(rules) == 0 || slices.Contains(rules, rule)) && o.only.MatchString(b.row) {
				breaches = append(breaches, b)
			}
		}
	}
	if o.list {
		for _, b := range breaches {
			fmt.Println(b.row)
		}
		return 0, nil
	}
	if len(breaches) == 0 {
		return 0, errors.New("there is no such patch")
	}
	if err := c.compiles(breaches); err != nil {
		return 0, err
	}
	return c.tryAll(breaches), nil
}

// A breach is a rule that a patch breaks.
type breach struct {
	patch
	rule string
	row  string // for output
}

// tryAll returns the number of breaches that no test noticed.
func (c *court) tryAll(breaches []breach) int {
	start := time.Now()
	var survivors []string
	for _, b := range breaches {
		witness, err := c.try(b.patch, b.rule)
		if err != nil {
			survivors = append(survivors, fmt.Sprintf("%s: %v", b.row, err))
			witness = "NOT NOTICED"
		}
		fmt.Printf("%s: %s\n", b.row, witness)
	}
	fmt.Printf("\nrules were broken in %d ways: %d were not noticed; %v\n", len(breaches), len(survivors), time.Since(start).Round(time.Second))
	for _, s := range survivors {
		fmt.Println("SURVIVED", s)
	}
	return len(survivors)
}

func newCourt(root, work string, patches []patch) (*court, error) {
	tests, err := rulebook.Tests(root)
	if err != nil {
		return nil, err
	}
	t := newTree(root)
	files, alone, err := graft(t, patches)
	if err != nil {
		return nil, err
	}
	overlay, err := writeOverlay(work, files)
	return &court{
		tree: t, work: work, tests: tests, overlay: overlay, alone: alone, binaries: map[string]string{}, innocent: map[string]error{},
	}, err
}

// compiles checks that the switchable patches compile, before their tests are built one by one. A compile error names
// the line where its patch begins.
func (c *court) compiles(breaches []breach) error {
	args := []string{"build"}
	for _, b := range breaches {
		for _, e := range b.edits {
			args = append(args, "./"+e.folder)
		}
	}
	slices.Sort(args[1:])
	return c.goes(c.environment(c.overlay), slices.Compact(args)...)
}

// environment makes the go command build with an overlay, also when a test runs it, and lets tests find the switch.
// Without symbols a binary links in half the time.
func (c *court) environment(overlay string) []string {
	return append(os.Environ(), "TMPDIR="+c.work, "GOFLAGS=-ldflags=-w -overlay="+overlay)
}

// goes runs the go command.
func (c *court) goes(env []string, args ...string) error {
	build := exec.Command("go", args...)
	build.Dir, build.Env = c.root, env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, tail(out))
	}
	return nil
}

// try returns the test of the rule that notices the patch. It returns an error if none does, or if the failing test
// also fails without the patch.
func (c *court) try(p patch, rule string) (witness string, err error) {
	overlay, number := c.overlay, p.number()
	if c.alone[number] {
		dir, err := os.MkdirTemp(c.work, "alone")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		if overlay, err = p.overlay(c.tree, dir); err != nil {
			return "", err
		}
	}
	for _, folder := range p.folders {
		if c.names(folder, rule) == "" { // the folder has only tests of another rule of the patch
			continue
		}
		failed, _, err := c.ask(folder, rule, overlay, number)
		if err != nil {
			return "", err
		}
		if len(failed) > 0 {
			return failed[len(failed)-1] + " (" + folder + ")", c.acquit(folder, rule)
		}
	}
	return "", errors.New("no test of the rule fails")
}

// overlay writes the files of a patch that is built on its own.
func (p patch) overlay(t *tree, dir string) (string, error) {
	files, err := p.apply(t)
	if err != nil {
		return "", err
	}
	replace := map[string][]byte{}
	for name, text := range files {
		replace[filepath.Join(t.root, name)] = text
	}
	return writeOverlay(dir, replace)
}

// acquit checks that the tests of a rule pass while no patch is switched on.
func (c *court) acquit(folder, rule string) error {
	key := folder + " " + rule
	if err, ok := c.innocent[key]; ok {
		return err
	}
	failed, out, err := c.ask(folder, rule, c.overlay, 0)
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("without the patch these fail, too: %v\n%s", failed, tail(out))
	}
	c.innocent[key] = err
	return err
}

// ask runs the tests in a folder with the rule's number, up to the first failure.
func (c *court) ask(folder, rule, overlay string, number int) (failed []string, out []byte, err error) {
	binary, env, err := c.build(folder, overlay)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(switchFile(c.work), []byte(strconv.Itoa(number)), 0o600); err != nil {
		return nil, nil, err
	}
	failed, out = execute(binary, filepath.Join(c.root, packageOf(folder)), 3*time.Minute, env, "-test.failfast", "-test.run="+c.names(folder, rule))
	return failed, out, nil
}

// realPrefix marks a folder of which only the tests that need real servers run.
const realPrefix = "real:"

// packageOf returns the folder of the tests themselves.
func packageOf(folder string) string {
	folder = strings.TrimPrefix(folder, realPrefix)
	if folder == scripts {
		return "internal/test/e2e"
	}
	return folder
}

// build compiles the tests of a folder. For the folder of scripts it also compiles the command, which their test builds
// in the same environment.
func (c *court) build(folder, overlay string) (binary string, env []string, err error) {
	env = c.environment(overlay)
	pkg := packageOf(folder)
	args := []string{"test", "-vet=off", "-c"}
	key := overlay + " " + pkg
	if strings.HasPrefix(folder, realPrefix) {
		args, key = append(args, "-tags=realservers"), overlay+" "+folder
	}
	if binary, ok := c.binaries[key]; ok {
		return binary, env, nil
	}
	binary = filepath.Join(filepath.Dir(overlay), strings.NewReplacer("/", "_", ":", "_").Replace(folder)+".test")
	if err := c.goes(env, append(args, "-o", binary, "./"+pkg)...); err != nil {
		return "", nil, err
	}
	if pkg == packageOf(scripts) {
		if err := c.goes(env, "build", "-o", os.DevNull, "."); err != nil {
			return "", nil, err
		}
	}
	c.binaries[key] = binary
	return binary, env, nil
}

// names returns the regular expression for the tests in a folder with the rule's number.
func (c *court) names(folder, rule string) string {
	var names []string
	for _, t := range c.tests[rule] {
		if real := realPrefix + t.Folder; t.Tagged && real == folder || !t.Tagged && t.Folder == folder {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	run := "^(" + strings.Join(names, "|") + ")$"
	if folder == scripts {
		return "^TestScript$/" + run
	}
	return run
}
