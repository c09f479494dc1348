package cli

import (
	"braid/internal/option"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// A manual is what the help of a command says beside its flags.
type manual struct {
	name     string   // of the command, if it is below another one
	usage    string   // what follows the name of the command
	examples []string // pairs of what is done and how it is typed
	notes    []string // paragraphs at the end
}

// manualOf is what a command says of itself.
func manualOf(app *cli.App, c *cli.Command) manual {
	manuals, _ := app.Metadata[metaManuals].(map[*cli.Command]manual)
	m := manuals[c]
	if len(c.Subcommands) > 0 {
		m.usage = cmp.Or(m.usage, "COMMAND [FLAG]... OPERAND")
	}
	return m
}

// helpOf is the help of a command.
func helpOf(app *cli.App, c *cli.Command) string {
	if len(c.Subcommands) > 0 {
		return groupHelp(c, manualOf(app, c))
	}
	return commandHelp(c, manualOf(app, c))
}

// commandHelp writes the help of a command.
func commandHelp(c *cli.Command, m manual) string {
	var b strings.Builder
	name := cmp.Or(m.name, c.Name)
	fmt.Fprintf(&b, "braid %s: %s\n\nUsage:\n  braid %s %s\n\nExamples:\n", name, c.Usage, name, m.usage)
	writeExamples(&b, m.examples)
	writeFlags(&b, c.Flags)
	for _, note := range m.notes {
		b.WriteString("\n" + note + "\n")
	}
	if len(c.Flags) == 0 {
		return b.String()
	}
	b.WriteString("\n" + units(c.Flags) + "Each flag can be set in the environment: --" + c.Flags[0].Names()[0] + " is " +
		option.Variable(c.Flags[0].Names()[0]) + ". One without a value is true or\nfalse there. Flags may follow operands.\n")
	return b.String()
}

// groupHelp writes the help of a command that has others below it.
func groupHelp(c *cli.Command, m manual) string {
	var b strings.Builder
	fmt.Fprintf(&b, "braid %s: %s\n\nUsage:\n  braid %s %s\n\nCommands:\n", c.Name, c.Usage, c.Name, m.usage)
	var rows [][]string
	for _, sub := range c.Subcommands {
		rows = append(rows, []string{"  " + sub.Name, sub.Usage})
	}
	writeLines(&b, columns(rows))
	b.WriteString("\nExamples:\n")
	writeExamples(&b, m.examples)
	for _, note := range m.notes {
		b.WriteString("\n" + note + "\n")
	}
	fmt.Fprintf(&b, "\nbraid %s COMMAND --help shows the flags of each.\n", c.Name)
	return b.String()
}

// What the command without a command says of itself.
const (
	rootSummary = "download a file from many mirrors at once, and prove that it is the right one"
	rootUsage   = "COMMAND [FLAG]... OPERAND...  or  braid URL|FILE.meta4|FILE.torrent|MAGNET [FLAG]..."
	rootNote    = "A URL, a magnet link or a document on disk in place of COMMAND means get."
)

var rootExamples = []string{
	"a file, from all mirrors that its server names", "braid get https://example.org/disk.iso",
	"the same", "braid https://example.org/disk.iso",
	"what a server offers", "braid probe https://example.org/disk.iso",
}

// rootHelp writes the help of the command without a command.
func rootHelp(commands []*cli.Command) string {
	var b strings.Builder
	b.WriteString("braid: " + rootSummary + "\n\nUsage:\n  braid " + strings.ReplaceAll(rootUsage, "  or  ", "\n  ") + "\n\nCommands:\n")
	var rows [][]string
	for _, c := range commands {
		if !c.Hidden {
			rows = append(rows, []string{"  " + c.Name, c.Usage})
		}
	}
	rows = append(rows, []string{"  help COMMAND", "show how a command is used; also braid COMMAND --help"})
	writeLines(&b, columns(rows))
	b.WriteString("\nExamples:\n")
	writeExamples(&b, rootExamples)
	b.WriteString("\n" + rootNote + "\n\nFlags:\n  -h, --help     show this\n  -V, --version  show the version\n")
	return b.String()
}

// units explains once how the values of several flags are written.
func units(flags []cli.Flag) string {
	words := map[string]bool{}
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			word, _ := placeholder(doc.GetUsage())
			words[word] = true
		}
	}
	s := ""
	var amounts []string
	for _, amount := range [][2]string{{"SIZE", "bytes"}, {"RATE", "bytes a second"}} {
		if words[amount[0]] {
			amounts = append(amounts, amount[0]+" is "+amount[1])
		}
	}
	if len(amounts) > 0 {
		s += strings.Join(amounts, ", ") + ", with K, M, G or T for powers of 1024, as 65536, 500K or 1.5G.\n"
	}
	if words["TIME"] {
		s += "TIME is as 30s, 1m30s or 500ms; a bare number is seconds.\n"
	}
	return s
}

func writeExamples(b *strings.Builder, pairs []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(b, "  # %s\n  %s\n", pairs[i], pairs[i+1])
	}
}

// writeFlags writes flags by group, in the order in which they are defined.
func writeFlags(b *strings.Builder, flags []cli.Flag) {
	var groups []string
	rows := map[string][][]string{}
	for _, f := range flags {
		c, isCategorized := f.(cli.CategorizableFlag)
		doc, isDocumented := f.(cli.DocGenerationFlag)
		if !isCategorized || !isDocumented {
			continue
		}
		if rows[c.GetCategory()] == nil {
			groups = append(groups, c.GetCategory())
		}
		rows[c.GetCategory()] = append(rows[c.GetCategory()], flagRow(doc))
	}
	for _, g := range groups {
		b.WriteString("\n" + g + ":\n")
		writeLines(b, columns(wrapLast(rows[g])))
	}
}

// flagRow shows the letters of a flag before its first name: "-o, --out NAME".
func flagRow(f cli.DocGenerationFlag) []string {
	letters, long := "", ""
	for _, name := range f.Names() {
		switch {
		case name == "help" || name == "h":
		case len(name) == 1:
			letters += "-" + name + ", "
		case long == "": // others are the names that other programs have for it
			long = "--" + name
		}
	}
	placeholder, usage := placeholder(f.GetUsage())
	if placeholder != "" {
		long += " " + placeholder
	}
	return []string{"  " + letters + long, usage}
}

// placeholder finds the word in backquotes that stands for the value. One that begins the text and is
// followed by a colon is not part of the text.
func placeholder(usage string) (word, plain string) {
	before, rest, found := strings.Cut(usage, "`")
	word, after, closed := strings.Cut(rest, "`")
	if !found || !closed {
		return "", usage
	}
	if text, ok := strings.CutPrefix(after, ": "); ok && before == "" {
		return word, text
	}
	return word, before + word + after
}

// helpWidth is where lines of help end.
const helpWidth = 100

// wrapLast breaks the last cell of each row of columns so that lines end before helpWidth.
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

// columns lines up the cells of rows, two spaces apart.
func columns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

func writeLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
}
