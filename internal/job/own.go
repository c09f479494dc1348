package job

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"braid/verify/signatures"
)

// A download must not replace braid's own files if the user did not choose the name: settings name programs, key files
// decide which keys are trusted, and the state prevents a return to old versions.

// OwnFolders returns the folders for settings, state and cache. It also returns the paths of the settings file and of
// trust.json, because these may be links to files in other folders.
func OwnFolders() []string {
	folders := []string{StateFolder(), CacheFolder()}
	if file := SettingsFile(trustName); file != "" {
		folders = append(folders, filepath.Dir(file), file, SettingsFile("config.toml"))
	}
	return folders
}

// OwnNames returns the paths of the files called names in folder. They are braid's, but folder may also have the user's files.
func OwnNames(folder string, names ...string) (places []string) {
	if folder == "" {
		return nil
	}
	for _, name := range names {
		places = append(places, filepath.Join(FromHome(folder), name))
	}
	return places
}

// LeadsTo reports whether path is one of places or below one of them. It follows symbolic links, and ignores empty
// places. An existing place may have other spellings, because a file system may ignore case.
func LeadsTo(path string, places []string) bool {
	path = Resolved(path)
	var above []os.FileInfo // of path and the folders above it
	for at, last := path, ""; at != last; at, last = filepath.Dir(at), at {
		if info, err := os.Stat(at); err == nil {
			above = append(above, info)
		}
	}
	return slices.ContainsFunc(places, func(own string) bool {
		if own == "" {
			return false
		}
		own, err := filepath.Abs(FromHome(own))
		if err != nil {
			return false
		}
		if below, err := filepath.Rel(Resolved(own), path); err == nil && filepath.IsLocal(below) {
			return true
		}
		it, err := os.Stat(own)
		return err == nil && slices.ContainsFunc(above, func(a os.FileInfo) bool { return os.SameFile(a, it) })
	})
}

// files returns the paths of the files with trusted keys and certificates.
func (a *Anchors) files() (paths []string) {
	for _, option := range signatures.Options() {
		paths = append(paths, a.of(option)...)
	}
	return append(paths, a.Key...)
}

// files returns the paths of the files with trusted authorities, and with the client's certificate and key.
func (f *Trust) files() []string {
	return append(f.CACert, f.ClientCert, f.ClientKey)
}

// Files returns the paths that the settings of sites name.
func (s *Sites) Files() (places []string) {
	if !s.named() {
		return nil
	}
	for _, site := range s.Settings.File.Sites {
		places = slices.Concat(places, site.Values["key"], site.Values["keyring"], site.Values["smime-ca"], site.Values["cacert"])
	}
	return places
}

// Resolved returns path with its symbolic links resolved. Elements at its end that do not exist are kept.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || filepath.Dir(path) == path {
		return cmp.Or(real, path)
	}
	return filepath.Join(Resolved(filepath.Dir(path)), filepath.Base(path))
}
