package option

import (
	"bytes"
	"fmt"
	"strings"
)

// A Page is one man page, as man(7) has it.
type Page struct {
	Name string // "braid-get"; the file is called Name.1
	Text []byte
}

// Pages are that of the program and one of each command, also of those below others.
func (p Program) Pages() []Page {
	names := p.pageNames()
	pages := []Page{p.page(names)}
	var walk func(path []string, commands []Command)
	walk = func(path []string, commands []Command) {
		for _, c := range commands {
			below := append(path[:len(path):len(path)], c.Name)
			pages = append(pages, p.commandPage(below, c, names))
			walk(below, c.Commands)
		}
	}
	walk([]string{p.Name}, p.Commands)
	return pages
}

// pageNames are the names of all pages, in their order.
func (p Program) pageNames() (names []string) {
	var walk func(name string, c Command)
	walk = func(name string, c Command) {
		names = append(names, name)
		for _, below := range c.Commands {
			walk(name+"-"+below.Name, below)
		}
	}
	walk(p.Name, p.Command)
	return names
}

// page is that of the program.
func (p Program) page(names []string) Page {
	w := p.begin(p.Name, p.Summary)
	w.section("SYNOPSIS")
	w.synopsis(p.Name, p.Usage)
	w.section("DESCRIPTION")
	w.paragraphs(p.About)
	w.section("COMMANDS")
	w.commands(p.Name, p.Commands)
	w.options(p.Flags)
	w.terms("EXIT STATUS", p.Exits)
	w.terms("ENVIRONMENT", p.Environment)
	w.terms("FILES", p.Files)
	w.examples(p.Examples)
	w.seeAlso(p.Name, names)
	return Page{p.Name, w.Bytes()}
}

// commandPage is that of a command, which is typed as path.
func (p Program) commandPage(path []string, c Command, names []string) Page {
	name, typed := strings.Join(path, "-"), strings.Join(path, " ")
	w := p.begin(name, c.Summary)
	w.section("SYNOPSIS")
	w.synopsis(typed, c.Usage)
	notes, exits := splitNotes(c.Notes)
	if len(notes) > 0 {
		w.section("DESCRIPTION")
		w.paragraphs(notes)
	}
	if len(c.Commands) > 0 {
		w.section("COMMANDS")
		w.commands(typed, c.Commands)
	}
	w.options(c.Flags)
	w.section("EXIT STATUS")
	w.paragraphs(append(exits, "All exit codes are in \x00"+p.Name+"\x00(1)."))
	if len(c.Flags) > 0 {
		f := c.Flags[0]
		w.section("ENVIRONMENT")
		w.paragraphs([]string{fmt.Sprintf("Each flag can be set in the environment: %s is %s. The command line beats it. "+
			"For a flag without a value, true or false is written there. An empty value is an error. Other variables are in \x00%s\x00(1).",
			written(f.long()), f.Variable, p.Name)})
	}
	w.examples(c.Examples)
	w.seeAlso(name, names)
	return Page{name, w.Bytes()}
}

// splitNotes finds the paragraphs about exit codes.
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

// A roff is a page that is written.
type roff struct{ bytes.Buffer }

func (p Program) begin(name, summary string) *roff {
	w := &roff{}
	fmt.Fprintf(w, ".TH %s 1 %s %s %s\n", quote(strings.ToUpper(name)), `"`+p.Date+`"`, quote(p.Name+" "+p.Version), quote(p.Name+" manual"))
	w.WriteString(".nh\n.ad l\n") // words that are typed are not hyphenated, and lines are ragged
	w.section("NAME")
	w.fill(plain(name) + ` \- ` + plain(summary))
	return w
}

func (w *roff) line(s string)       { w.WriteString(s + "\n") }
func (w *roff) section(name string) { w.line(".SH " + quote(name)) }

// synopsis writes the ways to use a command. A way that does not begin with the command follows it.
func (w *roff) synopsis(typed string, usage []string) {
	for i, way := range usage {
		if i > 0 {
			w.line(".br")
		}
		way = strings.TrimPrefix(way, typed+" ")
		w.line(strings.TrimSpace(bold(typed) + " " + plain(way)))
	}
}

func (w *roff) paragraphs(texts []string) {
	for i, text := range texts {
		if i > 0 {
			w.line(".PP")
		}
		w.text(text)
	}
}

// text writes words in lines; those between two NULs are bold.
func (w *roff) text(s string) {
	parts := strings.Split(strings.Join(strings.Fields(s), " "), "\x00")
	for i := range parts {
		if i%2 == 1 {
			parts[i] = bold(parts[i])
		} else {
			parts[i] = plain(parts[i])
		}
	}
	w.fill(strings.Join(parts, ""))
}

// fill writes what is roff already in lines.
func (w *roff) fill(s string) {
	for line := range wrapped(s, 79) {
		w.line(guard(line))
	}
}

func (w *roff) commands(above string, commands []Command) {
	for _, c := range commands {
		w.line(".TP")
		w.line(bold(above + " " + c.Name))
		page := strings.ReplaceAll(above, " ", "-") + "-" + c.Name
		w.text(c.Summary + ": \x00" + page + "\x00(1)")
	}
}

// options writes flags by group, in the order in which they are defined.
func (w *roff) options(flags []Flag) {
	if len(flags) == 0 {
		return
	}
	w.section("OPTIONS")
	var groups []string
	of := map[string][]Flag{}
	for _, f := range flags {
		if of[f.Group] == nil {
			groups = append(groups, f.Group)
		}
		of[f.Group] = append(of[f.Group], f)
	}
	for _, g := range groups {
		if g != "" {
			w.line(".SS " + quote(g))
		}
		for _, f := range of[g] {
			w.line(".TP")
			w.line(tag(f))
			w.text(f.Usage)
		}
	}
}

// tag is how a flag is written, with all its names: letters first.
func tag(f Flag) string {
	var letters, words []string
	for _, name := range f.Names {
		if len(name) == 1 {
			letters = append(letters, bold(written(name)))
		} else {
			words = append(words, bold(written(name)))
		}
	}
	s := strings.Join(append(letters, words...), ", ")
	if f.Value != "" {
		s += ` \fI` + plain(f.Value) + `\fR`
	}
	return s
}

func (w *roff) terms(section string, terms []Term) {
	if len(terms) == 0 {
		return
	}
	w.section(section)
	for _, t := range terms {
		w.line(".TP")
		w.line(bold(t.Word))
		w.text(t.Text)
	}
}

func (w *roff) examples(examples []Example) {
	if len(examples) == 0 {
		return
	}
	w.section("EXAMPLES")
	for i, e := range examples {
		if i > 0 {
			w.line(".PP")
		}
		w.text(strings.ToUpper(e.What[:1]) + e.What[1:] + ":")
		w.line(".PP")
		w.line(".nf")
		w.line(".RS 4")
		w.line(guard(plain(e.Line)))
		w.line(".RE")
		w.line(".fi")
	}
}

// seeAlso names the pages beside this one.
func (w *roff) seeAlso(name string, names []string) {
	var others []string
	for _, n := range names {
		if n != name {
			others = append(others, bold(n)+"(1)")
		}
	}
	w.section("SEE ALSO")
	for i, o := range others {
		if i < len(others)-1 {
			o += ","
		}
		w.line(o)
	}
}
