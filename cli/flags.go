package cli

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// The groups of flags, in which the help shows them.
const (
	groupFile   = "File"
	groupProof  = "Proof"
	groupSource = "Sources"
	groupWire   = "Requests"
	groupOutput = "Output"
	groupServer = "Server"
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
