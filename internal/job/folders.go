package job

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"braid/download/state"
)

// SettingsFile is where a file of the user's configuration is (XDG Base Directory Specification); empty if there
// is no folder for it.
func SettingsFile(name string) string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "braid", name)
}

const MostSettings = 4 << 20

// FromHome is a word whose ~/ is the user's home: no shell has read the file.
func FromHome(word string) string {
	rest, ok := strings.CutPrefix(word, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return word
	}
	return filepath.Join(home, rest)
}

// StateFolder is braid's part of the user's folder for state, as the XDG Base Directory Specification names it:
// XDG_STATE_HOME counts if it is an absolute path. It is empty if there is none.
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

// CacheFolder is braid's part of the user's folder for caches. It is empty if there is none.
func CacheFolder() string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "braid")
}

// AdoptState takes over what earlier releases kept in two files: what URLs offered, and in the folder dir how fast
// hosts were. The error says what was not taken over, for a message.
func AdoptState(s *state.Store, dir string) error {
	err := s.Adopt(filepath.Join(s.Dir, "promises"))
	if dir != "" {
		err = errors.Join(err, s.Adopt(filepath.Join(dir, "speeds")))
	}
	return err
}

// JournalKey is the path of what seals the journals of part files. Without a folder for it there is none.
func JournalKey() string {
	dir := StateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "journal-key")
}
