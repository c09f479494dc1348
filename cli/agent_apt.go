package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"braid/agents/apt"
	"braid/internal/problem"
)

// newApt implements "braid apt", which only has a help text. If apt starts the program, [asApt] reports that before any
// flag is read, because apt's transport reads no settings of braid.
func newApt(s streams) (action, targets) {
	return func(ctx context.Context, words []string) error {
		if len(words) > 0 {
			return problem.Misuse("apt", "takes no operands", "apt starts this command itself; see braid apt --help")
		}
		return runApt(ctx, "braid+https", s)
	}, targets{}
}

// asApt returns the name of the apt transport that the program was started as. That is the name of its file in
// /usr/lib/apt/methods. Apt passes no operands. args[0] is the name of the scheme even if Dir::Bin::Methods::https
// names another program.
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
	if code, ok := signalCode(ctx); ok { // apt ends its transports by a signal
		return reported(code)
	}
	if err == io.ErrUnexpectedEOF {
		return problem.Local("apt", "", err)
	}
	return err
}
