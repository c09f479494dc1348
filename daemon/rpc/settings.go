package rpc

import (
	"cmp"
	"maps"
	"path/filepath"

	"braid/daemon/queue"
)

// settings are the options of all downloads: the defaults, options of the daemon's start, and options that clients have
// set since then. The queue stores only the options of clients.
type settings struct {
	given *Options
	queue *queue.Queue
}

// folder returns the folder of downloads that have no option dir.
func (s *settings) folder() string {
	return cmp.Or(s.queue.Global()["dir"], s.given.Given["dir"], s.given.Root)
}

// folderOf returns the folder of an entry's file. For a file of a watch it is the folder that the watch chose.
func (s *settings) folderOf(e *queue.Entry) string {
	if e.Watch != "" && e.Path != "" {
		return filepath.Dir(e.Path)
	}
	return cmp.Or(e.Options["dir"], s.folder())
}

// saysNothing reports whether an option has its default value. Clients that retry a download send all options that the
// server returned.
func (s *settings) saysNothing(name, value string) bool {
	now, ok := usual[name]
	return ok && value == cmp.Or(s.queue.Global()[name], s.given.Given[name], now)
}

// all returns the options of all downloads, with their defaults.
func (s *settings) all() map[string]string {
	all := maps.Clone(usual)
	maps.Copy(all, s.given.Given)
	if s.given.Limit != nil {
		all[together[1]] = digits(s.given.Limit())
	}
	maps.Copy(all, s.queue.Global())
	all["dir"] = s.folder()
	maps.DeleteFunc(all, refused)
	return all
}

// usual maps options to the default values that clients display.
var usual = map[string]string{
	"allow-overwrite": "false", "auto-file-renaming": "true", "check-certificate": "true", "conditional-get": "false",
	"continue":   "false",
	"enable-dht": "true", "follow-metalink": "true", "follow-torrent": "true", "max-connection-per-server": "1",
	"max-download-limit": "0",
	"max-tries":          "5", "min-split-size": "1048576", "remote-time": "false", "retry-wait": "0",
	"seed-ratio": "1.0", "split": "16",
}
