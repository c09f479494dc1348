package cli

import (
	"cmp"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

// The groups of flags, in which the help shows them.
const (
	groupFile   = "File"
	groupProof  = "Proof"
	groupSource = "Sources"
	groupPeers  = "Peers"
	groupWire   = "Requests"
	groupOutput = "Output"
	groupServer = "Server"
	groupFeed   = "Feed"
)

// environment is where a flag's value comes from when the command line has none.
func environment(flag string) string {
	return "BRAID_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// text is a flag that takes any word. The usage names the word in backquotes, the first name is the one of
// the environment.
func text(to *string, group, usage string, names ...string) cli.Flag {
	return &cli.StringFlag{
		Destination: to, Category: group, Usage: usage,
		Name: names[0], Aliases: names[1:], EnvVars: []string{environment(names[0])},
	}
}

// list is a flag that may be repeated.
func list(to *cli.StringSlice, group, usage string, names ...string) cli.Flag {
	return &cli.StringSliceFlag{
		Destination: to, Category: group, Usage: usage,
		Name: names[0], Aliases: names[1:], EnvVars: []string{environment(names[0])},
	}
}

// toggle is a flag without a value.
func toggle(to *bool, group, usage string, names ...string) cli.Flag {
	return &cli.BoolFlag{
		Destination: to, Category: group, Usage: usage,
		Name: names[0], Aliases: names[1:], EnvVars: []string{environment(names[0])},
	}
}

// parsed is a flag whose value has a form of its own.
func parsed(to cli.Generic, group, usage string, names ...string) cli.Flag {
	return &cli.GenericFlag{
		Value: to, Category: group, Usage: usage,
		Name: names[0], Aliases: names[1:], EnvVars: []string{environment(names[0])},
	}
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
		if value, set := os.LookupEnv(environment(name)); set && value == "" {
			return misuse(environment(name), emptyValue, "unset it, or give it one")
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
		if a.has(o[0]) && !a.has(o[1]) && os.Getenv(environment(o[1])) != "" {
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
