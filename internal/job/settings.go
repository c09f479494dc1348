package job

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"braid/internal/option"
	"braid/internal/problem"
)

// A Settings is the user's file of settings.
type Settings struct {
	Path string // "" if there is no folder for one
	File *option.Settings
	Said map[string]bool // the flags of the command: whether the command line or the environment has them; nil without a command
	Line map[string]bool // those that the command line has
}

// ReadSettings reads the user's file, if there is one.
func ReadSettings() (*Settings, error) {
	c := &Settings{Path: SettingsFile("config.toml")}
	if c.Path == "" {
		return c, nil
	}
	if _, err := os.Stat(c.Path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return c, nil
	}
	data, err := ReadFile("configuration", c.Path, MostSettings)
	if err == nil {
		c.File, err = option.ParseSettings(data)
	}
	if wrong, ok := errors.AsType[*option.Error](err); ok {
		return c, problem.Misuse(c.Path, wrong.Error(), wrong.Hint)
	}
	return c, err
}

// Place names a line of the file.
func (c *Settings) Place(line int) string { return c.Path + ":" + strconv.Itoa(line) }
