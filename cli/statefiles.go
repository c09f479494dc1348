package cli

import (
	"errors"
	"os"
	"path/filepath"

	"braid/download/partfile"
	"braid/download/state"
	"braid/internal/fsys"
)

// stateFolder is braid's part of the user's folder for state, as the XDG Base Directory Specification names it: XDG_STATE_HOME counts
// if it is an absolute path. It is empty if there is none.
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

// adoptState takes over what earlier releases kept in two files: what URLs offered, and in the folder dir how fast hosts were. The
// error says what was not taken over, for a message.
func adoptState(s *state.Store, dir string) error {
	err := s.Adopt(filepath.Join(s.Dir, "promises"))
	if dir != "" {
		err = errors.Join(err, s.Adopt(filepath.Join(dir, "speeds")))
	}
	return err
}

// journalKey seals the journals of part files. Without a folder for it there is none.
func journalKey() *partfile.Key {
	dir := stateFolder()
	if dir == "" {
		return nil
	}
	return partfile.OpenKey(fsys.OS, filepath.Join(dir, "journal-key"))
}
