package cli

import (
	"braid/internal/option"
	"cmp"
	"maps"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

// targets are where the values of options go, by their first name: to a *string, *bool, *cli.StringSlice, or what reads a form of its own.
type targets map[string]any

func merged(all ...targets) targets {
	one := targets{}
	for _, t := range all {
		maps.Copy(one, t)
	}
	return one
}

// flags makes the flags of a command from its options. A target without an option is one of other commands.
func flags(c option.Commands, to ...targets) (list []cli.Flag) {
	all := merged(to...)
	for _, o := range option.Of(c) {
		names := strings.Fields(o.Names)
		name, aliases, group, usage, variables := names[0], names[1:], o.Heading(c), o.Help(), []string{option.Variable(names[0])}
		switch to := all[name].(type) {
		case *string:
			list = append(list, &cli.StringFlag{Name: name, Aliases: aliases, Category: group, Usage: usage, EnvVars: variables, Destination: to, Value: *to})
		case *bool:
			list = append(list, &cli.BoolFlag{Name: name, Aliases: aliases, Category: group, Usage: usage, EnvVars: variables, Destination: to})
		case *cli.StringSlice:
			list = append(list, &cli.StringSliceFlag{Name: name, Aliases: aliases, Category: group, Usage: usage, EnvVars: variables, Destination: to})
		case cli.Generic:
			if choice, ok := to.(*choice); ok {
				choice.Words = o.Choices()
			}
			list = append(list, &cli.GenericFlag{Name: name, Aliases: aliases, Category: group, Usage: usage, EnvVars: variables, Value: to})
		default:
			panic("--" + name + " has no target")
		}
	}
	return list
}

// checkEnvironment refuses variables that are set and empty, for flags that take a value and are not on the command line:
// as there, an empty value is a mistake.
func checkEnvironment(flags []cli.Flag, given *arranged) error {
	for _, f := range flags {
		name := f.Names()[0]
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok || !doc.TakesValue() || given.has(name) {
			continue
		}
		if value, set := os.LookupEnv(option.Variable(name)); set && value == "" {
			return misuse(option.Variable(name), emptyValue, "unset it, or give it one")
		}
	}
	return nil
}

// opposites are flags that contradict each other.
var opposites = [][2]string{{"quiet", "verbose"}, {"verbose", "quiet"}, {"overwrite", "no-clobber"}, {"no-clobber", "overwrite"},
	{"if-newer", "no-clobber"}, {"no-clobber", "if-newer"}}

// beatEnvironment takes back what the environment says when the command line says the opposite.
func (a *arranged) beatEnvironment() {
	for _, o := range opposites {
		if a.has(o[0]) && !a.has(o[1]) && os.Getenv(option.Variable(o[1])) != "" {
			a.flags = append(a.flags, "--"+o[1]+"=false")
		}
	}
}

// How the flag parser says that it does not like a value: of the command line, or of the environment.
var (
	invalidValue    = regexp.MustCompile(`^invalid (boolean )?value "(.*)" for (?:flag )?-([^ :]+): (.*)$`)
	invalidVariable = regexp.MustCompile(`^could not parse ".*" (as bool value )?from environment variable "([^"]*)".* for flag [^ :]+: (.*)$`)
)

// refuse makes a failure of what the flag parser says.
func refuse(c *cli.Context, err error, _ bool) error {
	name := strings.TrimPrefix(c.Command.HelpName, "braid ")
	where, why, hint := name, err.Error(), "braid "+name+" --help"
	if m := invalidValue.FindStringSubmatch(why); m != nil {
		where, why = "--"+m[3], boolean(m[1], m[4])
		if places, ok := c.App.Metadata[metaPlaces].(map[string]string); ok && places[m[3]] != "" {
			where = places[m[3]] + ": " + m[3]
		}
		hint = cmp.Or(foreignValue(m[3], m[2]), hint)
	} else if m := invalidVariable.FindStringSubmatch(why); m != nil {
		where, why = m[2], boolean(m[1], m[3])
	}
	return misuse(where, why, hint)
}

// boolean is what is wrong with a value. Of those that are true or false, the parser says it in Go's words.
func boolean(isBool, why string) string {
	if isBool != "" {
		return "the value is not true or false"
	}
	return why
}
