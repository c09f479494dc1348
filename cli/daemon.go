package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/service"
	"braid/internal/watch"
)

// A daemonCommand is one run of braid daemon. Its Job has the options for all downloads.
type daemonCommand struct {
	Job *job.Defaults
	streams
	outputFlags
	MaxConcurrentDownloads parallel
	Fleet                  fleetFlags
	serverTLS
	Root, State               string
	rootNamed                 bool // --root was given
	RPCListenPort             port
	LowestSpeedLimit          rate
	RPCListenAll, RPCInsecure bool
	RPCAllowOrigin, RPCHost   option.WordsValue
	LogFormat                 choice
	Watch                     string

	service *service.Service
}

func newDaemon(s streams) (action, targets) {
	d := &daemonCommand{Job: newDefaults(s), streams: s, outputFlags: newOutputFlags(s), RPCListenPort: 6800}
	d.service = &service.Service{Job: d.Job}
	d.Job.Rename, d.LowestSpeedLimit = true, 1<<10
	return d.run, targetsOf(d)
}

// A port is a TCP port in the value of a flag. 0 means any free port.
type port uint16

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

// operate downloads and serves clients until ctx is done. If token is "", every program on this machine may be a client.
func (d *daemonCommand) operate(ctx context.Context, token string) error {
	s := d.service
	s.Root, s.State, s.Files = d.Root, d.State, append(s.Files, d.TLSCert, d.TLSKey)
	if !d.rootNamed && holdsHome(d.Root) {
		return problem.Misuse("-d "+d.Job.Dir, "clients could replace files in your home folder",
			"choose a folder for downloads alone with -d FOLDER, or allow this one with --root FOLDER")
	}
	if s.IsReserved(d.Job.Dir) {
		return problem.Misuse("-d "+d.Job.Dir, "this folder is reserved for braid",
			"choose another folder with -d, or move braid's state with --state FOLDER")
	}
	certificates, err := d.serverTLS.config()
	if err != nil {
		return err
	}
	defer watch.SpareMemory()()
	d.configure()
	s.Server.TLS, s.Server.Token = certificates, token
	s.Log = watch.CommandLog(d.streams.err, d.LogFormat.Word, d.Quiet, d.Verbose)
	s.Notify = watch.NotifierOf(os.Getenv)
	d.Job.HTTP.Sites = job.NewSites(configurationOf(ctx))
	if text := configurationOf(ctx).Warning(); text != "" {
		s.Log.Warn("settings", "warning", text)
	}
	end, err := d.openFleet(ctx)
	if err != nil {
		return err
	}
	defer end()
	return s.Run(ctx)
}

// configure copies the values of the flags to d.service.
func (d *daemonCommand) configure() {
	s := d.service
	s.AtOnce, s.LowestSpeed = int(d.MaxConcurrentDownloads), int64(d.LowestSpeedLimit)
	s.Server.Port, s.Server.All, s.Server.Version = d.RPCListenPort.String(), d.RPCListenAll, thisBuild().version
	s.Server.Hosts, s.Server.Origins = d.RPCHost, d.RPCAllowOrigin
}

func (d *daemonCommand) checkFlags(words []string) error {
	return firstMisuse([]wrongUse{
		{len(words) > 1 || len(words) == 1 && words[0] != "token", "daemon", "takes no operand except token",
			"add a URL to the daemon's queue with braid add URL"},
		{d.Quiet && d.Verbose, "-q", "contradicts -v", ""},
		{d.RPCListenAll && d.TLSCert == "" && !d.RPCInsecure, "--rpc-listen-all",
			"without TLS, the token would cross the network unencrypted",
			"give --tls-cert FILE, or in a private network --rpc-insecure"},
		{d.RPCInsecure && !d.RPCListenAll, "--rpc-insecure", "needs --rpc-listen-all", ""},
	})
}

// place determines the download folder, the state folder and the root folder, which contains all downloads. It creates
// the first two.
func (d *daemonCommand) place() (err error) {
	if d.Root != "" {
		if _, err := os.Stat(d.Root); err != nil {
			return problem.Local("daemon", "--root "+d.Root, err).WithHint("create the folder, or check its name")
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
		return problem.Misuse("-d "+d.Job.Dir, "is outside "+d.Root+" (--root)",
			"give -d a folder below --root, or --root a folder that contains the folder of -d")
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

// holdsHome reports whether folder is the user's home folder or one of its parents, such as the root of the file system.
func holdsHome(folder string) bool {
	folder = job.Resolved(folder)
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return folder == filepath.Dir(folder)
	}
	below, err := filepath.Rel(folder, job.Resolved(home))
	return err == nil && filepath.IsLocal(below)
}

// daemonState returns the state folder: named, or the default if named is "".
func daemonState(named string) (string, error) {
	if named == "" {
		named, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":") // systemd.exec(5)
	}
	if named == "" && job.StateFolder() != "" {
		named = filepath.Join(job.StateFolder(), "daemon")
	}
	if named == "" {
		return "", problem.Misuse("daemon",
			"missing folder for the queue: neither HOME nor XDG_STATE_HOME is set", "--state FOLDER")
	}
	return filepath.Abs(named)
}

// enqueueingDaemon lists the flags of braid daemon that are allowed with --queue.
var enqueueingDaemon = append([]string{
	"dir", "root", "state", "rpc-listen-port", "rpc-listen-all", "rpc-insecure", "rpc-allow-origin", "rpc-host",
	"tls-cert", "tls-key", "log-format",
}, enqueueing...)

// checkFleet rejects flags that have no effect with --queue, because workers download the files.
func (d *daemonCommand) checkFleet(ctx context.Context) error {
	if d.Fleet.Queue == "" {
		return nil
	}
	if d.Watch != "" {
		return problem.Misuse("--queue "+d.Fleet.text(), "contradicts --watch",
			"use braid watch --queue "+d.Fleet.text())
	}
	if err := refuseOthers(ctx, enqueueingDaemon, "set it with braid work, or for one download by its client"); err != nil {
		return err
	}
	return d.Fleet.check("daemon")
}

// openFleet connects to the job queue if --queue is given. A prefix that is kept in the state folder identifies the
// daemon's jobs in that queue. end closes the connection.
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

// readWatch reads the watcher's configuration, so that an error in it is reported before the daemon creates any file.
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
		return problem.Misuse(d.Watch, "the state folder is the one in which the daemon keeps its queue",
			"set state to another folder, or leave the key out for the default")
	}
	isReserved := func(path string) bool { return d.service.Owns(path) }
	pace := func(c *watch.Loaded) {
		d.Job.HTTP.Pace.Set(cmp.Or(d.Job.HTTP.HostRate, number(c.HostRate)), cmp.Or(int64(d.Job.HTTP.HostLimitRate), c.HostLimit))
	}
	if d.service.Watching, err = watch.NewDelegate(c, newMetrics(), isReserved, pace); err != nil {
		return err
	}
	for _, word := range c.Hosts { // watchCommand.load has checked the word
		if err := d.Job.HTTP.AllowHost.Set(word); err != nil {
			return problem.Misuse("allow-hosts "+word, err.Error(), "")
		}
	}
	return nil
}

// tokenFile is the name of the file in the state folder with the token for clients.
const tokenFile = "token"

// tokenOf returns the token of the daemon with the given state folder. It creates the token if it is missing.
func tokenOf(state string) (string, error) { return randomWord(filepath.Join(state, tokenFile)) }

// fleetIDFile is the name of the file in the state folder with the daemon's ID. The ID identifies the daemon's jobs in
// a job queue.
const fleetIDFile = "fleet-id"

// fleetPrefix returns the prefix of the Watch field in the daemon's jobs. It contains a random ID instead of the path
// of the state folder or the token, because daemons on several machines may have the same path and token.
func fleetPrefix(state string) (string, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", problem.Local("state", state, err)
	}
	id, err := randomWord(filepath.Join(state, fleetIDFile))
	if err != nil {
		return "", problem.Local("state", state, err)
	}
	return "daemon " + id[:min(12, len(id))] + " ", nil
}

// randomWord returns the word in the file at path. If the file is missing or empty, randomWord first writes a random
// word to it.
func randomWord(path string) (string, error) {
	word, err := readToken(path)
	if word != "" || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return word, err
	}
	var b [32]byte
	rand.Read(b[:])
	word = hex.EncodeToString(b[:])
	if err == nil { // the file is empty
		return word, fsys.WriteFile(fsys.OS, path, []byte(word+"\n"), 0o600)
	}
	return makeToken(path, word)
}

func readToken(path string) (string, error) {
	data, err := fsys.ReadFile(fsys.OS, path, 1<<10)
	return strings.TrimSpace(string(data)), err
}

// makeToken atomically creates the file at path with word as its content. If another process created the file first,
// makeToken returns the word of that process.
func makeToken(path, word string) (string, error) {
	own := path + "-" + word[:16]
	if err := fsys.WriteFile(fsys.OS, own, []byte(word+"\n"), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(own)
	err := os.Link(own, path)
	if errors.Is(err, fs.ErrExist) {
		return readToken(path)
	}
	if err != nil { // the file system has no hard links
		return word, os.Rename(own, path)
	}
	return word, nil
}
