package cli

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"braid/internal/option"
)

// reference is what this program says of itself, for man pages and completions. All of it comes from the table of commands.
func reference(app *cli.App) option.Program {
	b := thisBuild()
	return option.Program{
		Version: b.version, Date: b.date,
		Command: option.Command{
			Name: app.Name, Summary: rootSummary, Usage: waysOf(rootUsage), Notes: []string{rootNote},
			Examples: examplesOf(rootExamples), Flags: flagsOf(app.Flags),
			Commands: commandsOf(app, app.Commands),
		},
		About: aboutBraid, Exits: exitCodes, Environment: variables, Files: stateFiles,
	}
}

// commandsOf describes those that users type.
func commandsOf(app *cli.App, commands []*cli.Command) (described []option.Command) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		m := manualOf(app, c)
		d := option.Command{
			Name: c.Name, Summary: c.Usage, Usage: waysOf(m.usage), Examples: examplesOf(m.examples), Notes: m.notes,
			Flags: flagsOf(c.Flags), Commands: commandsOf(app, c.Subcommands),
		}
		d.Operands, d.Words = operandsOf(c.HelpName, d.Usage)
		described = append(described, d)
	}
	return described
}

// waysOf are the ways to use a command, which its usage separates by line ends or "or".
func waysOf(usage string) (ways []string) {
	for _, way := range strings.Split(strings.ReplaceAll(usage, "  or  ", "\n"), "\n") {
		ways = append(ways, strings.TrimSpace(way))
	}
	return ways
}

func examplesOf(pairs []string) (examples []option.Example) {
	for i := 0; i+1 < len(pairs); i += 2 {
		examples = append(examples, option.Example{What: pairs[i], Line: pairs[i+1]})
	}
	return examples
}

// operandsOf is what may stand in a line beside flags: the words in capitals say whether it is a file, and those in small
// letters stand for themselves.
func operandsOf(typed string, ways []string) (kind option.Fits, words []string) {
	for _, way := range ways {
		way = strings.TrimPrefix(way, typed+" ")
		kind = max(kind, operandKind(way))
		first, _, _ := strings.Cut(way, " ")
		words = append(words, wordsIn(first)...)
	}
	return kind, words
}

// wordsIn are the words of "none|digest|signature" that are meant literally: those in small letters.
func wordsIn(placeholder string) (words []string) {
	for word := range strings.SplitSeq(placeholder, "|") {
		if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) && r != '-' }) {
			words = append(words, word)
		}
	}
	return words
}

// operandKind says what a placeholder stands for.
func operandKind(placeholder string) option.Fits {
	switch {
	case strings.Contains(placeholder, "FOLDER"):
		return option.Folder
	case strings.Contains(placeholder, "FILE"), strings.Contains(placeholder, "META"), strings.Contains(placeholder, "CONFIG"), placeholder == "LIST":
		return option.File
	}
	return option.Anything
}

// flagsOf describes flags.
func flagsOf(flags []cli.Flag) (described []option.Flag) {
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		d := option.Flag{Names: f.Names(), Group: groupOf(f)}
		d.Value, d.Usage = placeholder(doc.GetUsage())
		if doc.TakesValue() {
			d.Value = cmp.Or(d.Value, "VALUE")
			d.Kind, d.Words = operandKind(d.Value), wordsIn(d.Value)
			if d.Names[0] == "out" || d.Names[0] == "report" { // a NAME, but not yet there
				d.Kind = option.File
			}
		} else {
			d.Value = ""
		}
		if g, ok := f.(*cli.GenericFlag); ok {
			if c, ok := g.Value.(*choice); ok {
				d.Words = c.Words
			}
		}
		if len(doc.GetEnvVars()) > 0 {
			d.Variable = doc.GetEnvVars()[0]
		}
		described = append(described, d)
	}
	return described
}

func groupOf(f cli.Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return ""
}
