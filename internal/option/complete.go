package option

import (
	"slices"
	"strings"
)

// A Reply says how the last word of a line can go on.
type Reply struct {
	Words  []Term // whole words, and what each is
	Prefix string // stands before each in the line and is not part of it: "--require="
	Kind   Fits   // files or folders fit as well
	Rest   string // what of the last word they begin with, if they do
}

// Complete replies to a line: the words after the name of the program, of which the last is unfinished and may be empty.
// It reads flags as the program does: "--split 4", "--split=4", "-s4", "-s 4", and "--" as their end.
func (p Program) Complete(words []string) Reply {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	c, help := p.Command, false
	if len(before) > 0 && before[0] == "help" {
		before, help = before[1:], true
	}
	for len(before) > 0 && len(c.Commands) > 0 {
		i := slices.IndexFunc(c.Commands, func(below Command) bool { return below.Name == before[0] })
		if i < 0 {
			return Reply{}
		}
		c, before = c.Commands[i], before[1:]
	}
	switch {
	case len(c.Commands) > 0 && !strings.HasPrefix(last, "-"):
		return c.commandNames(last, help || c.Name != p.Name)
	case help:
		return Reply{}
	}
	return c.complete(before, last)
}

// commandNames are the commands that begin so. The program itself has help, too.
func (c Command) commandNames(last string, below bool) (r Reply) {
	r.Rest = last
	for _, sub := range c.Commands {
		r.add(sub.Name, sub.Summary)
	}
	if !below {
		r.add("help", "show how a command is used")
	}
	return r
}

// complete goes on with flags, values and operands.
func (c Command) complete(before []string, last string) Reply {
	for len(before) > 0 {
		word := before[0]
		before = before[1:]
		if word == "--" {
			return c.operand(last)
		}
		f, attached, ok := c.flag(word)
		if !ok || f.Value == "" || attached {
			continue
		}
		if len(before) == 0 {
			return f.value("", last)
		}
		before = before[1:]
	}
	switch {
	case !strings.HasPrefix(last, "-") || last == "-":
		r := c.operand(last)
		if last == "-" {
			c.names(&r)
		}
		return r
	case strings.HasPrefix(last, "--"):
		if name, value, found := strings.Cut(last, "="); found {
			if f, _, ok := c.flag(name); ok && f.Value != "" {
				return f.value(name+"=", value)
			}
			return Reply{}
		}
	default:
		if f, attached, ok := c.flag(last); ok && attached {
			return f.value(last[:2], last[2:])
		}
	}
	r := Reply{Rest: last}
	c.names(&r)
	return r
}

// names are all flags, each by its long name; those of one letter where that is all that there is so far.
func (c Command) names(r *Reply) {
	for _, f := range c.Flags {
		r.add(written(f.long()), f.Usage)
		for _, name := range f.Names {
			if r.Rest == written(name) && name != f.long() {
				r.add(written(name), f.Usage)
			}
		}
	}
	r.add("--help", "show how it is used")
}

// flag finds the flag that a word is, or ends with. Attached says that its value is in the word, too.
func (c Command) flag(word string) (f Flag, attached, ok bool) {
	find := func(name string) (Flag, bool) {
		i := slices.IndexFunc(c.Flags, func(f Flag) bool { return slices.Contains(f.Names, name) })
		if i < 0 {
			return Flag{}, false
		}
		return c.Flags[i], true
	}
	if name, isLong := strings.CutPrefix(word, "--"); isLong {
		name, _, attached = strings.Cut(name, "=")
		f, ok = find(name)
		return f, attached, ok
	}
	letters, isShort := strings.CutPrefix(word, "-")
	for isShort && letters != "" {
		f, ok = find(letters[:1])
		if letters = letters[1:]; !ok || f.Value != "" {
			break
		}
	}
	return f, letters != "", ok
}

func (c Command) operand(last string) Reply {
	r := Reply{Kind: c.Operands, Rest: last}
	for _, word := range c.Words {
		r.add(word, "")
	}
	return r
}

// value is what the value of a flag can be; prefix is what stands before it in the same word.
func (f Flag) value(prefix, last string) Reply {
	r := Reply{Prefix: prefix, Kind: f.Kind, Rest: last}
	for _, word := range f.Words {
		r.add(word, "")
	}
	return r
}

// add takes a word if it begins as the line ends.
func (r *Reply) add(word, text string) {
	if strings.HasPrefix(word, r.Rest) {
		r.Words = append(r.Words, Term{word, text})
	}
}
