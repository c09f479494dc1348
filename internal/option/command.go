package option

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// commandTexts has a section for each command, in the order of the help. The paragraphs of a section are the summary,
// the usage lines, examples as pairs of lines, and notes. Sections about the whole program follow.
//
//go:embed commands.txt
var commandTexts string

// Program is the command braid itself, with its subcommands and the texts about the whole program.
type Program struct {
	Command
	About       []string // paragraphs about what the program is for
	Version     string
	Date        string // date of the man pages, as 2026-11-21
	Exits       []Term // exit codes and their meanings
	Environment []Term
	Files       []Term
}

// Term is a word and its meaning.
type Term struct{ Word, Text string }

// Command describes a command for help, man pages and completions.
type Command struct {
	Name     string // words after the name of the program, such as "feed check"
	Summary  string // one line, in lower case
	Usage    []string
	Examples []Example
	Notes    []string // paragraphs, wrapped for the help
	Options  []Option // sorted by group
	Commands []Command
	Hidden   bool

	of Commands
}

// Example is an example command line and its effect.
type Example struct{ What, Line string }

// Braid returns the program with all of its commands.
func Braid() (p Program) {
	for section := range strings.SplitSeq(strings.TrimPrefix(commandTexts, "== "), "\n== ") {
		name, body, _ := strings.Cut(section, "\n")
		parts := strings.Split(strings.TrimSpace(body), "\n\n")
		switch name {
		case "braid":
			p.Command = parseCommand(name, parts)
			p.Options = []Option{{Names: "version V", Group: OutputGroup, Kind: Switch,
				Usage: "show the version, and the source that it was built from"}}
		case "ABOUT":
			p.About = parts
		case "EXIT STATUS":
			p.Exits = parseTerms(body)
		case "ENVIRONMENT":
			p.Environment = parseTerms(body)
		case "FILES":
			p.Files = parseTerms(body)
		default:
			above := &p.Commands
			if top, _, below := strings.Cut(name, " "); below && top == (*above)[len(*above)-1].Name {
				above = &(*above)[len(*above)-1].Commands
			}
			*above = append(*above, parseCommand(name, parts))
		}
	}
	return p
}

func parseCommand(name string, parts []string) Command {
	c := Command{Summary: parts[0]}
	c.Name, c.Hidden = strings.CutSuffix(name, " (hidden)")
	if i := slices.Index(typed[:], c.Name); i >= 0 {
		c.of = 1 << i
		c.Options = Of(c.of)
	}
	if len(parts) == 1 {
		return c
	}
	c.Usage, c.Notes = strings.Split(parts[1], "\n"), parts[3:]
	for pair := range slices.Chunk(strings.Split(parts[2], "\n"), 2) {
		c.Examples = append(c.Examples, Example{strings.TrimPrefix(pair[0], "# "), pair[1]})
	}
	return c
}

// foreignText maps flags of curl, wget and aria2 that braid get does not have to advice. The same letter may mean
// different things in these programs.
//
//go:embed foreign.txt
var foreignText string

// Foreign returns the advice for a flag of another program, or an empty string if the flag is unknown.
func Foreign(flag string) string {
	_, rest, _ := strings.Cut("\n"+foreignText, "\n"+flag+"  ")
	hint, _, _ := strings.Cut(rest, "\n")
	return hint
}

func parseTerms(body string) (terms []Term) {
	for line := range strings.Lines(strings.TrimSpace(body)) {
		word, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		terms = append(terms, Term{word, text})
	}
	return terms
}

// Below returns the subcommand of c called word.
func (c Command) Below(word string) (Command, bool) {
	i := slices.IndexFunc(c.Commands, func(below Command) bool { return below.Word() == word })
	if i < 0 {
		return Command{}, false
	}
	return c.Commands[i], true
}

// Names returns the last words of the names of all subcommands that are not hidden.
func (c Command) Names() (names []string) {
	for _, below := range c.Commands {
		if !below.Hidden {
			names = append(names, below.Word())
		}
	}
	return names
}

// Word returns the last word of the command's name.
func (c Command) Word() string { return c.Name[strings.LastIndex(c.Name, " ")+1:] }

// typed returns the name of the command as the user types it, beginning with the name of the program.
func (c Command) typed() string {
	if c.Name == "braid" {
		return c.Name
	}
	return "braid " + c.Name
}

// Groups returns the options of c by heading, in the order of the help.
func (c Command) Groups() iter.Seq2[string, []Option] {
	return func(yield func(string, []Option) bool) {
		var headings []string
		groups := map[string][]Option{}
		for _, o := range c.Options {
			heading := o.Heading(c.of)
			if groups[heading] == nil {
				headings = append(headings, heading)
			}
			groups[heading] = append(groups[heading], o)
		}
		for _, heading := range headings {
			if !yield(heading, groups[heading]) {
				return
			}
		}
	}
}

// Value returns the placeholder for the option's value in the help, such as "NAME", or "" for a switch.
func (o Option) Value() string {
	word, _ := o.placeholder()
	return word
}

// Text returns the option's help text without backquotes.
func (o Option) Text() string {
	_, text := o.placeholder()
	return text
}

// placeholder returns two parts of the option's help text: the word in backquotes, which stands for the value, and the
// text without backquotes. If the text begins with that word and a colon, both are removed from it.
func (o Option) placeholder() (word, text string) {
	usage := o.Help()
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

// long returns the option's first name with more than one letter.
func (o Option) long() string {
	names := strings.Fields(o.Names)
	return names[max(0, slices.IndexFunc(names, func(name string) bool { return len(name) > 1 }))]
}

// Written returns the name of an option with its dashes.
func Written(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// fits returns how values of the option are completed: as files, as folders, or as the given words.
func (o Option) fits() (kind Fits, words []string) {
	kind = fitsOf(o.Value())
	if name := o.Name(); name == "out" || name == "report" { // the placeholder is NAME, but the value is a path
		kind = File
	}
	if o.Kind == Choice {
		return kind, o.Choices()
	}
	return kind, wordsIn(o.Value())
}

// operands returns how operands of the command are completed. In a usage line, words in capitals are placeholders;
// other words stand for themselves.
func (c Command) operands() (kind Fits, words []string) {
	for _, way := range c.Usage {
		way = strings.TrimPrefix(way, c.typed()+" ")
		kind = max(kind, fitsOf(way))
		first, _, _ := strings.Cut(way, " ")
		words = append(words, wordsIn(first)...)
	}
	return kind, words
}

// Fits is how a word of a command line is completed.
type Fits int

const (
	Anything Fits = iota // such as URLs and numbers, which a shell cannot complete
	File
	Folder
)

// fitsOf returns how a value with that placeholder is completed.
func fitsOf(placeholder string) Fits {
	switch {
	case strings.Contains(placeholder, "FOLDER"):
		return Folder
	case strings.Contains(placeholder, "FILE"), strings.Contains(placeholder, "META"),
		strings.Contains(placeholder, "CONFIG"), placeholder == "LIST":
		return File
	}
	return Anything
}

// wordsIn returns the words in lower case in a placeholder such as "none|digest|signature". They stand for themselves.
func wordsIn(placeholder string) (words []string) {
	for word := range strings.SplitSeq(placeholder, "|") {
		if word != "" && !strings.ContainsFunc(word,
			func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) && r != '-' }) {
			words = append(words, word)
		}
	}
	return words
}
