package option

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// commandTexts are a section for each command, in the order of the help: a paragraph with its summary, one with the
// ways to type it, one with pairs of lines for examples, and notes. After them are sections about the program.
//
//go:embed commands.txt
var commandTexts string

// A Program is a command with others below it, and what is said once for all of them.
type Program struct {
	Command
	About       []string // paragraphs: what it is for
	Version     string
	Date        string // of the pages, as 2026-11-21
	Exits       []Term // what the exit codes mean
	Environment []Term
	Files       []Term
}

// A Term is a word and what it means.
type Term struct{ Word, Text string }

// A Command is one way of using the program, as help, man pages and completions show it.
type Command struct {
	Name     string // as it is typed after that of the program: "feed check"
	Summary  string // one line, lower case
	Usage    []string
	Examples []Example
	Notes    []string // paragraphs, in lines that fit the help
	Options  []Option // by group
	Commands []Command
	Hidden   bool

	of Commands
}

// An Example is a line that can be typed, and what it does.
type Example struct{ What, Line string }

// Braid returns the program with all of its commands.
func Braid() (p Program) {
	for section := range strings.SplitSeq("\n"+commandTexts, "\n== ") {
		name, body, _ := strings.Cut(section, "\n")
		parts := strings.Split(strings.TrimSpace(body), "\n\n")
		switch name {
		case "":
		case "braid":
			p.Command = parseCommand(name, parts)
			p.Options = []Option{{Names: "version V", Group: OutputGroup, Kind: Switch, Usage: "show the version, and what it was built from"}}
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

// foreignText are flags of curl, wget and aria2 that get does not have, with the flag to write instead. The letters
// mean different things in those programs.
//
//go:embed foreign.txt
var foreignText string

// Foreign returns what to write instead of a flag of another program; empty for a flag of none.
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

// Below returns the command that a word names below c.
func (c Command) Below(word string) (Command, bool) {
	i := slices.IndexFunc(c.Commands, func(below Command) bool { return below.Word() == word })
	if i < 0 {
		return Command{}, false
	}
	return c.Commands[i], true
}

// Names are the words of the commands below that users type.
func (c Command) Names() (names []string) {
	for _, below := range c.Commands {
		if !below.Hidden {
			names = append(names, below.Word())
		}
	}
	return names
}

// Word is the last word of the name: what is typed behind the commands above it.
func (c Command) Word() string { return c.Name[strings.LastIndex(c.Name, " ")+1:] }

// typed is the command as it is typed, with the program.
func (c Command) typed() string {
	if c.Name == "braid" {
		return c.Name
	}
	return "braid " + c.Name
}

// Groups returns the options by heading, in the order of the help.
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

// Value stands for the value in help: "NAME". It is empty for a switch.
func (o Option) Value() string {
	word, _ := o.placeholder()
	return word
}

// Text is what the help says, without marks.
func (o Option) Text() string {
	_, text := o.placeholder()
	return text
}

// placeholder finds the word in backquotes that stands for the value. One that begins the text and is followed by a
// colon is not part of the text.
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

// long is the first name with more than one letter.
func (o Option) long() string {
	names := strings.Fields(o.Names)
	return names[max(0, slices.IndexFunc(names, func(name string) bool { return len(name) > 1 }))]
}

// Written is a name of an option as it is typed.
func Written(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// fits is what the value can be: files, folders, or some words.
func (o Option) fits() (kind Fits, words []string) {
	kind = fitsOf(o.Value())
	if name := o.Name(); name == "out" || name == "report" { // a NAME, but not yet there
		kind = File
	}
	if o.Kind == Choice {
		return kind, o.Choices()
	}
	return kind, wordsIn(o.Value())
}

// operands are what may stand in a line beside options: words in capitals stand for something, others for themselves.
func (c Command) operands() (kind Fits, words []string) {
	for _, way := range c.Usage {
		way = strings.TrimPrefix(way, c.typed()+" ")
		kind = max(kind, fitsOf(way))
		first, _, _ := strings.Cut(way, " ")
		words = append(words, wordsIn(first)...)
	}
	return kind, words
}

// Fits is what a word in a line can be.
type Fits int

const (
	Anything Fits = iota // a URL, a number: nothing that a shell could know
	File
	Folder
)

// fitsOf returns what a placeholder stands for.
func fitsOf(placeholder string) Fits {
	switch {
	case strings.Contains(placeholder, "FOLDER"):
		return Folder
	case strings.Contains(placeholder, "FILE"), strings.Contains(placeholder, "META"), strings.Contains(placeholder, "CONFIG"), placeholder == "LIST":
		return File
	}
	return Anything
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
