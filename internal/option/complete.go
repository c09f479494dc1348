package option

import (
	_ "embed"
	"slices"
	"strings"
)

// Reply lists the possible completions of the last word of a line.
type Reply struct {
	Words  []Term // complete words with descriptions
	Prefix string // text before each word in the line that is not a part of the word, such as "--require="
	Kind   Fits   // whether files or folders are completions, too
	Rest   string // the part of the last word that completions begin with
}

// Complete returns the completions of a command line. words are the words after the name of the program. The last of
// them is unfinished and may be empty. Flags are recognized as the program parses them: "--split 4", "--split=4",
// "-s4", "-s 4". The word "--" ends the flags.
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

// commandNames returns the names of subcommands of c that begin with last. If below is false, c is the program itself,
// which also has the subcommand help.
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

// complete returns the completions of last, a flag, a value or an operand of c. before are the words before it.
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

// names adds the long names of all options to r. It adds another name or a letter only if the user has typed it completely.
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

// option returns the option in word or, if word has several letters, the option of the last letter. attached reports
// whether word also contains the option's value.
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

// reply returns the completions for the value of an option. prefix is the part of the word before the value.
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

// add adds word to r if it begins with r.Rest. text is its description.
func (r *Reply) add(word, text string) {
	if strings.HasPrefix(word, r.Rest) {
		r.Words = append(r.Words, Term{word, text})
	}
}

// shells are the supported shells and their scripts.
var shells = []struct{ name, script string }{{"bash", bashScript}, {"zsh", zshScript}, {"fish", fishScript}}

var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

// Shells returns the names of the supported shells.
func Shells() (names []string) {
	for _, s := range shells {
		names = append(names, s.name)
	}
	return names
}

// Completion returns the completion script for a shell, or "" if the shell is unknown. The script runs "PROGRAM
// complete -- WORD...", so that it works for all versions of the program.
func Completion(shell, program string) string {
	for _, s := range shells {
		if s.name == shell {
			return strings.ReplaceAll(s.script, "PROGRAM", program)
		}
	}
	return ""
}

// kinds has the word for each Fits in Reply.String.
var kinds = map[Fits]string{Anything: "words", File: "files", Folder: "folders"}

// String returns r in the format that the scripts read: a line each with the kind, the prefix and the rest, and then a
// line for each word, followed by a tab and its description.
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

// brief shortens an option's help text for a menu: it removes the first explanation and everything after it.
func brief(text string) string {
	for _, end := range []string{": ", "; ", " (", ", as in "} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}
