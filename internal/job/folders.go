package job

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"braid/download/state"
)

// SettingsFile returns the path of the file called name in the user's configuration folder for braid (XDG Base
// Directory Specification), or "" without such a folder. It ignores a relative XDG_CONFIG_HOME, which would hide the
// settings in the user's home folder. Files that those settings forbid would then be accepted.
func SettingsFile(name string) string {
	dir, err := os.UserConfigDir()
	if err != nil {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "braid", name)
}

const MostSettings = 4 << 20

// FromHome returns word with the user's home folder in place of a leading ~, which no shell has expanded.
func FromHome(word string) string {
	rest, ok := strings.CutPrefix(word, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return word
	}
	return filepath.Join(home, rest)
}

// StateFolder returns braid's folder below the user's state folder (XDG Base Directory Specification), or "" if the
// user has no home folder. It ignores a relative XDG_STATE_HOME.
func StateFolder() string {
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

// CacheFolder returns braid's folder below the user's cache folder, or "" without a cache folder.
func CacheFolder() string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "braid")
}

// AdoptState imports into s two files of earlier versions: "promises", about what URLs offered, and in dir "speeds",
// about the speeds of hosts. It returns the errors of files that could not be imported.
func AdoptState(s *state.Store, dir string) error {
	err := s.Adopt(filepath.Join(s.Dir, "promises"))
	if dir != "" {
		err = errors.Join(err, s.Adopt(filepath.Join(dir, "speeds")))
	}
	return err
}

// JournalKey returns the path of the key that seals journals of part files, or "" without a state folder.
func JournalKey() string {
	dir := StateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "journal-key")
}
