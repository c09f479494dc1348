package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"braid/agents/apt"
	"braid/internal/problem"
)

// newApt implements "braid apt" with flags or operands, which only has a help text. [asApt] recognizes a start as apt's
// transport before any flag is read, because the transport reads no settings of braid.
func newApt(s streams) (action, targets) {
	return func(ctx context.Context, words []string) error {
		if len(words) > 0 {
			return problem.Misuse("apt", "takes no operands", "apt starts this command itself; see braid apt --help")
		}
		return runApt(ctx, "braid+https", s)
	}, targets{}
}

// asApt returns the name of a transport if apt started the program as one. That is the name of the program's file in
// /usr/lib/apt/methods. Apt passes no operands, and args[0] is that name even if Dir::Bin::Methods::https names another
// program.
func asApt(args []string) (name string, ok bool) {
	if len(args) == 2 && args[1] == "apt" {
		return "braid+https", true
	}
	if len(args) != 1 {
		return "", false
	}
	name = filepath.Base(args[0])
	return name, name == "http" || name == "https" || name == "mirror+file" || strings.HasPrefix(name, "braid+")
}

func runApt(ctx context.Context, name string, s streams) error {
	m := &apt.Method{Name: name, In: s.in, Out: s.out}
	err := m.Run(ctx)
	if code, ok := signalCode(ctx); ok { // a signal from apt ends its transports
		return reported(code)
	}
	if err == io.ErrUnexpectedEOF {
		return problem.Local("apt", "", err)
	}
	return err
}
