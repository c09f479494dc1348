package cli

import (
	"context"

	"braid/internal/problem"
)

// enqueueingDaemon lists the flags of a daemon that can be used with --queue.
var enqueueingDaemon = append([]string{
	"dir", "root", "state", "rpc-listen-port", "rpc-listen-all", "rpc-insecure", "rpc-allow-origin", "rpc-host",
	"tls-cert", "tls-key", "log-format",
}, enqueueing...)

// checkFleet rejects options that do not go with --queue, because workers download.
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

// openFleet connects to the job queue if --queue is given. The prefix identifies the jobs of this daemon; it
// is kept in the state folder.
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
