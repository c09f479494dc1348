package job

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

// Settings is the content of the user's settings file and of the files beside it.
type Settings struct {
	Path string // "" without a configuration folder
	File *option.Settings
	// Trust binds URLs to keys; see [Sites.Apply]. Unread says why the files could not be looked for, or is "".
	Trust  *option.Trust
	Unread string
	// Forges are the parsed Forges of File.
	Forges []*download.Forge
	Said   map[string]bool // flags set on the command line or in the environment; nil without a command
	Line   map[string]bool // flags set by the command line
}

// ReadSettings reads the user's settings and the file of anchors beside them. A missing file is no error, but a file
// that cannot be read is an error.
func ReadSettings() (c *Settings, err error) {
	c = &Settings{Path: SettingsFile("config.toml")}
	if c.Trust, c.Unread, err = readTrust(); err != nil || c.Unread != "" {
		return c, err
	}
	if _, err := os.Stat(c.Path); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	data, err := ReadFile("configuration", c.Path, MostSettings)
	if err == nil {
		c.File, err = option.ParseSettings(data)
	}
	if wrong, ok := errors.AsType[*option.Error](err); ok {
		return c, problem.Misuse(c.Path, wrong.Error(), wrong.Hint)
	}
	if err != nil {
		return c, err
	}
	for _, row := range c.File.Forges {
		f, err := download.NewForge(row.Name, row.Values)
		if err != nil {
			return c, problem.Misuse(c.Place(row.Line)+": forge."+row.Name, err.Error(), "")
		}
		c.Forges = append(c.Forges, f)
	}
	return c, nil
}

// Place returns how messages name the given line of the settings.
func (c *Settings) Place(line int) string { return c.Path + ":" + strconv.Itoa(line) }

// Warning returns a warning if the files could not be looked for, or "".
func (c *Settings) Warning() string {
	if c == nil || c.Unread == "" {
		return ""
	}
	return "settings and the keys of braid trust are not read: " + c.Unread
}
