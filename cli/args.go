package cli

import (
	"fmt"
	"strings"

	"braid/internal/option"
)

// A shape describes a flag for arrange.
type shape struct {
	name    string // the name that the flag parser knows, whichever name the user wrote
	value   bool   // the flag takes a value
	ignored bool   // accepted without effect, because the flag requests the default behavior
}

// shapes maps each name that the user may write for a flag of a command to the shape of the flag.
type shapes map[string]shape

// shapesOf returns the shapes of options, of -h and --help, and of the letters in ignored. These letters are accepted
// without effect.
func shapesOf(options []option.Option, ignored ...string) shapes {
	known := shapes{"h": {name: "help"}, "help": {name: "help"}}
	for _, o := range options {
		for name := range strings.FieldsSeq(o.Names) {
			known[name] = shape{name: o.Name(), value: o.Kind != option.Switch}
		}
	}
	for _, letter := range ignored {
		known[letter] = shape{name: letter, ignored: true}
	}
	return known
}

// arranged is a command line in the order that the flag parser needs.
type arranged struct {
	flags    []string // each "--name" or "--name=value"
	operands []string
}

// has reports whether the flag with that name is in a, with or without a value.
func (a *arranged) has(name string) bool {
	for _, f := range a.flags {
		if given, _, _ := strings.Cut(f, "="); given == "--"+name {
			return true
		}
	}
	return false
}

// args returns the command line for the flag parser. After the "--" the parser reads no word as a flag.
func (a *arranged) args() []string {
	return append(append(append([]string{}, a.flags...), "--"), a.operands...)
}

// arrange moves flags before operands, because the flag parser reads everything after the first operand as operands. It
// reads flags as getopt_long does: -x16, -x 16, --split=4, --split 4, several letters without values in one word (-qv), "-"
// as an operand, and "--" as the end of the flags. Unlike getopt_long, it reads -x=16 as -x 16. The error is a *flagError.
func arrange(args []string, known shapes) (arranged, error) {
	var a arranged
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var used bool
		var err error
		switch {
		case arg == "--":
			a.operands = append(a.operands, args...)
			return a, nil
		case len(arg) < 2 || arg[0] != '-':
			a.operands = append(a.operands, arg)
		case arg[1] == '-':
			used, err = a.long(arg[2:], args, known)
		default:
			used, err = a.short(arg[1:], args, known)
		}
		if err != nil {
			return arranged{}, err
		}
		if used {
			args = args[1:]
		}
	}
	return a, nil
}

// long adds the flag in word, such as split=4 of --split=4. It reports whether the value of the flag is rest[0].
func (a *arranged) long(word string, rest []string, known shapes) (used bool, err error) {
	name, value, given := strings.Cut(word, "=")
	flag, ok := known[name]
	switch {
	case !ok || len(name) == 1:
		return false, &flagError{Flag: "--" + name, Why: unknownFlag}
	case given:
		return false, a.set("--"+name, flag, value)
	case !flag.value:
		a.add(flag)
		return false, nil
	}
	return a.next("--"+name, flag, rest)
}

// short adds the flags in word, such as the letters qv of -qv or x16 of -x16. Only the last letter may have a value. It
// reports whether that value is rest[0].
func (a *arranged) short(word string, rest []string, known shapes) (used bool, err error) {
	for i, r := range word {
		letter := string(r)
		flag, ok := known[letter]
		if !ok {
			return false, &flagError{Flag: "-" + letter, Why: unknownFlag}
		}
		if !flag.value {
			a.add(flag)
			continue
		}
		if value := word[i+len(letter):]; value != "" {
			return false, a.set("-"+letter, flag, strings.TrimPrefix(value, "="))
		}
		return a.next("-"+letter, flag, rest)
	}
	return false, nil
}

// next adds flag with rest[0] as its value, even if rest[0] looks like a flag.
func (a *arranged) next(written string, flag shape, rest []string) (used bool, err error) {
	if len(rest) == 0 {
		return false, &flagError{Flag: written, Why: missingValue}
	}
	return true, a.set(written, flag, rest[0])
}

// set adds flag with value. An empty value is an error: it usually comes from an unset shell variable, and the user
// would not notice that a name or a digest is ignored.
func (a *arranged) set(written string, flag shape, value string) error {
	if value == "" {
		return &flagError{Flag: written, Why: emptyValue}
	}
	if !flag.ignored {
		a.flags = append(a.flags, "--"+flag.name+"="+value)
	}
	return nil
}

func (a *arranged) add(flag shape) {
	if !flag.ignored {
		a.flags = append(a.flags, "--"+flag.name)
	}
}

const (
	unknownFlag  = "unknown flag"
	missingValue = "needs a value"
	emptyValue   = "the value is empty"
)

type flagError struct {
	Flag string // as written, without its value
	Why  string
}

func (e *flagError) Error() string { return fmt.Sprintf("%s: %s", e.Flag, e.Why) }
