package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"braid/daemon"
	"braid/daemon/page"
	"braid/daemon/rpc"
	"braid/download"
	"braid/internal/database"
	"braid/internal/job"
	"braid/internal/listen"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/watch"
)

// A daemonCommand is one run of braid daemon. Its Defaults count for all downloads.
type daemonCommand struct {
	Job *job.Defaults
	streams
	outputFlags
	MaxConcurrentDownloads parallel
	Fleet                  fleetFlags
	serverTLS
	Root, State               string
	rootNamed                 bool // by --root
	RPCListenPort             port
	LowestSpeedLimit          rate
	RPCListenAll, RPCInsecure bool
	RPCAllowOrigin, RPCHost   option.WordsValue
	LogFormat                 choice
	Watch                     string

	log      *watch.ServiceLog
	notify   watch.Notifier
	watching *watch.Delegate // of Watch; nil: nothing is watched
	mu       sync.RWMutex    // for the sites of Defaults, which a reload replaces
	timed    rates
	rate     allowed
	unfollow func()
	// documents reads the documents of entries; it is the client of all downloads.
	documents *download.Client
	tokenFrom string                                                 // what gives the token; see page.Options
	begun     func(ctx context.Context, engine *daemon.Daemon) error // before clients are answered; may be nil
	empty     bool                                                   // the queue of an earlier start does not go on
	session   string                                                 // the file of --save-session, if there is one
	jobs      *fleetJobs                                             // with --queue; nil: it downloads itself
}

// mostClients is how many connections there may be, at the port and at the socket each.
const mostClients = 256

func newDaemon(s streams) (action, targets) {
	d := &daemonCommand{Job: newDefaults(s), streams: s, outputFlags: newOutputFlags(s), RPCListenPort: 6800}
	d.Job.Rename, d.LowestSpeedLimit = true, 1<<10
	return d.run, targetsOf(d)
}

// A port is the value of a flag; 0 is any that is free.
type port uint16

// Set reads a number.
func (v *port) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return errors.New("write a port, 0 to 65535")
	}
	*v = port(n)
	return nil
}

func (v *port) String() string { return strconv.Itoa(int(*v)) }

func (d *daemonCommand) run(ctx context.Context, words []string) error {
	if err := d.checkFlags(words); err != nil {
		return err
	}
	if err := d.checkFleet(ctx); err != nil {
		return err
	}
	if len(words) == 0 {
		if err := d.readWatch(); err != nil {
			return err
		}
	}
	if err := d.place(); err != nil {
		return err
	}
	token, err := tokenOf(d.State)
	if err != nil {
		return problem.Local("daemon", d.State, err)
	}
	if len(words) > 0 {
		_, err := fmt.Fprintln(d.out, token)
		return outputFailure(err)
	}
	return d.operate(ctx, token)
}

// operate downloads and answers clients until ctx ends. Without a token each program on this machine is one.
func (d *daemonCommand) operate(ctx context.Context, token string) error {
	if !d.rootNamed && holdsHome(d.Root) {
		return problem.Misuse("-d "+d.Job.Dir, "clients could replace what is in your home folder",
			"-d FOLDER, one for downloads; or --root FOLDER, if that is meant")
	}
	if d.isReserved(d.Job.Dir) {
		return problem.Misuse("-d "+d.Job.Dir, "is in a folder of braid's own, where no download goes",
			"another folder, or --state FOLDER")
	}
	certificates, err := d.serverTLS.config()
	if err != nil {
		return err
	}
	defer watch.SpareMemory()()
	d.log = watch.CommandLog(d.streams.err, d.LogFormat.Word, d.Quiet, d.Verbose)
	d.notify = watch.NotifierOf(os.Getenv)
	d.Job.HTTP.Sites = job.NewSites(configurationOf(ctx))
	if err := d.openFleet(ctx); err != nil {
		return err
	}
	defer d.jobs.close()
	engine, client, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	defer client.State.Save()
	defer func() { d.unfollow() }()
	if d.watching != nil {
		if err := d.watching.Open(d.log, engine, client); err != nil {
			return errors.Join(err, engine.Close())
		}
		defer d.watching.Close()
	}
	return d.serve(ctx, engine, client, token, certificates)
}

func (d *daemonCommand) checkFlags(words []string) error {
	return firstMisuse([]wrongUse{
		{len(words) > 1 || len(words) == 1 && words[0] != "token", "daemon", "takes no operand but the word token",
			"braid add URL adds to its queue"},
		{d.Quiet && d.Verbose, "-q", "contradicts -v", ""},
		{d.RPCListenAll && d.TLSCert == "" && !d.RPCInsecure, "--rpc-listen-all",
			"the token would go over the network for all to read",
			"--tls-cert FILE, or --rpc-insecure in a network that is yours alone"},
		{d.RPCInsecure && !d.RPCListenAll, "--rpc-insecure", "is for --rpc-listen-all", ""},
	})
}

// place finds the folders: that of the files, the one that no download leaves, and that of the state, which is made.
func (d *daemonCommand) place() (err error) {
	if d.Root != "" {
		if _, err := os.Stat(d.Root); err != nil {
			return problem.Local("daemon", "--root "+d.Root, err).WithHint("make it, or check the name")
		}
	}
	d.rootNamed = d.Root != ""
	d.Job.Dir = cmp.Or(d.Job.Dir, d.Root)
	if d.Job.Dir, err = filepath.Abs(d.Job.Dir); err != nil {
		return problem.Local("daemon", d.Job.Dir, err)
	}
	if d.Root, err = filepath.Abs(cmp.Or(d.Root, d.Job.Dir)); err != nil {
		return problem.Local("daemon", d.Root, err)
	}
	if below, err := filepath.Rel(d.Root, d.Job.Dir); err != nil || !filepath.IsLocal(below) {
		return problem.Misuse("-d "+d.Job.Dir, "is not in "+d.Root+", which no download leaves (--root)",
			"-d FOLDER in it, or --root FOLDER of both")
	}
	if d.State, err = daemonState(d.State); err != nil {
		return err
	}
	for _, dir := range []string{d.Job.Dir, d.State} {
		mode := fs.FileMode(0o777)
		if dir == d.State {
			mode = 0o700
		}
		if err := os.MkdirAll(dir, mode); err != nil {
			return problem.Local("daemon", dir, err)
		}
	}
	return nil
}

// holdsHome reports whether a folder is the user's home, or one that it is in. The root of the file system is one.
func holdsHome(folder string) bool {
	folder = job.Resolved(folder)
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return folder == filepath.Dir(folder)
	}
	below, err := filepath.Rel(folder, job.Resolved(home))
	return err == nil && filepath.IsLocal(below)
}

// daemonState is the folder of the state, if the user names none.
func daemonState(named string) (string, error) {
	if named == "" {
		named, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":") // systemd.exec(5)
	}
	if named == "" && job.StateFolder() != "" {
		named = filepath.Join(job.StateFolder(), "daemon")
	}
	if named == "" {
		return "", problem.Misuse("daemon", "there is no folder for the queue", "--state FOLDER")
	}
	return filepath.Abs(named)
}

// open makes the engine, and the client that all downloads have.
func (d *daemonCommand) open(ctx context.Context) (*daemon.Daemon, *download.Client, error) {
	d.timed, d.Job.Transfer.LimitRate = d.Job.Transfer.LimitRate, rates{} // of the limit below
	client, err := d.Job.Client(d.watching.Typed()...)
	if err != nil {
		return nil, nil, err
	}
	if d.watching != nil {
		d.watching.KeepPace()
	}
	client.HTTP.IdlePerHost = max(int(d.MaxConcurrentDownloads), download.MostAtOnce)
	client.Limit, client.LowestSpeed = &download.Limiter{}, int64(d.LowestSpeedLimit)
	d.Job.Within(client.Limit)
	d.rate.set = client.Limit.Set
	d.follow()
	if own := job.StateFolder(); own == "" || filepath.Dir(d.State) != own { // a service may have no other folder
		client.JournalKey, client.State.Dir = filepath.Join(d.State, "journal-key"), d.State
	}
	if err := d.Job.Prepare(client); err != nil {
		return nil, nil, err
	}
	if err := d.Job.ReadSums(ctx, client, nil); err != nil {
		return nil, nil, err
	}
	d.documents = client
	config := daemon.Config{
		Dir: d.State, Client: client, AtOnce: int(d.MaxConcurrentDownloads), Request: d.request,
		Limit: d.rate.override, Log: d.log.Logger,
		Empty: d.empty, Last: d.lastSession, Stopped: d.watching.Stopped, Hide: d.log.Clean,
	}
	if d.jobs != nil {
		config.Jobs = d.jobs
	}
	engine, err := daemon.Open(config)
	if locked, ok := errors.AsType[*database.LockedError](err); ok {
		return nil, nil, &problem.Problem{
			Kind: download.Local, What: "daemon", Where: "queue", Why: locked.Error(),
			Hint: "one daemon has a state folder at a time; --state FOLDER names another",
		}
	}
	if err != nil {
		return nil, nil, problem.Local("daemon", d.State, err)
	}
	return engine, client, nil
}

// follow has limits go by the time of day.
func (d *daemonCommand) follow() {
	d.Job.HTTP.Sites.Limits.Add(d.timed, d.rate.schedule)
	d.unfollow = d.Job.HTTP.Sites.Limits.Follow()
}

// serve downloads and answers clients until ctx ends.
func (d *daemonCommand) serve(ctx context.Context, engine *daemon.Daemon, client *download.Client, token string,
	certificates *tls.Config) error {
	host, scheme := "127.0.0.1", "http"
	if d.RPCListenAll {
		host = ""
	}
	where := net.JoinHostPort(host, d.RPCListenPort.String())
	listener, err := net.Listen("tcp", where)
	if err != nil {
		return errors.Join(&problem.Problem{
			Kind: download.Other, What: "listen", Where: where, Why: listen.Reason(err),
			Hint: "--rpc-listen-port PORT names another",
		}, engine.Close())
	}
	socket, err := listen.Socket(d.State) // for braid add and others
	if err != nil {
		return errors.Join(problem.Local("daemon", d.State, err), listener.Close(), engine.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	control := rpc.New(engine, rpc.Options{
		Root: d.Root, Token: token, Hosts: d.RPCHost, Origins: d.RPCAllowOrigin,
		Version: thisBuild().version, Given: d.given(), Shutdown: stop, SaveSession: d.saveSession,
		Listed: inSession, Limit: d.rate.byTime,
	})
	mux := http.NewServeMux()
	mux.Handle("/jsonrpc", control)
	if token != "" { // the page's requests have an Origin field
		mux.Handle("/", page.New(engine, d.page(control.Admit)))
	}
	begun := make(chan struct{})
	for _, l := range []net.Listener{listener, socket} {
		server := &http.Server{
			Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams end
		}
		secure := certificates != nil && l == listener
		if l = rpc.Limit(l, server, mostClients); secure {
			scheme, l = "https", tls.NewListener(l, certificates)
		}
		wg.Go(func() {
			<-begun
			if err := listen.Serve(ctx, server, l, d.log.Logger); err != nil {
				d.log.Error("clients", "error", err)
			}
		})
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	wg.Go(func() { d.attend(ctx, engine, client, hup) })
	wg.Go(func() { d.tell(ctx, engine) })
	if d.jobs != nil {
		wg.Go(func() { d.jobs.follow(ctx) })
	}
	watched := make(chan error, 1)
	go func() {
		watched <- d.watching.Run(ctx)
		stop()
	}()
	wg.Go(func() {
		defer close(begun)
		if d.begun != nil {
			if err := d.begun(ctx, engine); err != nil {
				d.log.Error("not in the queue", "error", err)
			}
		}
	})
	url := listen.URL(scheme, listener.Addr())
	about := []any{"page", url, "rpc", url + "jsonrpc", "root", d.Root, "state", d.State}
	if token == "" {
		about = about[2:]
	}
	d.log.Info("ready", about...)
	d.notified(d.notify.Ready("downloads for " + url))
	err = engine.Run(ctx)
	stop()
	d.watching.End()
	if failed := <-watched; failed != nil {
		return failed
	}
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "daemon", Where: "queue", Why: err.Error()}
	}
	return nil
}

// given are the options that clients ask for, as the flags say.
func (d *daemonCommand) given() map[string]string {
	options := map[string]string{
		"dir": d.Job.Dir, "max-concurrent-downloads": strconv.Itoa(int(d.MaxConcurrentDownloads)),
		"split":           strconv.Itoa(cmp.Or(int(d.Job.Transfer.Split), 16)),
		"allow-overwrite": strconv.FormatBool(d.Job.Overwrite), "auto-file-renaming": strconv.FormatBool(d.Job.Rename),
		"continue": strconv.FormatBool(d.Job.Continue),
	}
	if d.session != "" {
		options["save-session"] = d.session
	}
	return options
}
