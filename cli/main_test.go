package cli

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"braid/internal/option"
)

// asCommand makes the test binary the command itself, for tests that need a process.
const asCommand = "BRAID_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Setenv("BRAID_NO_LOOKUP", "true") // tests that look for checksums switch it on
	os.Exit(m.Run())
}

// command runs one command line in this process.
func command(t *testing.T, words ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), append([]string{"braid"}, words...), streams{in: &bytes.Buffer{}, out: &out, err: &err})
	return code, out.String(), err.String()
}

// allCommands are the commands and those below them, also hidden ones.
func allCommands() (all []option.Command) {
	for _, c := range option.Braid().Commands {
		all = append(append(all, c), c.Commands...)
	}
	return all
}

// A brokenPipe takes nothing.
type brokenPipe struct{ writes int }

func (p *brokenPipe) Write([]byte) (int, error) {
	p.writes++
	return 0, errors.New("no space left")
}
