// Package cli is the command: it reads flags and environment, prints, draws progress and picks exit codes, and
// is the only package that does. What it prints for people goes to standard error; data and JSON go to
// standard output.
//
// It refuses to know how files are downloaded or served.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/download"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	asked    <-chan os.Signal        // gets something when somebody wants to know how far the command is; nil: nobody will
	manuals  map[*cli.Command]manual // of all commands
}

// help keeps the manual of a command until somebody wants to read it: to write all of them takes longer than all else that comes
// before a command runs.
func (s streams) help(c *cli.Command, m manual) {
	if s.manuals != nil {
		s.manuals[c] = m
	}
}

// Main runs the command and returns its exit code. SIGINT and SIGTERM end what it does in good order; a
// second one ends the process at once. SIGUSR1 makes it say how far it is.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // net/http tells strangers' bytes there (rule 61)
	oneMoreThread()
	ctx, stop := untilSignal(context.Background(), os.Exit)
	defer stop()
	asked, deaf := onStatusSignal()
	defer deaf()
	return run(ctx, forgetArguments(args), streams{in: stdin, out: stdout, err: stderr, asked: asked})
}

// oneMoreThread lets the hash go on while a write and a read are in the kernel, where the runtime counts them as
// running. On two processors a download from a fast server takes an eighth less time (scripts/bench single).
func oneMoreThread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

func run(ctx context.Context, args []string, s streams) int {
	app := newApp(s)
	words := []string{}
	if len(args) > 0 {
		words = args[1:]
	}
	line, err := prepare(app, words)
	if err == nil {
		if c, ok := app.Metadata[metaConfiguration]; ok {
			ctx = context.WithValue(ctx, configurationKey{}, c)
		}
		err = app.RunContext(ctx, append([]string{app.Name}, line...))
	}
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[reported](err); ok {
		return int(code)
	}
	f := failureOf(ctx, err)
	fmt.Fprintln(s.err, f.line())
	return f.code
}

// newApp makes the table of commands. Everything that is printed about wrong use comes from this package, so
// the flag parser's own messages are off.
func newApp(s streams) *cli.App {
	s.manuals = map[*cli.Command]manual{}
	app := &cli.App{
		Name: "braid", HelpName: "braid", HideVersion: true, HideHelpCommand: true,
		Reader: s.in, Writer: s.out, ErrWriter: s.err,
		DisableSliceFlagSeparator: true,
		Commands: []*cli.Command{
			newGet(s), newProbe(s), newVerify(s), newMeta(s), newServe(s), newFeed(s), newWatch(s), newParts(s), newConfig(s),
			newCompletion(s), newComplete(s), newMan(s),
		},
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   refuse,
		Flags:          []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Usage: "show the version, and what it was built from"}},
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, "braid "+thisBuild().String())
			return outputFailure(err)
		},
	}
	nameCommands("", app.Commands)
	for _, c := range allCommands(app.Commands) {
		c.HideHelpCommand = true
		c.OnUsageError = refuse
	}
	app.CustomAppHelpTemplate = rootHelp(app.Commands)
	app.Metadata = map[string]any{metaManuals: s.manuals}
	return app
}

// prepare turns the words of a user into those that the flag parser understands.
func prepare(app *cli.App, words []string) ([]string, error) {
	names := namesOf(app.Commands)
	if len(words) > 0 && words[0] == "help" {
		words = append(words[1:len(words):len(words)], "--help")
	}
	if len(words) == 0 {
		return nil, misuse("", "no command", "braid --help; there are "+strings.Join(names, ", "))
	}
	if strings.HasPrefix(words[0], "-") {
		return prepareRoot(app, words)
	}
	words = withGet(app, words)
	command := app.Command(words[0])
	if command == nil {
		return nil, unknownCommand(words[0], names)
	}
	command, path, words, err := descend(command, words)
	if err != nil {
		return nil, err
	}
	a, err := arrange(words, shapesOf(command.Flags, ignoredBy(command.Name)...))
	if err != nil {
		return nil, explainFlag(err, strings.Join(path, " "), command.Flags)
	}
	if a.has("help") {
		command.CustomHelpTemplate = helpOf(app, command)
		return append(path, "--help"), nil
	}
	if len(command.Subcommands) > 0 {
		return nil, misuse(strings.Join(path, " "), "no command", "there are "+strings.Join(namesOf(command.Subcommands), ", "))
	}
	if err := checkEnvironment(command.Flags, &a); err != nil {
		return nil, err
	}
	a.beatEnvironment()
	settings := path[0]
	if command.HelpName == "parts resume" { // it goes on with what get began
		settings = "get"
	}
	if err := configure(app, settings, command.Flags, &a); err != nil {
		return nil, err
	}
	return append(path, a.args()...), nil
}

// What the table of commands carries along.
const (
	metaManuals       = "manuals"
	metaConfiguration = "configuration"
	metaPlaces        = "places" // where flags come from that the configuration has
)

// configure adds what the configuration says to what the command line does.
func configure(app *cli.App, command string, flags []cli.Flag, a *arranged) error {
	c, err := readConfiguration()
	if err != nil {
		return err
	}
	app.Metadata[metaConfiguration] = c
	if command != "config" { // which tells of it
		app.Metadata[metaPlaces] = c.fill(command, flags, a)
	}
	return nil
}

// prepareRoot reads flags without a command.
func prepareRoot(app *cli.App, words []string) ([]string, error) {
	a, err := arrange(words[:1], shapesOf(app.Flags))
	if err != nil {
		f := explainFlag(err, "", app.Flags)
		for _, c := range app.Commands {
			if _, err := arrange([]string{words[0], ""}, shapesOf(c.Flags)); err == nil {
				f.hint = "flags follow the command: braid " + c.Name + " " + f.where
				break
			}
		}
		return nil, f
	}
	return a.flags, nil
}

func ignoredBy(command string) []string {
	if command == "get" {
		return ignoredByGet
	}
	return nil
}

// explainFlag says what to write in place of a wrong flag.
func explainFlag(err error, command string, flags []cli.Flag) *failure {
	e, ok := errors.AsType[*flagError](err)
	if !ok {
		return misuse(command, err.Error(), "")
	}
	hint := strings.TrimSpace("braid " + command)
	if e.Why == unknownFlag {
		if hint, ok := foreign[e.Flag]; ok && command == "get" {
			return misuse(e.Flag, foreignWhy(e.Flag), hint)
		}
		var names []string
		for _, f := range flags {
			for _, name := range f.Names() {
				if len(name) > 1 {
					names = append(names, name)
				}
			}
		}
		if name := nearestWord(strings.TrimLeft(e.Flag, "-"), names); name != "" && strings.HasPrefix(e.Flag, "--") {
			return misuse(e.Flag, e.Why, "did you mean --"+name+"?")
		}
	}
	return misuse(e.Flag, e.Why, hint+" --help")
}

func unknownCommand(word string, names []string) *failure {
	hint := "there are " + strings.Join(names, ", ")
	if download.IsDocument(word) {
		return misuse(maskWord(word), "no such command, and no such file", hint)
	}
	if looksLikeHost(word) {
		hint = "braid https://" + maskWord(word) + "?"
	} else if name := nearestWord(word, names); name != "" {
		hint = "did you mean " + name + "?"
	}
	return misuse(maskWord(word), "no such command", hint)
}
