package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/watch"
)

type watchCommand struct {
	streams
	Config         string
	Once           bool
	Feed, URL      option.WordsValue
	Dir            string
	Require        choice
	Key            option.WordsValue
	Keyring        option.WordsValue
	SMIMECA        option.WordsValue
	CheckEvery     interval
	AllowHost      option.WordsValue
	NotHost        option.WordsValue
	GeoIPDB        string
	State          string
	Publish        string
	Metrics        string
	LogFormat      choice
	Quiet, Verbose bool
	NoLookup       bool
	JSON           bool
	Fleet          fleetFlags
	Lease          duration
	// line has the flags that the command line sets; said also has those that the environment sets. A flag without
	// effect is an error only if it is in line.
	line, said map[string]bool
	inDaemon   bool
}

func newWatch(s streams) (action, targets) {
	v := &watchCommand{streams: s}
	return v.run, targetsOf(v)
}

func (v *watchCommand) run(ctx context.Context, words []string) error {
	v.line, v.said = configurationOf(ctx).Line, configurationOf(ctx).Said
	if v.Quiet && v.Verbose {
		return problem.Misuse("-q", "contradicts -v", "")
	}
	if len(words) > 0 && v.line["queue"] && slices.Contains(watchVerbs, words[0]) {
		return problem.Misuse("--queue", "applies only to braid watch without a command",
			"show the state of the queue with braid queue status")
	}
	if len(words) > 0 {
		switch verb := words[0]; verb {
		case "status":
			return v.runStatus(ctx, words[1:])
		case "check":
			return v.runCheck(ctx, words[1:])
		case "run", "forget":
			if len(words) < 2 {
				hint := "write braid watch run NAME [CONFIG]"
				if verb == "forget" {
					hint = "write braid watch forget NAME [VERSION] [CONFIG]"
				}
				return problem.Misuse("watch "+verb, "missing name of a feed or watch", hint)
			}
			if version, rest, ok := versionIn(words[2:]); ok && verb == "forget" {
				return v.forgetVersion(ctx, words[1], version, rest)
			}
			return v.runVerb(ctx, verb, words[1], words[2:])
		default:
			if err := misspelt(verb); err != nil {
				return err
			}
		}
	}
	c, err := v.load(words, toWatch)
	if err != nil {
		return err
	}
	if v.line["json"] {
		return problem.Misuse("--json", "applies only to braid watch status", "--log-format json")
	}
	if v.Fleet.Queue != "" {
		return v.watchFor(ctx, c)
	}
	for i := range c.Watches {
		if c.Watches[i].Priority != "" {
			return problem.Misuse("watch."+c.Watches[i].Name+".priority", "applies only to jobs in a queue",
				"use braid watch --queue or braid daemon --watch")
		}
	}
	return v.watch(ctx, c, nil)
}

// watch watches until ctx is done. With --once it checks everything once. If names is not empty, watch uses only the
// feeds and watches in names.
func (v *watchCommand) watch(ctx context.Context, c *watch.Loaded, names []string) error {
	w := v.watcher()
	kinds, err := w.Watch(ctx, c, names)
	return v.leave(ctx, kinds, err)
}

func (v *watchCommand) watcher() *watch.Watcher {
	return &watch.Watcher{Err: v.streams.err, Metrics: newMetrics(), Once: v.Once}
}

// leave returns err or, if err is nil, the exit code for kinds as an error.
func (v *watchCommand) leave(ctx context.Context, kinds []download.Kind, err error) error {
	var codes []int
	for _, k := range kinds {
		codes = append(codes, kindCode(k))
	}
	code := batchCode(codes)
	if signal, ok := signalCode(ctx); ok && v.Once {
		code = signal
	}
	if err == nil && code != exitDone {
		return reported(code)
	}
	return err
}

// watchFor watches on behalf of a job queue, which gets a job for each update.
func (v *watchCommand) watchFor(ctx context.Context, c *watch.Loaded) error {
	if err := c.CheckForFleet(); err != nil {
		return err
	}
	v.Fleet.lease = v.Lease
	log := watch.NewServiceLog(v.streams.err, c.Log.Format)
	log.Configure(c)
	q, err := v.Fleet.open(ctx, "watch", log.Logger)
	if err != nil {
		return err
	}
	defer q.Close()
	w := v.watcher()
	w.Fleet = &watch.Fleet{Queue: q.Queue, Failure: func(err error) error { return v.Fleet.failure("watch", err) }}
	kinds, err := w.WatchFor(ctx, c)
	return v.leave(ctx, kinds, err)
}

func newMetrics() *watch.Metrics {
	return &watch.Metrics{Version: thisBuild().String(), Start: time.Now()}
}

var watchVerbs = []string{"status", "check", "run", "forget"}

// misspelt returns an error if word is similar to a command and no file has that name.
func misspelt(word string) error {
	near := option.Nearest(word, watchVerbs)
	if _, err := os.Lstat(word); near == "" || err == nil {
		return nil
	}
	return problem.Misuse("watch "+job.MaskWord(word), "is neither a configuration file nor a command", "did you mean "+
		near+"?")
}

// A reading returns the options for parsing a configuration file in the folder dir.
type reading func(dir string) watch.ConfigOptions

// load reads the configuration that the operand or the flags name. A configuration file on the command line takes
// precedence over --feed and --url from the environment or the settings.
func (v *watchCommand) load(words []string, how reading) (*watch.Loaded, error) {
	file := v.Config
	switch {
	case len(words) > 1:
		return nil, problem.Misuse("watch", "only one configuration can be given", "see braid watch --help")
	case len(words) == 1 && v.line["config"]:
		return nil, problem.Misuse("--config "+file, "two configurations are given, the other is "+words[0], "")
	case len(words) == 1:
		file = words[0]
	}
	byFlags := v.line["feed"] || v.line["url"]
	if byFlags && (len(words) == 1 || v.line["config"]) {
		return nil, problem.Misuse(file, "a configuration cannot be combined with --feed or --url",
			"leave the configuration out, or add the feed and URL to it as [feed.NAME] and [watch.NAME]")
	}
	if byFlags || file == "" && len(v.Feed)+len(v.URL) > 0 {
		return v.fromFlags(how)
	}
	for _, name := range []string{"dir", "require", "check-every", "key", "keyring", "smime-ca"} {
		if v.line[name] {
			return nil, problem.Misuse("--"+name, "cannot be combined with a configuration",
				"set it under [watch.NAME] in the configuration")
		}
	}
	if file == "" {
		if file = defaultConfig(); file == "" {
			return nil, problem.Misuse("watch", "missing configuration",
				"write braid watch CONFIG, or braid watch --feed URL --url URL --dir FOLDER")
		}
	}
	return v.fromFile(file, how)
}

// defaultConfig returns the path of watch.toml in the user's configuration folder for braid, or "" if the file is missing.
func defaultConfig() string {
	file := job.SettingsFile("watch.toml")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// toWatch is the reading for a command that watches.
func toWatch(dir string) watch.ConfigOptions {
	return watch.ConfigOptions{Dir: dir, Environment: os.LookupEnv, ReadFile: os.ReadFile}
}

// toAsk is the reading for a command that only sends requests to a watcher. It needs no secrets, and may be unable to
// read them.
func toAsk(dir string) watch.ConfigOptions { return watch.ConfigOptions{Dir: dir, NoSecrets: true} }

const mostConfig = 16 << 20

func (v *watchCommand) fromFile(file string, how reading) (*watch.Loaded, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	flag := "watch"
	if v.inDaemon {
		flag = "daemon --watch"
	}
	data, err := job.ReadFile(flag, file, mostConfig)
	if f, ok := errors.AsType[*problem.Problem](err); ok && v.inDaemon {
		f.Hint = cmp.Or(f.Hint, "check the name; braid watch --help shows an example")
	}
	if err != nil {
		return nil, err
	}
	c, err := v.fromText(file, path, data, how)
	if err == nil {
		c.Reread = func() (*watch.Loaded, error) { return v.fromFile(file, how) }
	}
	return c, err
}

// fromText parses data, the text of the configuration file.
func (v *watchCommand) fromText(file, path string, data []byte, how reading) (*watch.Loaded, error) {
	c, err := watch.ParseConfig(data, how(filepath.Dir(path)))
	if err != nil {
		return nil, watch.ConfigProblem(file, err)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return v.finish(&watch.Loaded{Config: c, File: file}, name, path)
}

func (v *watchCommand) fromFlags(how reading) (*watch.Loaded, error) {
	switch watched := len(v.URL) > 0; {
	case watched && v.Dir == "":
		return nil, problem.Misuse("watch", "missing folder for the files", "--dir FOLDER")
	case !watched && v.Publish == "":
		return nil, problem.Misuse("--feed", "no file to keep up to date is given for this feed",
			"give --url URL, or --publish FOLDER")
	}
	for _, u := range v.URL {
		if strings.Contains(u, "*") {
			continue
		}
		if _, err := job.ParseWebURL(u); err != nil {
			return nil, err
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c, err := watch.FromFlags(watch.Flags{
		Feeds: v.Feed, URLs: v.URL, Dir: v.Dir, Require: watch.Require(v.Require.Word),
		CheckEvery: time.Duration(v.CheckEvery),
		Keys:       v.Key, Keyrings: v.Keyring, Authorities: v.SMIMECA,
	}, how(here))
	if err != nil {
		return nil, watch.ConfigProblem("", err)
	}
	return v.finish(&watch.Loaded{Config: c, Said: v.said}, "flags",
		strings.Join(slices.Concat(v.Feed, v.URL, []string{filepath.Join(here, v.Dir)}), "\x00"))
}

// finish adds the values of flags to the configuration c and determines its state folder.
func (v *watchCommand) finish(c *watch.Loaded, name, identity string) (*watch.Loaded, error) {
	c.Command = &watch.Command{Agent: agent(), ExitCode: kindCode, Kind: exitKind, Worse: worse, Ended: endedBySignal}
	c.Hosts = append(c.Hosts, v.AllowHost...)
	c.NotHosts = append(c.NotHosts, v.NotHost...)
	c.GeoIPDB = cmp.Or(v.GeoIPDB, c.GeoIPDB)
	for i := range c.Watches {
		c.Watches[i].NoLookup = c.Watches[i].NoLookup || v.NoLookup
	}
	if v.Publish != "" {
		c.Publish.Dir = v.Publish
	}
	if v.Metrics != "" {
		c.Metrics = v.Metrics
	}
	if v.LogFormat.Word != "" {
		c.Log.Format = v.LogFormat.Word
	}
	switch {
	case v.Quiet:
		c.Log.Level = "warn"
	case v.Verbose:
		c.Log.Level = "debug"
	}
	switch {
	case v.State != "":
		c.Folder = v.State
	case c.Config.State != "":
		c.Folder = c.Config.State
	// systemd.exec(5). Only the first folder is used. In a daemon, that folder is for the daemon's queue.
	case os.Getenv("STATE_DIRECTORY") != "" && !v.inDaemon:
		c.Folder, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	default:
		dir := job.StateFolder()
		if dir == "" {
			return nil, problem.Misuse("watch", "missing folder for the state: neither HOME nor XDG_STATE_HOME is set",
				"set state = in the configuration, or use braid watch --state FOLDER")
		}
		own := fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(identity)))
		c.Folder = filepath.Join(dir, "watch", own)
	}
	return c, nil
}
