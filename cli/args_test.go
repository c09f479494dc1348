package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/internal/option"
)

func getShapes() shapes { return shapesOf(option.Of(option.Get), ignoredByGet...) }

func TestArrange(t *testing.T) {
	known := getShapes()
	for _, tt := range []struct {
		line     string // words, separated by |
		flags    string
		operands string
	}{
		{"", "", ""},
		{"u|-o|x", "--out=x", "u"},
		{"-o|x|u", "--out=x", "u"},
		{"u|--out=x|v", "--out=x", "u|v"},
		{"u|--out|x", "--out=x", "u"},
		{"-x16|u", "--max-connection-per-server=16", "u"},
		{"-x=16|u", "--max-connection-per-server=16", "u"},
		{"-x|16|u", "--max-connection-per-server=16", "u"},
		{"-qx4|u", "--quiet|--max-connection-per-server=4", "u"},
		{"-qv|u", "--quiet|--verbose", "u"},
		{"-vox|u", "--verbose|--out=x", "u"},
		{"-o|-|u", "--out=-", "u"},
		{"-o-|u", "--out=-", "u"},
		{"-", "", "-"},
		{"u|--|-q|--out", "", "u|-q|--out"},
		{"-o|--|u", "--out=--", "u"}, // as getopt: the value is whatever comes next
		{"-o|-q|u", "--out=-q", "u"},
		{"--quiet=false|u", "--quiet=false", "u"},
		{"-H|A: b, c|u|-H|D: e", "--header=A: b, c|--header=D: e", "u"},
		{"-P|d|u", "--dir=d", "u"}, // aliases become one name, so that two of them are no conflict
		{"-A|n|-U|m|u", "--user-agent=n|--user-agent=m", "u"},
		{"-LfL|u|-qf", "--quiet", "u"},
		{"--out=a=b", "--out=a=b", ""},
		{"u|-h", "--help", "u"},
		{"|u", "", "|u"},
	} {
		a, err := arrange(split(tt.line), known)
		if err != nil {
			t.Errorf("%q: %v", tt.line, err)
			continue
		}
		if !slices.Equal(a.flags, split(tt.flags)) || !slices.Equal(a.operands, split(tt.operands)) {
			t.Errorf("%q: flags %q and operands %q, want %q and %q", tt.line, a.flags, a.operands, tt.flags, tt.operands)
		}
	}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "|")
}

func TestArrangeRefuses(t *testing.T) {
	known := getShapes()
	for _, tt := range []struct{ line, flag, why string }{
		{"u|--bogus", "--bogus", unknownFlag},
		{"--usr=name:password", "--usr", unknownFlag}, // not the value, which may be a secret
		{"-Z", "-Z", unknownFlag},
		{"-qZ", "-Z", unknownFlag},
		{"-é", "-é", unknownFlag},
		{"--o=x", "--o", unknownFlag},
		{"--=x", "--", unknownFlag},
		{"---", "---", unknownFlag},
		{"u|-o", "-o", missingValue},
		{"u|-qo", "-o", missingValue},
		{"u|--out", "--out", missingValue},
	} {
		_, err := arrange(split(tt.line), known)
		e, ok := errors.AsType[*flagError](err)
		if !ok || e.Flag != tt.flag || e.Why != tt.why {
			t.Errorf("%q: error %v, want %s: %s", tt.line, err, tt.flag, tt.why)
		}
	}
}

// FuzzArrange: nothing is lost or made up, and what the pass gives out means the same when it goes in again.
func FuzzArrange(f *testing.F) {
	f.Add("u|-o|x|-qv|--json|-x16|--|-")
	f.Add("-LfcqH|A: b|--mirror=u")
	known := getShapes()
	f.Fuzz(func(t *testing.T, line string) {
		words := split(line)
		a, err := arrange(words, known)
		if err != nil {
			if _, ok := errors.AsType[*flagError](err); !ok {
				t.Fatalf("%T", err)
			}
			return
		}
		rest := words
		for _, o := range a.operands {
			i := slices.Index(rest, o)
			if i < 0 {
				t.Fatalf("operand %q is not one of %q, in order", o, words)
			}
			rest = rest[i+1:]
		}
		again, err := arrange(a.args(), known)
		if err != nil || !slices.Equal(again.flags, a.flags) || !slices.Equal(again.operands, a.operands) {
			t.Fatalf("%q gives %q, and that %q, %v", words, a.args(), again.args(), err)
		}
	})
}

// TestEveryFlag: each flag of each command says what it does, can be set in the environment under the name
// that the help gives for it, and shares no name with another.
func TestEveryFlag(t *testing.T) {
	for _, c := range allCommands() {
		names := map[string]bool{"h": true, "help": true}
		for _, o := range c.Options {
			if o.Text() == "" || o.Kind == 0 {
				t.Errorf("%s %v: no usage text, or no kind", c.Name, o.Names)
				continue
			}
			if (o.Value() != "") != (o.Kind != option.Switch) {
				t.Errorf("%s %v: takes a value: %t, placeholder %q", c.Name, o.Names, o.Kind != option.Switch, o.Value())
			}
			for name := range strings.FieldsSeq(o.Names) {
				if names[name] || option.Foreign("-"+name) != "" {
					t.Errorf("%s: %s has two meanings", c.Name, name)
				}
				names[name] = true
			}
		}
		for _, letter := range ignoredBy(c.Name) {
			if names[letter] {
				t.Errorf("%s: %s is ignored and has a meaning", c.Name, letter)
			}
		}
	}
}
