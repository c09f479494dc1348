package option

import (
	"fmt"
	"strings"
)

// Page is a man page in the Markdown of github.com/cpuguy83/go-md2man.
type Page struct {
	Name string // such as "braid-get"; the file is called Name.1
	Text string
}

// Pages returns the man pages for the program and for each command and subcommand that is not hidden.
func (p Program) Pages() (pages []Page) {
	commands := p.withBelow()
	for _, c := range commands {
		page := manPage{Program: p, Command: c, page: pageName(c)}
		for _, other := range commands {
			if other.Name != c.Name {
				page.others = append(page.others, "**"+pageName(other)+"**(1)")
			}
		}
		pages = append(pages, Page{page.page, page.text()})
	}
	return pages
}

// withBelow returns c and all commands below it that are not hidden.
func (c Command) withBelow() []Command {
	all := []Command{c}
	for _, below := range c.Commands {
		if !below.Hidden {
			all = append(all, below.withBelow()...)
		}
	}
	return all
}

// manPage is a man page that is being written.
type manPage struct {
	Program Program
	Command
	page   string
	others []string
	b      strings.Builder
}

func (m *manPage) add(format string, values ...any) { fmt.Fprintf(&m.b, format, values...) }

// text returns the whole text of the page.
func (m *manPage) text() string {
	m.add("%% %s 1 \"%s\" \"braid %s\" \"braid manual\"\n\n", strings.ToUpper(m.page), m.Program.Date, m.Program.Version)
	m.add("# NAME\n\n%s - %s\n\n# SYNOPSIS\n\n", m.page, markdown(m.Summary))
	for _, usage := range m.Usage {
		m.add("%s  \n", way(m.Command, usage))
	}
	notes, exits := splitNotes(m.Notes)
	if m.isProgram() {
		notes = m.Program.About
	}
	if len(notes) > 0 {
		m.paragraphs("# DESCRIPTION", notes)
	}
	m.commands()
	m.options()
	m.paragraphs("# EXIT STATUS", exits)
	if m.isProgram() {
		m.terms(m.Program.Exits)
		m.add("\n# ENVIRONMENT\n")
		m.terms(m.Program.Environment)
		m.add("\n# FILES\n")
		m.terms(m.Program.Files)
	} else {
		m.add("\nAll exit codes are in **braid**(1).\n")
		m.variables()
	}
	if len(m.Examples) > 0 {
		m.add("\n# EXAMPLES\n")
	}
	for _, e := range m.Examples {
		m.add("\n%s:\n\n    %s\n", markdown(strings.ToUpper(e.What[:1])+e.What[1:]), e.Line)
	}
	m.add("\n# SEE ALSO\n\n%s\n", strings.Join(m.others, ",\n"))
	return m.b.String()
}

// isProgram reports whether the page is that of the program itself.
func (m *manPage) isProgram() bool { return m.Name == m.Program.Name }

func (m *manPage) paragraphs(heading string, list []string) {
	m.add("\n%s\n", heading)
	for _, text := range list {
		m.add("\n%s\n", markdown(text))
	}
}

func (m *manPage) terms(list []Term) {
	for _, t := range list {
		m.add("\n**%s**\n: %s\n", markdown(t.Word), markdown(t.Text))
	}
}

func (m *manPage) commands() {
	if len(m.Commands) == 0 {
		return
	}
	m.add("\n# COMMANDS\n")
	for _, c := range m.Commands {
		if !c.Hidden {
			m.add("\n**braid %s**\n: %s: **%s**(1)\n", c.Name, markdown(c.Summary), pageName(c))
		}
	}
}

func (m *manPage) options() {
	if len(m.Options) == 0 {
		return
	}
	m.add("\n# OPTIONS\n")
	for heading, options := range m.Groups() {
		m.add("\n### %s\n", heading)
		for _, o := range options {
			m.add("\n%s\n: %s\n", tag(o), markdown(o.Text()))
		}
	}
}

// variables describes the environment variables of the options.
func (m *manPage) variables() {
	if len(m.Options) == 0 {
		return
	}
	name := m.Options[0].Name()
	m.add("\n# ENVIRONMENT\n\nEach flag can be set in the environment: %s is %s. The command line beats it.\n",
		markdown(Written(name)), markdown(Variable(name)))
	m.add("For a flag without a value, true or false is written there. An empty value is an error.\n" +
		"Other variables are in **braid**(1).\n")
}

// splitNotes separates notes about exit codes from all other notes.
func splitNotes(all []string) (notes, exits []string) {
	for _, note := range all {
		if before, after, found := strings.Cut(note, "Exit code"); found {
			exits = append(exits, "Exit code"+after)
			note = strings.TrimSpace(before)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, exits
}

func pageName(c Command) string { return strings.ReplaceAll(c.typed(), " ", "-") }

// way formats a usage line of c, with the words before its operands in bold.
func way(c Command, usage string) string {
	return "**" + c.typed() + "**" + markdown(strings.TrimPrefix(usage, c.typed()))
}

// tag formats an option with all its names, letters first.
func tag(o Option) string {
	var letters, words []string
	for _, name := range strings.Fields(o.Names) {
		if written := "**" + Written(name) + "**"; len(name) == 1 {
			letters = append(letters, written)
		} else {
			words = append(words, written)
		}
	}
	s := strings.Join(append(letters, words...), ", ")
	if v := o.Value(); v != "" {
		s += " *" + markdown(v) + "*"
	}
	return s
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`,
	">", `\>`, "|", `\|`, "&", `\&`, "#", `\#`)

// markdown escapes text for Markdown.
func markdown(s string) string { return escapeMarkdown.Replace(s) }
