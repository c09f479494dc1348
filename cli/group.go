package cli

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/download"
	"braid/metalink/metainfo"
)

// nameCommands gives commands the names by which users call them, behind that of the program.
func nameCommands(above string, commands []*cli.Command) {
	for _, c := range commands {
		c.HelpName = strings.TrimSpace(above + " " + c.Name)
		nameCommands(c.HelpName, c.Subcommands)
	}
}

// allCommands are commands and those below them.
func allCommands(commands []*cli.Command) (all []*cli.Command) {
	for _, c := range commands {
		all = append(append(all, c), allCommands(c.Subcommands)...)
	}
	return all
}

// namesOf are the names of commands that users type.
func namesOf(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// withGet puts get before a URL, a magnet link, or a document that is on disk. The name of a command is that command.
func withGet(app *cli.App, words []string) []string {
	if app.Command(words[0]) != nil || !isDownload(words[0]) {
		return words
	}
	return append([]string{"get"}, words...)
}

// isDownload reports whether a word names something that get downloads, and cannot be anything else.
func isDownload(word string) bool {
	if isWebAddress(word) || metainfo.IsMagnet(word) {
		return true
	}
	info, err := os.Stat(word)
	return download.IsDocument(word) && err == nil && info.Mode().IsRegular()
}

// usual are the commands that are meant below others where no word names one.
var usual = map[string]string{"parts": "list"}

// withUsual puts the usual command where none is named.
func withUsual(c *cli.Command, words []string) []string {
	name, ok := usual[c.HelpName]
	if !ok || len(words) > 1 && (c.Command(words[1]) != nil || words[1] == "-h" || words[1] == "--help") {
		return words
	}
	return append([]string{words[0], name}, words[1:]...)
}

// descend follows the words to the command below others that they name. Path are the names on the way, and rest is what follows.
func descend(c *cli.Command, words []string) (last *cli.Command, path, rest []string, err error) {
	words = withUsual(c, words)
	path, rest = words[:1:1], words[1:]
	for len(c.Subcommands) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		sub := c.Command(rest[0])
		if sub == nil {
			return nil, nil, nil, unknownBelow(path, rest[0], namesOf(c.Subcommands))
		}
		c, path, rest = sub, append(path, rest[0]), rest[1:]
	}
	return c, path, rest, nil
}

func unknownBelow(path []string, word string, names []string) *failure {
	hint := "there are " + strings.Join(names, ", ")
	if name := nearestWord(word, names); name != "" {
		hint = "did you mean " + name + "?"
	}
	return misuse(strings.Join(path, " ")+" "+maskWord(word), "no such command", hint)
}
