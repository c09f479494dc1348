package option

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// Page is a man page in the Markdown of github.com/cpuguy83/go-md2man.
type Page struct {
	Name string // such as "braid-get"; the file name is Name.1
	Text string
}

//go:embed page.md
var pageText string

// Pages returns the man pages of the program and of each command that is not hidden, including subcommands.
func (p Program) Pages() (pages []Page, err error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"md": markdown, "page": pageName, "tag": tag, "way": way, "upper": strings.ToUpper,
		"title": func(s string) string { return markdown(strings.ToUpper(s[:1]) + s[1:]) },
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	commands := p.withBelow()
	for _, c := range commands {
		page := pageData{Program: p, Command: c, Page: pageName(c)}
		for _, other := range commands {
			if other.Name != c.Name {
				page.Others = append(page.Others, pageName(other))
			}
		}
		var b strings.Builder
		if err := t.Execute(&b, page); err != nil {
			return nil, err
		}
		pages = append(pages, Page{page.Page, b.String()})
	}
	return pages, nil
}

// withBelow returns c and its subcommands that are not hidden, recursively.
func (c Command) withBelow() []Command {
	all := []Command{c}
	for _, below := range c.Commands {
		if !below.Hidden {
			all = append(all, below.withBelow()...)
		}
	}
	return all
}

// pageData is the data of the page template.
type pageData struct {
	Program Program
	Command
	Page   string
	Others []string
}

// IsProgram reports whether the page describes the program.
func (d pageData) IsProgram() bool { return d.Name == d.Program.Name }

// Description returns the notes that are not about exit codes.
func (d pageData) Description() []string {
	if d.IsProgram() {
		return d.Program.About
	}
	notes, _ := splitNotes(d.Notes)
	return notes
}

// ExitNotes returns the notes about exit codes.
func (d pageData) ExitNotes() []string {
	_, exits := splitNotes(d.Notes)
	return exits
}

// splitNotes separates the notes about exit codes from the others.
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

// way formats a usage line, with the words before its operands in bold.
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

// Variable returns an example of an environment variable for an option of the command.
func (d pageData) Variable() string {
	if d.IsProgram() || len(d.Options) == 0 {
		return ""
	}
	name := d.Options[0].Name()
	return fmt.Sprintf("%s is %s", Written(name), Variable(name))
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`,
	">", `\>`, "|", `\|`, "&", `\&`, "#", `\#`)

// markdown escapes text for Markdown.
func markdown(s string) string { return escapeMarkdown.Replace(s) }
