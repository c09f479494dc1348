package cli

import (
	"path/filepath"
	"slices"

	"braid/internal/problem"
	"braid/objectstore"
	"braid/source"
	"braid/verify/signatures"
)

// What braid itself goes by is nothing that a download may replace whose name somebody else has chosen, wherever it
// lies: settings name programs, keyrings say who is trusted, and what is remembered keeps old versions away.

// ownFolders are those of the settings, of the state and of the cache.
func ownFolders() []string {
	folders := []string{stateFolder(), cacheFolder()}
	if file := configurationFile("x"); file != "" {
		folders = append(folders, filepath.Dir(file))
	}
	return folders
}

// ownNames are the names in a folder that are braid's own, where files of the user's may lie beside them.
func ownNames(folder string, names ...string) (places []string) {
	if folder == "" {
		return nil
	}
	for _, name := range names {
		places = append(places, filepath.Join(fromHome(folder), name))
	}
	return places
}

// leadsTo reports whether a path is one of some files, or is below one of some folders, also by a symbolic link. Files
// that are not named are none.
func leadsTo(path string, places []string) bool {
	path = resolved(path)
	return slices.ContainsFunc(places, func(own string) bool {
		if own == "" {
			return false
		}
		own, err := filepath.Abs(fromHome(own))
		if err != nil {
			return false
		}
		below, err := filepath.Rel(resolved(own), path)
		return err == nil && filepath.IsLocal(below)
	})
}

// files are those that say who is trusted.
func (a *anchorFlags) files() (paths []string) {
	for _, option := range signatures.Options() {
		paths = append(paths, a.of(option)...)
	}
	return paths
}

// files are those that say which servers are trusted, and who we are.
func (f *trustFlags) files() []string {
	return append(f.CACert, f.ClientCert, f.ClientKey)
}

// files are those that the settings of sites name.
func (s *sites) files() (places []string) {
	if !s.any() {
		return nil
	}
	for _, site := range s.conf.file.Sites {
		places = slices.Concat(places, site.Values["keyring"], site.Values["smime-ca"], site.Values["cacert"])
	}
	return places
}

// ownOfWatcher is what a watcher goes by.
func ownOfWatcher(c *loaded, at *sites) []string {
	places := slices.Concat(
		ownFolders(), ownNames(c.state, storeFile, memoryFile, "control", "journal-key"), at.files(), []string{c.file, c.GeoIPDB},
	)
	for i := range c.Watches {
		places = slices.Concat(places, c.Watches[i].Keyrings, c.Watches[i].Authorities)
	}
	return places
}

// watcherGoesBy reports whether a path leads to what a watcher goes by, or the daemon that it is in.
func watcherGoesBy(c *loaded, at *sites, path string) bool {
	return leadsTo(path, ownOfWatcher(c, at)) || c.by != nil && c.by.isReserved(path)
}

// ownOfDaemon is what a daemon goes by.
func ownOfDaemon(d *daemonCommand) []string {
	d.mu.RLock()
	at := d.sites
	d.mu.RUnlock()
	return slices.Concat(ownFolders(), d.anchorFlags.files(), d.Trust.files(), at.files(), []string{
		d.State, d.TLSCert, d.TLSKey, d.Checksums, d.Location.GeoIPDB, d.NetrcFile, d.LoadCookies, d.session,
	})
}

// own is what a worker goes by.
func (w *workCommand) own() []string {
	return slices.Concat(ownFolders(), w.anchorFlags.files(), w.Trust.files(), w.sites.files(), w.Fleet.files(),
		[]string{w.Checksums, w.Location.GeoIPDB, w.NetrcFile, w.LoadCookies})
}

// notOwn is an error if the file of a job would replace what the worker goes by. No later try is better.
func (w *workCommand) notOwn(name string) error {
	if objectstore.IsURL(w.To) || !leadsTo(filepath.Join(w.To, filepath.FromSlash(name)), w.own()) {
		return nil
	}
	return problem.Misuse("job "+source.Escape(name), "a worker goes by what is there",
		"--to FOLDER without settings, keys and queue in it")
}
