package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/internal/option"
	"braid/source"
)

// configCommand is one run of "braid config".
type configCommand struct {
	streams
	all bool
}

func newConfig(s streams) *cli.Command {
	k := &configCommand{streams: s}
	c := &cli.Command{
		Name:   "config",
		Usage:  "show the settings of a command, and where each comes from",
		Flags:  flags(option.Config, targets{"all": &k.all}),
		Action: func(c *cli.Context) error { return k.run(c.Context, c.App.Commands, c.Args().Slice()) },
	}
	s.help(c, manual{
		usage: "[--all] [COMMAND]",
		examples: []string{
			"what braid get goes by, and at which sites it is something else", "braid config",
			"all flags of braid verify", "braid config --all verify",
		},
		notes: []string{
			"The file is braid/config.toml in $XDG_CONFIG_HOME (else ~/.config). Each flag is a key in it, for all\n" +
				"commands that have it, or in a table such as [get] for one. Values are written as on the command\n" +
				"line, those of flags without a value are true or false, and ~/ is your home:",
			"  limit-rate = \"20M\"\n  [get]\n  dir = \"~/downloads\"\n  [site.\"https://example.org/pub/*\"]\n  keyring = \"~/keys/example.asc\"\n  limit-rate = \"5M\"",
			"A flag on the command line beats the environment, and that beats the file. A site has keyring, pin,\n" +
				"smime-ca, allow-expired-key, require, header, proxy, limit-rate, cacert and insecure; they are for\n" +
				"URLs that begin like it, and the longest counts. A keyring of a site demands a signature there.",
		},
	})
	return c
}

// run shows the settings.
func (k *configCommand) run(ctx context.Context, commands []*cli.Command, words []string) error {
	name := "get"
	if len(words) == 1 {
		name = words[0]
	}
	var command *cli.Command
	for _, c := range commands {
		if c.Name == name {
			command = c
		}
	}
	switch {
	case len(words) > 1:
		return misuse("config", "one command is enough", "braid config --help")
	case command == nil:
		return unknownCommand(name, namesOf(commands))
	}
	conf := configurationOf(ctx)
	lines := []string{"file: " + conf.path}
	switch {
	case conf.path == "":
		lines[0] += "none, as the environment names no folder for it"
	case conf.file == nil:
		lines[0] += " (not there)"
	}
	var rows [][]string
	seen := map[string]bool{}
	for _, c := range allCommands([]*cli.Command{command}) {
		for _, f := range c.Flags {
			if flag := f.Names()[0]; !seen[flag] {
				seen[flag] = true
				rows = append(rows, k.rows(conf, name, flag)...)
			}
		}
	}
	lines = append(append(lines, columns(rows)...), sitesText(conf)...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(k.out, source.Escape(line)); err != nil {
			return outputFailure(err)
		}
	}
	return nil
}

// rows are what is known of a flag: each of its values and where it comes from.
func (k *configCommand) rows(c *configuration, command, flag string) (rows [][]string) {
	if value := os.Getenv(option.Variable(flag)); value != "" {
		return [][]string{{flag, "= " + maskSetting(flag, value), option.Variable(flag)}}
	}
	v, ok := c.file.Value(command, flag)
	for _, word := range v.Words {
		rows = append(rows, []string{flag, "= " + maskSetting(flag, word), c.place(v.Line)})
	}
	if !ok && k.all {
		rows = append(rows, []string{flag, "", "default"})
	}
	return rows
}

// maskSetting shows a value without what may be secret in it (rule 62).
func maskSetting(flag, word string) string {
	switch flag {
	case "user", "header":
		if name, _, ok := strings.Cut(word, ":"); ok {
			return name + ": ***"
		}
		return "***"
	}
	if strings.Contains(word, "://") || strings.Contains(word, "@") {
		return maskWord(word)
	}
	return word
}

// sitesText lists what counts at sites.
func sitesText(c *configuration) (lines []string) {
	if c.file == nil || len(c.file.Sites) == 0 {
		return nil
	}
	for _, s := range c.file.Sites {
		lines = append(lines, "", "site "+s.Pattern+"  "+c.place(s.Line))
		lines = append(lines, columns(siteRows(&s))...)
	}
	return lines
}

func siteRows(s *option.Site) (rows [][]string) {
	add := func(name string, words ...string) {
		for _, word := range words {
			if word != "" {
				rows = append(rows, []string{"  " + name, "= " + maskSetting(name, word)})
			}
		}
	}
	add("keyring", s.Keyring...)
	add("pin", s.Pin...)
	add("smime-ca", s.Authorities...)
	add("require", s.Require)
	add("header", s.Header...)
	add("proxy", s.Proxy)
	add("limit-rate", s.LimitRate)
	add("cacert", s.CACert...)
	if s.AllowExpiredKey {
		add("allow-expired-key", "true")
	}
	if s.Insecure {
		add("insecure", "true")
	}
	return rows
}
