// Package cli is the command: it reads flags and environment, prints, draws progress and picks exit codes, and
// is the only package that does. What it prints for people goes to standard error; data and JSON go to
// standard output.
//
// It refuses to know how files are downloaded or served.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"braid/internal/option"
	"braid/internal/problem"
)

type streams struct {
	in       io.Reader
	out, err io.Writer
	asked    <-chan os.Signal // gets something when the user asks by a signal how far the command is; may be nil
}

// An action is what a command does with its operands.
type action func(ctx context.Context, operands []string) error

// commands make actions, with where the values of their flags go.
var commands = map[string]func(streams) (action, targets){
	"get": newGet, "probe": newProbe, "verify": newVerify, "meta": newMeta, "serve": newServe, "watch": newWatch,
	"daemon": newDaemon, "lfs": newLFS,
	"add": newControl("add"), "status": newControl("status"), "pause": newControl("pause"),
	"resume": newControl("resume"), "remove": newControl("remove"),
	"work": newWork, "queue": newQueue,
	"feed find": newFeedFind, "feed check": newFeedCheck, "feed show": newFeedShow, "feed convert": newFeedConvert,
	"parts list": newPartsList, "parts resume": newPartsResume, "parts remove": newPartsRemove,
	"config": newConfig, "completion": newCompletion, "complete": newComplete, "man": newMan, "apt": newApt,
}

// Main runs the command and returns its exit code. SIGINT and SIGTERM end what it does in good order; a
// second one ends the process at once. SIGUSR1 makes it say how far it is.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // net/http tells strangers' bytes there (rule 61)
	oneMoreThread()
	defer runtime.KeepAlive(ballast())
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

// ballast counts as memory in use, and none of its pages is. What a download has in use is so little that the garbage
// of a few small files would be as much, and a quarter of their time would go to collecting it; with this it is
// collected when there are some 16 MiB of it.
func ballast() []byte { return make([]byte, 16<<20) }

func run(ctx context.Context, args []string, s streams) int {
	if calledAria2c(args) {
		return runAria2c(ctx, args[1:], s)
	}
	var err error
	if name, ok := asApt(args); ok {
		err = runApt(ctx, name, s)
	} else {
		err = execute(ctx, args[min(1, len(args)):], s)
	}
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[reported](err); ok {
		return int(code)
	}
	f := problemOf(ctx, err)
	fmt.Fprintln(s.err, errorLine(f))
	if _, ours := errors.AsType[*problem.Problem](err); ours {
		tellGitLFS(args, s, f)
	}
	return exitCode(f)
}

func execute(ctx context.Context, words []string, s streams) error {
	l, err := readLine(words)
	switch {
	case err != nil:
		return err
	case l.shows != "":
		_, err := io.WriteString(s.out, l.shows)
		return outputFailure(err)
	}
	run, targets := commands[l.command.Name](s)
	return l.parse(context.WithValue(ctx, configurationKey{}, l.configuration), s, targets, run)
}

// parse has the flag parser read the line, and runs the command. Everything that is printed about wrong use comes from
// this package, so the parser's own messages are off.
func (l *line) parse(ctx context.Context, s streams, targets targets, run action) error {
	app := &cli.App{
		HideVersion: true, HideHelp: true, HideHelpCommand: true, DisableSliceFlagSeparator: true,
		Reader: s.in, Writer: s.out, ErrWriter: s.err,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return l.refuse(err) },
		Flags:          l.flags(targets),
		Action:         func(c *cli.Context) error { return run(c.Context, c.Args().Slice()) },
	}
	return app.RunContext(ctx, append([]string{"braid"}, l.args...))
}

// targets are where the values of options go, by their first name in one word: "maxsize".
type targets map[string]any

func (t targets) of(option string) any { return t[strings.ReplaceAll(option, "-", "")] }

// targetsOf returns the exported fields of a command, each of which is for the option of its name: MaxSize is for
// --max-size. Those that several commands have are in structs within it. One with the tag option:"-" is for none.
func targetsOf(command any) targets {
	t := targets{}
	t.add(reflect.ValueOf(command).Elem())
	return t
}

func (t targets) add(command reflect.Value) {
	for i := range command.NumField() {
		field, is := command.Field(i), command.Type().Field(i)
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Struct {
			field = field.Elem()
		}
		switch {
		case is.Tag.Get("option") == "-" || !field.IsValid():
		case is.IsExported() && isTarget(field.Addr().Interface()):
			t[strings.ToLower(is.Name)] = field.Addr().Interface()
		case field.Kind() == reflect.Struct && (is.IsExported() || is.Anonymous):
			t.add(field)
		}
	}
}

// isTarget reports whether the flag parser can write a value there.
func isTarget(field any) bool {
	switch field.(type) {
	case *string, *bool, cli.Generic:
		return true
	}
	return false
}

// flags makes the flags of a command from its options, under the names that arrange gives them. A target without an
// option is one of other commands.
func (l *line) flags(targets targets) (list []cli.Flag) {
	given := arranged{flags: l.args[:max(0, slices.Index(l.args, "--"))]}
	for _, o := range l.command.Options {
		name, variables := o.Name(), []string{option.Variable(o.Name())}
		switch to := targets.of(name).(type) {
		case *string:
			list = append(list, &cli.StringFlag{Name: name, EnvVars: variables, Destination: to, Value: *to})
		case *bool:
			list = append(list, &cli.BoolFlag{Name: name, EnvVars: variables, Destination: to})
		case cli.Generic:
			switch to := to.(type) {
			case *choice:
				to.Words = o.Choices()
			case *option.WordsValue:
				if given.has(name) { // the words of the command line are in place of those of the environment
					variables = nil
				}
			}
			list = append(list, &cli.GenericFlag{Name: name, EnvVars: variables, Value: to})
		default:
			panic("--" + name + " has no target")
		}
	}
	return list
}

// What a release was made of, which the linker is told (scripts/release). Elsewhere it is empty, and what the go command
// knows of the checkout counts.
var releaseVersion, releaseCommit, releaseDate string

// build is what this program was built from.
type build struct {
	version  string
	revision string
	date     string // as 2026-11-21
	modified bool   // the checkout was not the revision
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b := buildOf(info)
	if releaseVersion != "" {
		b = build{version: releaseVersion, revision: releaseCommit, date: releaseDate}
	}
	return b
}

func buildOf(info *debug.BuildInfo) build {
	b := build{version: cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.time":
			b.date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// String is what --version prints: version, Go and platform, revision.
func (b build) String() string {
	notes := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if b.revision != "" {
		notes = append(notes, "revision "+b.revision[:min(12, len(b.revision))])
	}
	if b.modified {
		notes = append(notes, "modified")
	}
	return b.version + " (" + strings.Join(notes, ", ") + ")"
}
