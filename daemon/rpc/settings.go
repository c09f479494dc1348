package rpc

import (
	"cmp"
	"maps"
	"path/filepath"

	"braid/daemon/queue"
)

// settings are the options for all downloads: default values, options that the daemon was started with, and options
// that clients have set. Only those set by clients are in the queue.
type settings struct {
	given *Options
	queue *queue.Queue
}

// folder returns the folder of downloads without the option dir.
func (s *settings) folder() string {
	return cmp.Or(s.queue.Global()["dir"], s.given.Given["dir"], s.given.Root)
}

// folderOf returns the folder of the file of e. If e belongs to a watch, the watch has chosen the folder.
func (s *settings) folderOf(e *queue.Entry) string {
	if e.Watch != "" && e.Path != "" {
		return filepath.Dir(e.Path)
	}
	return cmp.Or(e.Options["dir"], s.folder())
}

// saysNothing reports whether value is the default value of the option name. Clients that retry a download send all
// options that the server has returned.
func (s *settings) saysNothing(name, value string) bool {
	now, ok := usual[name]
	return ok && value == cmp.Or(s.queue.Global()[name], s.given.Given[name], now)
}

// all returns the options for all downloads, including defaults.
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
