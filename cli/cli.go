// Package cli implements the braid command: it reads flags and environment, prints, draws progress and chooses exit
// codes. No other package does that. Messages go to standard error; data and JSON go to standard output.
//
// The package does not contain how files are downloaded or served.
package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"braid/internal/agents/aria2c"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

type streams struct {
	in       io.Reader
	out, err io.Writer
	asked    <-chan os.Signal // receives the signals that ask for the progress; may be nil
}

// An action runs a command with its operands.
type action func(ctx context.Context, operands []string) error

// commands maps the name of a command to a function that returns its action and the targets of its flags.
var commands = map[string]func(streams) (action, targets){
	"get": newGet, "probe": newProbe, "verify": newVerify, "meta": newMeta, "serve": newServe, "watch": newWatch,
	"follow": newFollow, "daemon": newDaemon, "lfs": newLFS,
	"add": newControl("add"), "status": newControl("status"), "pause": newControl("pause"),
	"resume": newControl("resume"), "remove": newControl("remove"),
	"work": newWork, "queue": newQueue,
	"feed find": newFeedFind, "feed check": newFeedCheck, "feed show": newFeedShow, "feed convert": newFeedConvert,
	"parts list": newPartsList, "parts resume": newPartsResume, "parts remove": newPartsRemove,
	"trust list": newTrust((*trustCommand).list), "trust add": newTrust((*trustCommand).add),
	"trust remove": newTrust((*trustCommand).remove), "trust show": newTrust((*trustCommand).show),
	"config": newConfig, "completion": newCompletion, "complete": newComplete, "man": newMan, "apt": newApt,
}

// Main runs the command in args and returns its exit code. After a first SIGINT or SIGTERM, the command saves its state
// and ends. A second signal ends the process immediately. SIGUSR1 shows the progress.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // net/http logs bytes that servers sent (rule 61)
	oneMoreThread()
	collectLate()
	ctx, stop := untilSignal(context.Background(), os.Exit)
	defer stop()
	asked, deaf := onStatusSignal()
	defer deaf()
	return run(ctx, forgetArguments(args), streams{in: stdin, out: stdout, err: stderr, asked: asked})
}

// oneMoreThread raises GOMAXPROCS by one, unless the environment sets GOMAXPROCS. The runtime counts a goroutine in a
// read or write system call as running, so an additional thread can hash meanwhile. On two processors, a download from
// a fast server takes an eighth less time (scripts/bench single).
func oneMoreThread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// ballast raises the garbage collector's heap goal. Its memory is never touched, so its pages are never resident.
var ballast atomic.Pointer[[16 << 20]byte]

// collectLate makes a garbage collection begin after some 16 MiB of garbage, unless the environment sets GOGC. Otherwise
// the heap is so small that garbage collection takes a quarter of the time of a few small downloads. The ballast is
// allocated after the first collection, because allocating it would begin one in each start.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const early = 400 // percent of the runtime's smallest heap, 4 MiB
	debug.SetGCPercent(early)
	runtime.AddCleanup(new([16]byte), func(int) {
		ballast.Store(new([16 << 20]byte))
		if now := debug.SetGCPercent(100); now != early { // set by a service
			debug.SetGCPercent(now)
		}
	}, 0)
}

func run(ctx context.Context, args []string, s streams) int {
	if aria2c.Called(args) {
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
	fmt.Fprintln(s.err, render.ErrorLine(f))
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
	if err := checkBuilt(l.command.Name); err != nil {
		return err
	}
	run, targets := commands[l.command.Name](s)
	return l.parse(context.WithValue(ctx, configurationKey{}, l.configuration), targets, run)
}

// parse sets the targets from flags and environment variables, and then calls run. The flag parser prints nothing: this
// package writes all messages about wrong use. Only the flags of urfave/cli are used, because cli.App writes its help
// with text/template (see internal/markup).
func (l *line) parse(ctx context.Context, targets targets, run action) error {
	set := flag.NewFlagSet("braid", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range l.flags(targets) {
		if err := f.Apply(set); err != nil {
			return l.refuse(err)
		}
	}
	if err := set.Parse(l.args); err != nil {
		return l.refuse(err)
	}
	return run(ctx, set.Args())
}

// targets maps the first name of an option to the variable that receives its value. Names have no hyphens: "maxsize".
type targets map[string]any

func (t targets) of(option string) any { return t[strings.ReplaceAll(option, "-", "")] }

// targetsOf returns the exported fields of the struct that command points to as targets. The field MaxSize is the
// target of --max-size. Options that several commands share are fields of an embedded or named struct. A field with the
// tag option:"-" is not a target.
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

// isTarget reports whether the flag parser can set a field. field is a pointer to it.
func isTarget(field any) bool {
	switch field.(type) {
	case *string, *bool, cli.Generic:
		return true
	}
	return false
}

// flags returns the flags of the command l, under the names that arrange produces. A target without an option is
// ignored: its option belongs to another command that uses the same struct.
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
				if given.has(name) { // values on the command line replace the values in the environment
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

// releaseVersion, releaseCommit and releaseDate describe a release. The linker sets them (scripts/release). In other
// builds they are empty, and the go command's build information is used.
var releaseVersion, releaseCommit, releaseDate string

// A build describes the build of this program.
type build struct {
	version  string
	revision string
	date     string // as 2026-11-21
	modified bool   // the checkout had uncommitted changes
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

// String returns the text of --version: version, Go version, platform, revision, and the missing optional parts.
func (b build) String() string {
	notes := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if b.revision != "" {
		notes = append(notes, "revision "+b.revision[:min(12, len(b.revision))])
	}
	if b.modified {
		notes = append(notes, "modified")
	}
	for _, part := range leftOut() {
		notes = append(notes, strings.TrimPrefix(part, "this braid was built "))
	}
	return b.version + " (" + strings.Join(notes, ", ") + ")"
}
