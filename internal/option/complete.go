package option

import (
	_ "embed"
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
		below, ok := c.Below(before[0])
		if !ok || below.Hidden {
			return Reply{}
		}
		c, before = below, before[1:]
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
		if !sub.Hidden {
			r.add(sub.Word(), sub.Summary)
		}
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
		o, attached, ok := c.option(word)
		if !ok || o.Kind == Switch || attached {
			continue
		}
		if len(before) == 0 {
			return o.reply("", last)
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
			if o, _, ok := c.option(name); ok && o.Kind != Switch {
				return o.reply(name+"=", value)
			}
			return Reply{}
		}
	default:
		if o, attached, ok := c.option(last); ok && attached {
			return o.reply(last[:2], last[2:])
		}
	}
	r := Reply{Rest: last}
	c.names(&r)
	return r
}

// names are all options, each by its long name; those of one letter where that is all that there is so far.
func (c Command) names(r *Reply) {
	for _, o := range c.Options {
		r.add(Written(o.long()), o.Text())
		for _, name := range strings.Fields(o.Names) {
			if r.Rest == Written(name) && name != o.long() {
				r.add(Written(name), o.Text())
			}
		}
	}
	r.add("--help", "show how it is used")
}

// option finds the option that a word is, or ends with. Attached says that its value is in the word, too.
func (c Command) option(word string) (o Option, attached, ok bool) {
	find := func(name string) (Option, bool) {
		i := slices.IndexFunc(c.Options, func(o Option) bool { return slices.Contains(strings.Fields(o.Names), name) })
		if i < 0 {
			return Option{}, false
		}
		return c.Options[i], true
	}
	if name, isLong := strings.CutPrefix(word, "--"); isLong {
		name, _, attached = strings.Cut(name, "=")
		o, ok = find(name)
		return o, attached, ok
	}
	letters, isShort := strings.CutPrefix(word, "-")
	for isShort && letters != "" {
		o, ok = find(letters[:1])
		if letters = letters[1:]; !ok || o.Kind != Switch {
			break
		}
	}
	return o, letters != "", ok
}

func (c Command) operand(last string) Reply {
	kind, words := c.operands()
	return replyOf(Reply{Kind: kind, Rest: last}, words)
}

// reply is what the value of an option can be; prefix is what stands before it in the same word.
func (o Option) reply(prefix, last string) Reply {
	kind, words := o.fits()
	return replyOf(Reply{Prefix: prefix, Kind: kind, Rest: last}, words)
}

func replyOf(r Reply, words []string) Reply {
	for _, word := range words {
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

// Shells are those that there is a completion for.
var shells = []struct{ name, script string }{{"bash", bashScript}, {"zsh", zshScript}, {"fish", fishScript}}

var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

// Shells are the shells that there is a completion for.
func Shells() (names []string) {
	for _, s := range shells {
		names = append(names, s.name)
	}
	return names
}

// Completion is the script that makes a shell complete lines of a program. It runs "PROGRAM complete -- WORD...", so it
// stays right when the program gets other flags. It is empty for a shell that is not known.
func Completion(shell, program string) string {
	for _, s := range shells {
		if s.name == shell {
			return strings.ReplaceAll(s.script, "PROGRAM", program)
		}
	}
	return ""
}

// kinds are how a Reply calls what fits beside its words.
var kinds = map[Fits]string{Anything: "words", File: "files", Folder: "folders"}

// String is a Reply as the scripts read it: a line that says whether files fit, one with the prefix, one with what files
// begin with, and the words, each with what it is after a tab.
func (r Reply) String() string {
	var b strings.Builder
	for _, head := range []string{kinds[r.Kind], r.Prefix, r.Rest} {
		b.WriteString(oneLine(head) + "\n")
	}
	for _, w := range r.Words {
		b.WriteString(w.Word + "\t" + oneLine(brief(w.Text)) + "\n")
	}
	return b.String()
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// brief is what stands beside a word in a menu: a text up to where it explains itself.
func brief(text string) string {
	for _, end := range []string{": ", "; ", " (", ", as in "} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}
