package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/daemon/rpc"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/service"
	"braid/metalink/metainfo"
)

// checkRPC rejects options that would give other users access, and options that do not work with
// --enable-rpc.
func (a *aria2c) checkRPC() error {
	const insecure = "in a network that is yours alone, --rpc-insecure, which aria2c does not have"
	secret, all, secure := a.value("rpc-secret"), a.is("rpc-listen-all"), a.is("rpc-secure")
	return firstMisuse([]wrongUse{
		{all && secret == "", "--rpc-listen-all", "without a secret, all on the network could use it", "--rpc-secret WORD"},
		{all && !secure && !a.is("rpc-insecure"), "--rpc-listen-all",
			"the secret would go over the network for all to read",
			"--rpc-secure with --rpc-certificate and --rpc-private-key; " + insecure},
		{a.is("rpc-allow-origin-all") && secret == "", "--rpc-allow-origin-all",
			"without a secret, each page that you open could use it", "--rpc-secret WORD"},
		{secure && a.value("rpc-certificate") == "", "--rpc-secure", "needs a certificate", "--rpc-certificate FILE"},
		{a.value("rpc-user")+a.value("rpc-passwd") != "", "--rpc-user", "nothing asks for a name and password here",
			"--rpc-secret WORD"},
		{a.is("dry-run"), "--dry-run", "contradicts --enable-rpc", ""},
	})
}

// serve implements --enable-rpc: it runs braid daemon in the foreground with the downloads in its queue.
func (a *aria2c) serve(ctx context.Context, documents []string) error {
	d, err := a.daemon()
	if err != nil {
		return err
	}
	entries, err := a.entriesOf(d, documents)
	if err != nil {
		return err
	}
	d.service.Begun = func(ctx context.Context, engine *daemon.Daemon) error {
		return engine.Do(ctx, func(q *queue.Queue) error { return enqueue(q, entries) })
	}
	ctx, stop := within(ctx, time.Duration(a.get.MaxTime))
	defer stop()
	return d.operate(ctx, a.value("rpc-secret"))
}

// daemon returns the daemon that the options describe. Daemons on different ports have different queues.
func (a *aria2c) daemon() (*daemonCommand, error) {
	d := &daemonCommand{Job: a.get.Job, streams: a.get.streams, outputFlags: a.get.outputFlags,
		MaxConcurrentDownloads: a.get.MaxConcurrentDownloads, Fleet: a.get.Fleet, RPCListenPort: 6800,
		RPCListenAll: a.is("rpc-listen-all")}
	d.service = &service.Service{Job: a.get.Job, Empty: true, Server: service.Server{TokenFrom: "--rpc-secret"}}
	if v := a.value("rpc-listen-port"); v != "" {
		if err := d.RPCListenPort.Set(v); err != nil {
			return nil, problem.Misuse("--rpc-listen-port", err.Error(), "")
		}
	}
	if v := a.value("lowest-speed-limit"); v != "" { // the default is no limit, as in aria2
		if err := d.LowestSpeedLimit.Set(v); err != nil {
			return nil, problem.Misuse("--lowest-speed-limit", err.Error(), "")
		}
	}
	if a.is("rpc-allow-origin-all") {
		d.RPCAllowOrigin = option.WordsValue{"*"}
	}
	if a.is("rpc-secure") {
		d.serverTLS = serverTLS{TLSCert: a.value("rpc-certificate"), TLSKey: a.value("rpc-private-key")}
	}
	if own := job.StateFolder(); own != "" {
		d.State = filepath.Join(own, "aria2c-"+d.RPCListenPort.String())
	}
	if err := d.place(); err != nil {
		return nil, err
	}
	if d.MaxConcurrentDownloads == 0 {
		d.MaxConcurrentDownloads = aria2AtOnce
	}
	if file := a.value("save-session"); file != "" {
		session, err := filepath.Abs(file)
		if err != nil {
			return nil, problem.Local("session", file, err)
		}
		d.service.Session = session
	}
	return d, nil
}

// aria2AtOnce is the number of concurrent downloads without -j. Clients of aria2 expect that downloads start
// when they are added.
const aria2AtOnce = 5

// entriesOf converts the list and the documents to entries of the queue.
func (a *aria2c) entriesOf(d *daemonCommand, documents []string) (entries []queue.Entry, err error) {
	for listed, err := range option.Entries(a.results.list) {
		if err != nil {
			return nil, aria2Misuse(a.value("input-file"), err)
		}
		options := map[string]string{"dir": d.Job.Dir}
		for _, s := range listed.Options {
			if s.Name == "header" && options["header"] != "" {
				s.Value = options["header"] + "\n" + s.Value
			}
			options[s.Name] = s.Value
			if rpc.OfAll(s.Name, s.Value) {
				return nil, problem.Misuse(a.value("input-file"),
					s.Name+": all downloads of a daemon have the same proxy", "--"+s.Name+" on the command line")
			}
		}
		if options["dir"], err = filepath.Abs(cmp.Or(options["dir"], d.Job.Dir)); err != nil {
			return nil, err
		}
		if below, err := filepath.Rel(d.Root, options["dir"]); err != nil || !filepath.IsLocal(below) {
			return nil, service.Outside(options["dir"], d.Root)
		}
		e := queue.Entry{URIs: listed.URIs, Options: options}
		e.GID, _ = queue.ParseGID(options["gid"])
		if options["pause"] == "true" {
			e.Status = queue.Paused
		}
		delete(options, "gid")
		delete(options, "pause")
		entries = append(entries, e)
	}
	for _, word := range documents {
		e := queue.Entry{Options: map[string]string{"dir": d.Job.Dir}}
		if metainfo.IsMagnet(word) {
			e.URIs = []string{word}
		} else if e.Document, err = job.ReadFile("document", word, 8<<20); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// enqueue adds the entries to the queue.
func enqueue(q *queue.Queue, entries []queue.Entry) (err error) {
	for _, e := range entries {
		_, wrong := q.Add(time.Now(), e, -1)
		err = errors.Join(err, wrong)
	}
	return err
}

// aria2TLS replaces braid daemon's options of certificates in messages by those of aria2c.
var aria2TLS = strings.NewReplacer("--tls-cert", "--rpc-certificate", "--tls-key", "--rpc-private-key")
