package cli

import (
	"context"
	"fmt"
	"strings"

	"braid/internal/option"
	"braid/internal/problem"
)

// newCompletion is "braid completion", which prints what a shell has to know.
func newCompletion(s streams) (action, targets) {
	return func(_ context.Context, words []string) error {
		script := ""
		if len(words) == 1 {
			script = option.Completion(words[0], "braid")
		}
		if script == "" {
			return problem.Misuse("completion", "one shell is needed", "there are "+strings.Join(option.Shells(), ", "))
		}
		_, err := fmt.Fprint(s.out, script)
		return outputFailure(err)
	}, nil
}

// newComplete is what those scripts run: "braid complete -- WORD..." prints how the last word can go on.
func newComplete(s streams) (action, targets) {
	return func(_ context.Context, words []string) error {
		_, err := fmt.Fprint(s.out, option.Braid().Complete(words))
		return outputFailure(err)
	}, nil
}
