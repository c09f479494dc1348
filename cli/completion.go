package cli

import (
	"context"
	"fmt"
	"strings"

	"braid/internal/option"
	"braid/internal/problem"
)

// newCompletion implements "braid completion", which prints the completion script of a shell.
func newCompletion(s streams) (action, targets) {
	return func(_ context.Context, words []string) error {
		script := ""
		if len(words) == 1 {
			script = option.Completion(words[0], "braid")
		}
		if script == "" {
			return problem.Misuse("completion", "needs the name of one shell", "choose one of "+
				strings.Join(option.Shells(), ", "))
		}
		_, err := fmt.Fprint(s.out, script)
		return outputFailure(err)
	}, nil
}

// newComplete implements "braid complete -- WORD...", which the completion scripts run. It prints the completions of
// the last word.
func newComplete(s streams) (action, targets) {
	return func(_ context.Context, words []string) error {
		_, err := fmt.Fprint(s.out, option.Braid().Complete(words))
		return outputFailure(err)
	}, nil
}
