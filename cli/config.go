package cli

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

type configCommand struct {
	streams
	All bool
}

func newConfig(s streams) (action, targets) {
	k := &configCommand{streams: s}
	return k.run, targetsOf(k)
}

func (k *configCommand) run(ctx context.Context, words []string) error {
	name := "get"
	if len(words) == 1 {
		name = words[0]
	}
	program := option.Braid()
	command, ok := program.Below(name)
	switch {
	case len(words) > 1:
		return problem.Misuse("config", "only one command can be given", "see braid config --help")
	case !ok:
		return unknownCommand(program.Command, name)
	}
	conf := configurationOf(ctx)
	lines := []string{"file: " + conf.Path}
	switch {
	case conf.Path == "":
		lines[0] += "none, because the environment gives no folder for settings"
	case conf.File == nil:
		lines[0] += " (the file does not exist)"
	}
	var rows [][]string
	seen := map[string]bool{}
	for _, c := range append([]option.Command{command}, command.Commands...) {
		for _, o := range c.Options {
			if flag := o.Name(); !seen[flag] {
				seen[flag] = true
				rows = append(rows, k.rows(conf, name, flag)...)
			}
		}
	}
	lines = append(append(lines, render.Columns(rows)...), tablesText(conf)...)
	return printLines(k.out, lines)
}

// rows returns a table row for each value of flag, with the place where the value was set.
func (k *configCommand) rows(c *job.Settings, command, flag string) (rows [][]string) {
	if value := os.Getenv(option.Variable(flag)); value != "" {
		return [][]string{{flag, "= " + maskSetting(flag, value), option.Variable(flag)}}
	}
	v, ok := c.File.Value(command, flag)
	for _, word := range v.Words {
		rows = append(rows, []string{flag, "= " + maskSetting(flag, word), c.Place(v.Line)})
	}
	if !ok && k.All {
		rows = append(rows, []string{flag, "", "default"})
	}
	return rows
}

// maskSetting returns word, a value of flag, with its secrets masked (rule 62).
func maskSetting(flag, word string) string {
	switch flag {
	case "user", "header":
		if name, _, ok := strings.Cut(word, ":"); ok {
			return name + ": ***"
		}
		return "***"
	}
	if strings.Contains(word, "://") || strings.Contains(word, "@") {
		return job.MaskWord(word)
	}
	return word
}

// tablesText returns the lines that show the configuration's tables of sites and forges.
func tablesText(c *job.Settings) (lines []string) {
	if c.File == nil {
		return nil
	}
	for _, s := range c.File.Sites {
		lines = append(lines, "", "site "+s.Pattern+"  "+c.Place(s.Line))
		lines = append(lines, render.Columns(tableRows(s.Values))...)
	}
	for _, f := range c.File.Forges {
		lines = append(lines, "", "forge "+f.Name+"  "+c.Place(f.Line))
		lines = append(lines, render.Columns(tableRows(f.Values))...)
	}
	return lines
}

func tableRows(values map[string][]string) (rows [][]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, word := range values[name] {
			rows = append(rows, []string{"  " + name, "= " + maskSetting(name, word)})
		}
	}
	return rows
}
