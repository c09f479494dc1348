package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/internal/option"
)

// newCompletion is "braid completion", which prints what a shell has to know.
func newCompletion(s streams) *cli.Command {
	c := &cli.Command{Name: "completion", Usage: "print what makes bash, zsh or fish complete lines"}
	s.help(c, manual{
		usage: "bash|zsh|fish",
		examples: []string{
			"in this shell, bash", "source <(braid completion bash)",
			"in each bash from now on", "braid completion bash > ~/.local/share/bash-completion/completions/braid",
			"in each zsh; the folder has to be in fpath", "braid completion zsh > ~/.zfunc/_braid",
			"in each fish", "braid completion fish > ~/.config/fish/completions/braid.fish",
		},
		notes: []string{"Commands, flags, their values and files are completed. The scripts ask braid itself what fits, so they stay right\n" +
			"with its next version. Debian's package brings them."},
	})
	c.Action = func(c *cli.Context) error {
		script := ""
		if c.NArg() == 1 {
			script = option.Completion(c.Args().First(), c.App.Name)
		}
		if script == "" {
			return misuse("completion", "one shell is needed", "there are "+strings.Join(option.Shells(), ", "))
		}
		_, err := fmt.Fprint(s.out, script)
		return outputFailure(err)
	}
	return c
}

// newComplete is what those scripts run: "braid complete -- WORD..." prints how the last word can go on.
func newComplete(s streams) *cli.Command {
	return &cli.Command{
		Name: "complete", Usage: "for completions: how a line can go on", Hidden: true,
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprint(s.out, reference(c.App).Complete(c.Args().Slice()))
			return outputFailure(err)
		},
	}
}
