package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

// An aria2c is a run of braid under the name aria2c. The options become those of braid get, and the URIs
// become a list of braid get, so that downloads work as in braid get.
type aria2c struct {
	streams
	get     *getCommand
	line    option.Aria2Line
	results aria2Results
	gid     string // of the first download
}

// aria2Version is the version of aria2 whose options are supported. Clients require at least 1.34.
const aria2Version = "1.37.0"

// calledAria2c reports whether the name of the program contains aria2c.
func calledAria2c(args []string) bool {
	return len(args) > 0 && strings.Contains(filepath.Base(args[0]), "aria2c")
}

func runAria2c(ctx context.Context, words []string, s streams) int {
	g := newGetCommand(s)
	a := &aria2c{streams: s, get: g}
	g.ended, g.reword = a.results.add, aria2Words
	err := a.run(ctx, words)
	if f, ok := err.(*problem.Problem); ok {
		fmt.Fprintln(s.err, render.ErrorLine(f))
		a.results.last = problem.Aria2Code(f)
	}
	if a.results.any() {
		a.showResults()
	}
	if wrong := a.saveSession(); wrong != nil {
		fmt.Fprintln(s.err, render.ErrorLine(wrong))
	}
	return a.results.code(err)
}

func (a *aria2c) run(ctx context.Context, words []string) (err error) {
	if a.line, err = option.ParseAria2(words); err != nil {
		return aria2Misuse("", err)
	}
	switch {
	case a.has("version"):
		_, err := fmt.Fprintf(a.out, "aria2 version %s\nThis is braid %s under the name of aria2c; braid --help shows its own commands.\n", aria2Version, thisBuild())
		return outputFailure(err)
	case a.has("help"):
		return outputFailure(writeAria2Help(a.out))
	}
	if err := a.readConf(); err != nil {
		return err
	}
	a.gid = cmp.Or(a.value("gid"), newGID())
	a.warn()
	work := a.get.run
	if a.is("enable-rpc") {
		if err := a.checkRPC(); err != nil {
			return err
		}
		work = a.serve
	}
	list, documents, err := a.list()
	if err != nil {
		return err
	}
	l, err := a.options()
	if err != nil {
		return err
	}
	a.get.Job.Input = list
	hint := "" // the hints of the parser name the options of braid
	err = l.parse(context.WithValue(ctx, configurationKey{}, l.configuration), a.streams, l.targets,
		func(ctx context.Context, _ []string) error {
			err := work(ctx, documents)
			if f, ok := errors.AsType[*problem.Problem](err); ok {
				hint = aria2Words(aria2TLS.Replace(f.Hint))
			}
			return err
		})
	if f, ok := errors.AsType[*problem.Problem](err); ok {
		f.Where, f.Hint = aria2TLS.Replace(f.Where), hint
		return f
	}
	return err
}

// value returns the last value of the option, or "".
func (a *aria2c) value(name string) string {
	for _, s := range slices.Backward(a.line.Settings) {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

func (a *aria2c) has(name string) bool {
	return slices.ContainsFunc(a.line.Settings, func(s option.Setting) bool { return s.Name == name })
}

func (a *aria2c) is(name string) bool { return a.value(name) == "true" }

// aria2Misuse makes a problem of an *option.Error in the file, or on the command line if file is "".
func aria2Misuse(file string, err error) error {
	wrong, ok := err.(*option.Error)
	if !ok {
		return err
	}
	where := wrong.Key
	if file != "" {
		where = fmt.Sprintf("%s:%d: %s", file, wrong.Line, strings.TrimPrefix(where, "--"))
	}
	return problem.Misuse(where, wrong.Why, wrong.Hint)
}

// readConf puts the settings of aria2.conf before those of the command line, which override them.
func (a *aria2c) readConf() error {
	path, named := a.value("conf-path"), a.has("conf-path")
	if a.is("no-conf") || named && path == "" {
		return nil
	}
	if !named {
		path = aria2Conf()
	}
	if _, err := os.Stat(path); err != nil && !named {
		return nil
	}
	data, err := job.ReadFile("configuration", path, job.MostSettings)
	if err != nil {
		return err
	}
	conf, err := option.ParseAria2Conf(string(data))
	if err != nil {
		return aria2Misuse(path, err)
	}
	home, _ := os.UserHomeDir()
	for i, s := range conf.Settings {
		conf.Settings[i].Value = strings.ReplaceAll(s.Value, "${HOME}", home)
	}
	a.line.Settings = append(conf.Settings, a.line.Settings...)
	a.line.Unknown = append(conf.Unknown, a.line.Unknown...)
	return nil
}

// aria2Conf returns the path at which aria2 looks for its configuration.
func aria2Conf() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	old := filepath.Join(home, ".aria2", "aria2.conf")
	if _, err := os.Stat(old); err == nil {
		return old
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "aria2", "aria2.conf")
}

// warn warns about unknown options and about options that have no effect here but have one in aria2c.
func (a *aria2c) warn() {
	for _, word := range a.line.Unknown {
		a.warning("%s: aria2c has no such option; ignored", word)
	}
	for _, o := range option.Aria2Options() {
		if o.Fate == option.Aria2Warned && a.has(o.Name) && a.value(o.Name) != "false" {
			a.warning("--%s does nothing here%s", o.Name, behind(": ", o.Note))
		}
	}
}

func (a *aria2c) warning(format string, args ...any) {
	if !a.is("quiet") && a.value("console-log-level") != "error" {
		fmt.Fprintln(a.err, render.ErrorLine(&problem.Problem{What: "warning", Why: fmt.Sprintf(format, args...)}))
	}
}

func behind(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}
