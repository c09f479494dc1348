package cli

import (
	"context"

	"braid/internal/problem"
)

// enqueueingDaemon are the flags of a daemon that make sense where others download.
var enqueueingDaemon = append([]string{
	"dir", "root", "state", "rpc-listen-port", "rpc-listen-all", "rpc-insecure", "rpc-allow-origin", "rpc-host",
	"tls-cert", "tls-key", "log-format",
}, enqueueing...)

// checkFleet refuses what is for downloads of the daemon's own.
func (d *daemonCommand) checkFleet(ctx context.Context) error {
	if d.Fleet.Queue == "" {
		return nil
	}
	if d.Watch != "" {
		return problem.Misuse("--queue "+d.Fleet.text(), "contradicts --watch",
			"braid watch --queue "+d.Fleet.text()+" makes jobs of updates")
	}
	if err := refuseOthers(ctx, enqueueingDaemon, "braid work --help; clients give downloads options of their own"); err != nil {
		return err
	}
	return d.Fleet.check("daemon")
}

// openFleet connects to the queue, if there is one. The prefix of its jobs is that of this daemon for as long as it has
// the folder of its state.
func (d *daemonCommand) openFleet(ctx context.Context) (end func(), err error) {
	if d.Fleet.Queue == "" {
		return func() {}, nil
	}
	prefix, err := fleetPrefix(d.State)
	if err != nil {
		return nil, err
	}
	q, err := d.Fleet.open(ctx, "daemon", d.service.Log.Logger)
	if err != nil {
		return nil, err
	}
	d.service.ServeFleet(q.Queue, prefix, exitKind)
	return q.Close, nil
}
