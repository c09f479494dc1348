package option

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

// A Command is one way of using a program.
type Command struct {
	Name     string // as it is typed, without the program and the commands above it
	Summary  string // one line, lower case
	Usage    []string
	Examples []Example
	Notes    []string // paragraphs
	Flags    []Flag
	Operands Fits // what else may stand in a line
	Words    []string
	Commands []Command
}

// An Example is a line that can be typed, and what it does.
type Example struct{ What, Line string }

// A Flag is one of a command.
type Flag struct {
	Names    []string // without dashes: those of one letter have one
	Group    string   // under which heading it stands
	Value    string   // stands for the value: "NAME"; without one the flag takes none
	Usage    string
	Variable string   // of the environment
	Kind     Fits     // of the value
	Words    []string // that the value can be
	Repeats  bool
}

// Fits is what a word in a line can be.
type Fits int

const (
	Anything Fits = iota // a URL, a number: nothing that a shell could know
	File
	Folder
)

// long is the first name of a flag with more than one letter.
func (f Flag) long() string {
	for _, name := range f.Names {
		if len(name) > 1 {
			return name
		}
	}
	return f.Names[0]
}

// written is a name of a flag as it is typed.
func written(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
