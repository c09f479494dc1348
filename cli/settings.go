package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"braid/download/state"
	"braid/internal/option"
	"braid/internal/problem"
)

// A configuration is the user's file of settings.
type configuration struct {
	path string // "" if there is no folder for one
	file *option.Settings
	said map[string]bool // the flags of the command: whether the command line or the environment has them; nil without a command
	line map[string]bool // those that the command line has
}

type configurationKey struct{}

// configurationOf is what the run goes by.
func configurationOf(ctx context.Context) *configuration {
	if c, ok := ctx.Value(configurationKey{}).(*configuration); ok {
		return c
	}
	return &configuration{}
}

// configurationFile is where a file of the user's configuration is (XDG Base Directory Specification); empty if there
// is no folder for it.
func configurationFile(name string) string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "braid", name)
}

const mostConfiguration = 4 << 20

// readConfiguration reads the user's file, if there is one.
func readConfiguration() (*configuration, error) {
	c := &configuration{path: configurationFile("config.toml")}
	if c.path == "" {
		return c, nil
	}
	if _, err := os.Stat(c.path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return c, nil
	}
	data, err := readSmall("configuration", c.path, mostConfiguration)
	if err == nil {
		c.file, err = option.ParseSettings(data)
	}
	if wrong, ok := errors.AsType[*option.Error](err); ok {
		return c, problem.Misuse(c.path, wrong.Error(), wrong.Hint)
	}
	return c, err
}

// fill gives flags that neither the command line nor the environment has what the file says. It returns where each comes from.
func (c *configuration) fill(command string, options []option.Option, a *arranged) map[string]string {
	from := map[string]string{}
	c.said, c.line = map[string]bool{}, map[string]bool{}
	for _, o := range options {
		name := o.Name()
		c.said[name], c.line[name] = said(name, a), a.has(name)
		v, ok := c.file.Value(command, name)
		if !ok || c.said[name] || o.Kind == option.Rate && v.Timed() && !c.file.Own(command, name) {
			continue
		}
		if slices.ContainsFunc(opposites, func(o [2]string) bool { return o[0] == name && said(o[1], a) }) {
			continue
		}
		for _, word := range v.Words {
			a.flags = append(a.flags, "--"+name+"="+fromHome(word))
		}
		from[name] = c.place(v.Line)
	}
	return from
}

// said reports whether the command line or the environment has a flag.
func said(name string, a *arranged) bool {
	_, set := os.LookupEnv(option.Variable(name))
	return set || a.has(name)
}

// fromHome is a word whose ~/ is the user's home: no shell has read the file.
func fromHome(word string) string {
	rest, ok := strings.CutPrefix(word, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return word
	}
	return filepath.Join(home, rest)
}

// place names a line of the file.
func (c *configuration) place(line int) string { return c.path + ":" + strconv.Itoa(line) }

// stateFolder is braid's part of the user's folder for state, as the XDG Base Directory Specification names it:
// XDG_STATE_HOME counts if it is an absolute path. It is empty if there is none.
func stateFolder() string {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "braid")
}

// cacheFolder is braid's part of the user's folder for caches. It is empty if there is none.
func cacheFolder() string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "braid")
}

// adoptState takes over what earlier releases kept in two files: what URLs offered, and in the folder dir how fast
// hosts were. The error says what was not taken over, for a message.
func adoptState(s *state.Store, dir string) error {
	err := s.Adopt(filepath.Join(s.Dir, "promises"))
	if dir != "" {
		err = errors.Join(err, s.Adopt(filepath.Join(dir, "speeds")))
	}
	return err
}

// journalKey is the path of what seals the journals of part files. Without a folder for it there is none.
func journalKey() string {
	dir := stateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "journal-key")
}
