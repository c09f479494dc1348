package cli

import (
	"cmp"

	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/watch"
)

// readWatch reads the configuration of the watcher. An invalid one is an error before the daemon creates any
// file.
func (d *daemonCommand) readWatch() error {
	if d.Watch == "" {
		return nil
	}
	v := &watchCommand{streams: d.streams, inDaemon: true, Quiet: d.Quiet, Verbose: d.Verbose,
		NotHost: option.WordsValue(d.Job.Location.NotHost), GeoIPDB: d.Job.Location.GeoIPDB}
	c, err := v.load([]string{d.Watch}, toWatch)
	if err != nil {
		return err
	}
	state, err := daemonState(d.State)
	if err != nil {
		return err
	}
	if c.Folder == state {
		return problem.Misuse(d.Watch, "state: the daemon keeps its queue in that folder",
			"another one, or none: then it is in your state folder")
	}
	isReserved := func(path string) bool { return d.service.Owns(path) }
	pace := func(c *watch.Loaded) {
		d.Job.HTTP.Pace.Set(cmp.Or(d.Job.HTTP.HostRate, number(c.HostRate)), cmp.Or(int64(d.Job.HTTP.HostLimitRate), c.HostLimit))
	}
	if d.service.Watching, err = watch.NewDelegate(c, newMetrics(), isReserved, pace); err != nil {
		return err
	}
	for _, word := range c.Hosts { // checked by load
		if err := d.Job.HTTP.AllowHost.Set(word); err != nil {
			return problem.Misuse("allow-hosts "+word, err.Error(), "")
		}
	}
	return nil
}
