package option

import (
	_ "embed"
	"errors"
	"maps"
	"slices"
	"strings"

	"braid/internal/once"
)

// aria2Text has a line for each option of aria2c 1.36, and for one of braid. A line contains the option's name, its letter,
// whether it takes a value (none, bool, maybe, text), its Fate if braid is called as aria2c, and a note for the user.
//
//go:embed aria2.txt
var aria2Text string

// Aria2Option is an option of aria2c.
type Aria2Option struct {
	Name, Letter string
	Fate         string // one of the fates below; get and unless are followed by a colon and a word
	Note         string
	value        string
}

// The fates of aria2c's options in braid.
const (
	aria2Own     = "own"     // implemented by the command
	Aria2Ignored = "ignored" // ignored, because it does not change the downloaded files
	Aria2Warned  = "warned"  // ignored with a warning, because it has no effect
	Aria2Refused = "refused"
	aria2Flag    = "get"    // the option of braid get after the colon means the same
	aria2Unless  = "unless" // refused, except for the value after the colon
)

// Flag returns the option of braid get that means the same as o, or "" if braid get has no such option.
func (o Aria2Option) Flag() string {
	kind, name, _ := strings.Cut(o.Fate, ":")
	if kind != aria2Flag {
		return ""
	}
	return name
}

// refuses reports whether o is refused if it has that value.
func (o Aria2Option) refuses(value string) bool {
	kind, only, _ := strings.Cut(o.Fate, ":")
	return kind == Aria2Refused || kind == aria2Unless && value != only
}

// isSwitch reports whether the values of o are true and false.
func (o Aria2Option) isSwitch() bool { return o.value == "bool" }

var aria2Table = once.Value(readAria2)

// Aria2Options returns all options in aria2Text.
func Aria2Options() []Aria2Option { return aria2Table() }

func readAria2() (list []Aria2Option) {
	for line := range strings.Lines(aria2Text) {
		words := append(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5), "")
		list = append(list, Aria2Option{Name: words[0], Letter: strings.Trim(words[1], "-"), value: words[2],
			Fate: words[3], Note: words[4]})
	}
	return list
}

var errAria2 = errors.New("unknown option")

// aria2Named returns the option of aria2c with that name. name may be a prefix that only one name has.
func aria2Named(name string) (found Aria2Option, err error) {
	n := 0
	for _, o := range Aria2Options() {
		if o.Name == name {
			return o, nil
		}
		if strings.HasPrefix(o.Name, name) {
			found = o
			n++
		}
	}
	if n != 1 {
		return found, errAria2
	}
	return found, nil
}

// IsAria2 reports whether aria2c has an option called name.
func IsAria2(name string) bool {
	return slices.ContainsFunc(Aria2Options(), func(o Aria2Option) bool { return o.Name == name })
}

// Aria2Line is a command line or a configuration file of aria2c after parsing.
type Aria2Line struct {
	Settings []Setting // options with their full names, in order
	Operands []string
	Unknown  []string // options that aria2c does not have
}

// ParseAria2 parses words, a command line, as aria2c does. Options that aria2c does not have are listed in Unknown
// instead of being errors. The error is an *Error.
func ParseAria2(words []string) (l Aria2Line, err error) {
	for len(words) > 0 && err == nil {
		word := words[0]
		words = words[1:]
		switch {
		case word == "--":
			l.Operands = append(l.Operands, words...)
			return l, nil
		case len(word) < 2 || word[0] != '-':
			l.Operands = append(l.Operands, word)
		case word[1] == '-':
			words, err = l.long(word[2:], words)
		default:
			words, err = l.letters(word[1:], words)
		}
	}
	return l, err
}

func (l *Aria2Line) long(word string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(word, "=")
	o, err := aria2Named(name)
	if err != nil {
		l.Unknown = append(l.Unknown, "--"+name)
		return rest, nil
	}
	return l.set(o, value, given, rest)
}

func (l *Aria2Line) letters(word string, rest []string) ([]string, error) {
	i := slices.IndexFunc(Aria2Options(), func(o Aria2Option) bool { return o.Letter == word[:1] })
	if i < 0 {
		l.Unknown = append(l.Unknown, "-"+word)
		return rest, nil
	}
	o, value := Aria2Options()[i], word[1:]
	if o.value == "text" || value == "" || isBool(value) {
		return l.set(o, value, value != "", rest)
	}
	rest, err := l.set(o, "", false, rest)
	if err != nil {
		return rest, err
	}
	return l.letters(value, rest)
}

func isBool(word string) bool { return word == "true" || word == "false" }

// set adds o with the attached value if given is true, and otherwise with the next word, rest[0], as its value. A
// switch never uses the next word. set returns the words that are left.
func (l *Aria2Line) set(o Aria2Option, value string, given bool, rest []string) ([]string, error) {
	switch {
	case o.value == "text" && !given && len(rest) == 0:
		return rest, &Error{Key: "--" + o.Name, Why: "needs a value"}
	case o.value == "text" && !given:
		value, rest = rest[0], rest[1:]
	case o.isSwitch() && !given:
		value = "true"
	}
	return rest, l.add(o, 0, value)
}

// add checks the value and adds o with that value to l.
func (l *Aria2Line) add(o Aria2Option, line int, value string) error {
	switch {
	case o.isSwitch() && !isBool(value):
		return &Error{Line: line, Key: "--" + o.Name, Why: "write true or false"}
	case o.refuses(value):
		return &Error{Line: line, Key: "--" + o.Name, Why: "braid does not support this value", Hint: o.Note}
	case strings.ContainsAny(value, "\r\n"):
		return &Error{Line: line, Key: "--" + o.Name, Why: "the value has a line break"}
	}
	l.Settings = append(l.Settings, Setting{line, o.Name, strings.TrimSpace(value)})
	return nil
}

// ParseAria2Conf parses text, the content of an aria2.conf, which has NAME=VALUE on each line. The error is an *Error.
func ParseAria2Conf(text string) (l Aria2Line, err error) {
	for line := range lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line.text), "=")
		if name == "" || name[0] == '#' {
			continue
		}
		o, err := aria2Named(strings.TrimSpace(name))
		if err != nil || !ok || o.Name != strings.TrimSpace(name) {
			l.Unknown = append(l.Unknown, name)
			continue
		}
		if err := l.add(o, line.number, strings.TrimSpace(value)); err != nil {
			return l, err
		}
	}
	return l, nil
}

// Aria2List translates list, a list of files for aria2c, to a list for braid, line by line. ignored has the names of
// options that were omitted because they have no effect. The error is an *Error.
func Aria2List(list string) (own string, ignored []string, err error) {
	var b strings.Builder
	user := ""
	for line := range lines(list) {
		text := strings.TrimSpace(line.text)
		if text == "" || text[0] == '#' {
			b.WriteString("\n")
			continue
		}
		if line.text[0] != ' ' && line.text[0] != '\t' {
			b.WriteString(line.text + "\n")
			user = ""
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if _, own := InList(name); ok && own && !IsAria2(name) {
			b.WriteString(line.text + "\n")
			continue
		}
		var l Aria2Line
		o, unknown := aria2Named(name)
		if ok && unknown == nil {
			if err := l.add(o, line.number, strings.TrimSpace(value)); err != nil {
				return "", nil, err
			}
		}
		switch setting, stands := aria2Setting(o, strings.TrimSpace(value), &user); {
		case !ok:
			b.WriteString(line.text)
		case unknown == nil && stands && setting != "":
			b.WriteString(" " + setting)
		case unknown != nil || !stands && o.Fate != Aria2Ignored && !slices.Contains(pace, o.Name):
			ignored = append(ignored, name)
		}
		b.WriteString("\n")
	}
	slices.Sort(ignored)
	return b.String(), slices.Compact(ignored), nil
}

// InAria2List reports whether a list of aria2c may contain the option name with that value. It may contain aria2c's
// options that are not refused, and the options that braid's lists may have.
func InAria2List(name, value string) bool {
	if !IsAria2(name) {
		_, own := InList(name)
		return own
	}
	_, _, err := Aria2List("x:\n " + name + "=" + value)
	return err == nil
}

// pace has the options about the speed of all downloads together. They are ignored without a warning for one file of a
// list, because they do not change the file.
var pace = []string{"split", "max-connection-per-server", "min-split-size", "lowest-speed-limit"}

// aria2Setting translates o to a line of braid's lists. text is "" if no line is needed. stands reports whether a list
// may have the option. user is the value of http-user for the same file, if that came earlier.
func aria2Setting(o Aria2Option, value string, user *string) (text string, stands bool) {
	switch o.Name {
	case "http-user":
		*user = value
		return "", true
	case "http-passwd":
		return "user=" + *user + ":" + value, *user != ""
	case "follow-torrent", "follow-metalink":
		if value == "false" {
			return "no-metalink=true", true
		}
		return "", true
	case "gid", "continue", "pause":
		return "", o.Name != "continue"
	case "referer":
		if value == "*" {
			return "", false
		}
	}
	for _, name := range []string{o.Name, o.Flag()} {
		if own, ok := InList(name); ok && name != "" {
			return own + "=" + value, true
		}
	}
	return "", false
}

// Aria2Settings translates options, under the names of aria2c or of braid's lists, to settings in a list. Line breaks
// separate the values of header. Options that have no effect in a list are omitted.
func Aria2Settings(options map[string]string) (settings []Setting) {
	user := options["http-user"]
	for _, name := range slices.Sorted(maps.Keys(options)) {
		o := Aria2Option{Name: name}
		if IsAria2(name) {
			o, _ = aria2Named(name)
		}
		for value := range strings.SplitSeq(options[name], "\n") {
			text, stands := aria2Setting(o, strings.TrimSpace(value), &user)
			if own, value, ok := strings.Cut(text, "="); ok && stands && value != "" {
				settings = append(settings, Setting{Name: own, Value: value})
			}
		}
	}
	return settings
}
