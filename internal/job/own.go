package job

import (
	"cmp"
	"path/filepath"
	"slices"

	"braid/verify/signatures"
)

// What braid itself goes by is nothing that a download may replace whose name somebody else has chosen, wherever it
// lies: settings name programs, keyrings say who is trusted, and what is remembered keeps old versions away.

// OwnFolders are those of the settings, of the state and of the cache.
func OwnFolders() []string {
	folders := []string{StateFolder(), CacheFolder()}
	if file := SettingsFile("x"); file != "" {
		folders = append(folders, filepath.Dir(file))
	}
	return folders
}

// OwnNames are the names in a folder that are braid's own, where files of the user's may lie beside them.
func OwnNames(folder string, names ...string) (places []string) {
	if folder == "" {
		return nil
	}
	for _, name := range names {
		places = append(places, filepath.Join(FromHome(folder), name))
	}
	return places
}

// LeadsTo reports whether a path is one of some files, or is below one of some folders, also by a symbolic link. Files
// that are not named are none.
func LeadsTo(path string, places []string) bool {
	path = Resolved(path)
	return slices.ContainsFunc(places, func(own string) bool {
		if own == "" {
			return false
		}
		own, err := filepath.Abs(FromHome(own))
		if err != nil {
			return false
		}
		below, err := filepath.Rel(Resolved(own), path)
		return err == nil && filepath.IsLocal(below)
	})
}

// files are those that say who is trusted.
func (a *Anchors) files() (paths []string) {
	for _, option := range signatures.Options() {
		paths = append(paths, a.of(option)...)
	}
	return paths
}

// files are those that say which servers are trusted, and who we are.
func (f *Trust) files() []string {
	return append(f.CACert, f.ClientCert, f.ClientKey)
}

// Files are those that the settings of sites name.
func (s *Sites) Files() (places []string) {
	if !s.Any() {
		return nil
	}
	for _, site := range s.Settings.File.Sites {
		places = slices.Concat(places, site.Values["keyring"], site.Values["smime-ca"], site.Values["cacert"])
	}
	return places
}

// Resolved is a path without symbolic links, as far as it is there.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || filepath.Dir(path) == path {
		return cmp.Or(real, path)
	}
	return filepath.Join(Resolved(filepath.Dir(path)), filepath.Base(path))
}
