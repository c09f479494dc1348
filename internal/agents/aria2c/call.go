// Package aria2c implements the command line of aria2c: its options, configuration, lists and output. It translates
// these to the options, jobs and lists of braid.
//
// The package downloads nothing and does not know the flag parser.
package aria2c

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

// A Call is one run of the program under the name aria2c. Downloads work as in braid get. The options of aria2c become
// options of braid get, and the URIs become a list for braid get.
type Call struct {
	in       io.Reader
	out, err io.Writer
	line     option.Aria2Line
	results  results
	gid      string // of the first download
}

// New returns a Call with the standard streams of the program.
func New(in io.Reader, out, err io.Writer) *Call { return &Call{in: in, out: out, err: err} }

// Version is the version of aria2 that has the supported options. Clients require at least 1.34.
const Version = "1.37.0"

// Called reports whether the name of the program contains aria2c.
func Called(args []string) bool {
	return len(args) > 0 && strings.Contains(filepath.Base(args[0]), "aria2c")
}

// Parse reads the command line. It does not read the configuration, see [Call.Configure].
func (c *Call) Parse(words []string) (err error) {
	if c.line, err = option.ParseAria2(words); err != nil {
		return misuse("", err)
	}
	return nil
}

// Configure adds the configuration of aria2 to the command line, and warns of options that have no effect.
func (c *Call) Configure() error {
	if err := c.readConf(); err != nil {
		return err
	}
	c.gid = cmp.Or(c.Value("gid"), newGID())
	c.warn()
	return nil
}

// Value returns the last value of the option name, or "".
func (c *Call) Value(name string) string {
	for _, s := range slices.Backward(c.line.Settings) {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// Has reports whether the option name is given.
func (c *Call) Has(name string) bool {
	return slices.ContainsFunc(c.line.Settings, func(s option.Setting) bool { return s.Name == name })
}

// Is reports whether the option name is true.
func (c *Call) Is(name string) bool { return c.Value(name) == "true" }

// misuse converts an *option.Error to a problem with the file, or with the command line if file is "".
func misuse(file string, err error) error {
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

// Files returns the paths of the configuration, the list and the documents. The next run may read them again, so no
// client of this run may replace them.
func (c *Call) Files() []string {
	return []string{c.conf(), c.Value("input-file"), c.Value("torrent-file"), c.Value("metalink-file")}
}

// conf returns the path of the configuration, or "" if none is read.
func (c *Call) conf() string {
	switch {
	case c.Is("no-conf"):
		return ""
	case c.Has("conf-path"):
		return c.Value("conf-path")
	}
	return confPath()
}

// readConf puts the settings of aria2.conf before the settings of the command line, which override them.
func (c *Call) readConf() error {
	path, named := c.conf(), c.Has("conf-path")
	if path == "" {
		return nil
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
		return misuse(path, err)
	}
	home, _ := os.UserHomeDir()
	for i, s := range conf.Settings {
		conf.Settings[i].Value = strings.ReplaceAll(s.Value, "${HOME}", home)
	}
	c.line.Settings = append(conf.Settings, c.line.Settings...)
	c.line.Unknown = append(conf.Unknown, c.line.Unknown...)
	return nil
}

// confPath returns the path at which aria2 looks for its configuration.
func confPath() string {
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

// warn warns about unknown options, and about options that have an effect in aria2c but not here.
func (c *Call) warn() {
	for _, word := range c.line.Unknown {
		c.warning("%s: aria2c has no such option; ignored", word)
	}
	for _, o := range option.Aria2Options() {
		if o.Fate == option.Aria2Warned && c.Has(o.Name) && c.Value(o.Name) != "false" {
			c.warning("--%s has no effect%s", o.Name, behind(": ", o.Note))
		}
	}
}

func (c *Call) warning(format string, args ...any) {
	if !c.Is("quiet") && c.Value("console-log-level") != "error" {
		fmt.Fprintln(c.err, render.ErrorLine(&problem.Problem{What: "warning", Why: fmt.Sprintf(format, args...)}))
	}
}

func behind(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}
