package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

// helpOf returns the help of a command.
func helpOf(c option.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "braid %s: %s\n\nUsage:\n", c.Name, c.Summary)
	writeUsage(&b, c)
	if len(c.Commands) > 0 {
		b.WriteString("\nCommands:\n")
		writeCommands(&b, c)
	}
	b.WriteString("\nExamples:\n")
	writeExamples(&b, c.Examples)
	writeFlags(&b, c)
	for _, note := range c.Notes {
		b.WriteString("\n" + note + "\n")
	}
	if checkBuilt(c.Name) != nil {
		b.WriteString(leftOutNote([]string{problem.NoFleet}))
	}
	switch {
	case len(c.Commands) > 0:
		fmt.Fprintf(&b, "\nbraid %s COMMAND --help shows the flags of each.\n", c.Name)
	case len(c.Options) > 0:
		first := c.Options[0].Name()
		fmt.Fprintf(&b, "\n%sEach flag can be set in the environment: --%s is %s. "+
			"One without a value is true or\nfalse there. Flags may follow operands.\n",
			units(c.Options), first, option.Variable(first))
	}
	return b.String()
}

// rootHelp returns the help of the program.
func rootHelp(c option.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "braid: %s\n\nUsage:\n", c.Summary)
	writeUsage(&b, c)
	b.WriteString("\nCommands:\n")
	writeCommands(&b, c, []string{"  help COMMAND", "show how a command is used; also braid COMMAND --help"})
	b.WriteString("\nExamples:\n")
	writeExamples(&b, c.Examples)
	b.WriteString("\n" + c.Notes[0] + "\n\nFlags:\n  -h, --help     show this\n  -V, --version  show the version\n")
	b.WriteString(leftOutNote(leftOut()))
	return b.String()
}

func writeUsage(b *strings.Builder, c option.Command) {
	for _, way := range c.Usage {
		b.WriteString("  " + way + "\n")
	}
}

func writeCommands(b *strings.Builder, c option.Command, more ...[]string) {
	var rows [][]string
	for _, below := range c.Commands {
		if !below.Hidden {
			rows = append(rows, []string{"  " + below.Word(), below.Summary})
		}
	}
	writeLines(b, render.Columns(append(rows, more...)))
}

// units explains how the values of options are written: sizes, rates, times and others.
func units(options []option.Option) string {
	words := map[string]bool{}
	for _, o := range options {
		words[o.Value()] = true
	}
	s := ""
	var amounts []string
	for _, amount := range [][2]string{{"SIZE", "bytes"}, {"RATE", "bytes a second"}} {
		if words[amount[0]] {
			amounts = append(amounts, amount[0]+" is "+amount[1])
		}
	}
	if len(amounts) > 0 {
		s += strings.Join(amounts, ", ") + ", with K, M, G or T for powers of 1024, as in 65536, 500K or 1.5G.\n"
	}
	if words["TIME"] {
		s += "TIME is a number with a unit, as in 30s, 1m30s or 500ms; a bare number is seconds.\n"
	}
	return s
}

func writeExamples(b *strings.Builder, examples []option.Example) {
	for _, e := range examples {
		fmt.Fprintf(b, "  # %s\n  %s\n", e.What, e.Line)
	}
}

// writeFlags writes the flags of c by group.
func writeFlags(b *strings.Builder, c option.Command) {
	for heading, options := range c.Groups() {
		var rows [][]string
		for _, o := range options {
			rows = append(rows, flagRow(o))
		}
		b.WriteString("\n" + heading + ":\n")
		writeLines(b, render.Columns(wrapLast(rows)))
	}
}

// flagRow returns the help of o as a table row. Letters come before the first long name: "-o, --out NAME". Other long
// names are omitted, because they are for users of other programs.
func flagRow(o option.Option) []string {
	letters, long := "", ""
	for _, name := range strings.Fields(o.Names) {
		switch {
		case len(name) == 1:
			letters += "-" + name + ", "
		case long == "":
			long = "--" + name
		}
	}
	return []string{strings.TrimRight("  "+letters+long+" "+o.Value(), " "), o.Text()}
}

// helpWidth is the width of help lines, in characters.
const helpWidth = 100

// wrapLast wraps the last cell of each row of columns so that no line is longer than helpWidth.
func wrapLast(rows [][]string) (wrapped [][]string) {
	first := 0
	for _, row := range rows {
		first = max(first, utf8.RuneCountInString(row[0])+2)
	}
	for _, row := range rows {
		line := ""
		for _, word := range strings.Fields(row[1]) {
			if line != "" && first+len(line)+1+len(word) > helpWidth {
				wrapped = append(wrapped, []string{row[0], line})
				row, line = []string{""}, ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		wrapped = append(wrapped, []string{row[0], line})
	}
	return wrapped
}

func writeLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
}
