package cli

import (
	"path/filepath"
	"strings"

	"braid/download"
	"braid/internal/hook"
	"braid/internal/job"
	"braid/internal/plug/objectstore"
	"braid/internal/render"
)

// A getCommand is one run of braid get: its options and its state.
type getCommand struct {
	Job *job.Defaults
	streams
	outputFlags
	MaxTime                duration
	MaxConcurrentDownloads parallel
	Priority               choice
	DryRun                 bool
	Report                 string
	NoClobber              bool
	OnComplete             hook.Command
	Fleet                  fleetFlags

	page    *render.Page
	screen  *render.Screen
	lines   *render.JSONWriter
	folders folders
	ended   func(file int, r download.Request, x download.Result, err error) // may be nil
}

func newGetCommand(s streams) *getCommand {
	return &getCommand{Job: newDefaults(s), streams: s, outputFlags: newOutputFlags(s)}
}

// newDefaults returns the download options of a command with their default values.
func newDefaults(s streams) *job.Defaults {
	return &job.Defaults{Options: job.Options{Input: job.Input{Stdin: s.in}}, Stdout: s.out, Agent: agent()}
}

func newGet(s streams) (action, targets) {
	g := newGetCommand(s)
	return g.run, targetsOf(g)
}

// check rejects flags that contradict other flags or the operands.
func (g *getCommand) check(words []string) error {
	several := len(words) > 1 || g.Job.Input.InputFile != ""
	return firstMisuse(append(g.objectMisuses(), []wrongUse{
		{len(words) == 0 && g.Job.Input.InputFile == "", "get", "no URL", "braid get --help"},
		{g.Priority.Word != "" && g.Fleet.Queue == "", "--priority", "applies only to jobs in a queue", "--queue embedded"},
		{g.Job.NoMetalink && len(g.Job.Select) > 0, "--select", "contradicts --no-metalink", ""},
		{several && g.Job.Out != "", "-o", "one name for several files",
			"-d FOLDER takes them all; out=NAME in a list (-i) names one"},
		{several && g.Job.HTTP.DigestOption() != "", g.Job.HTTP.DigestOption(), "one digest for several files",
			"--checksums LIST has one for each, or checksum=sha-256=HEX in a list (-i)"},
		{several && g.Job.HTTP.Checksums == "" && g.Job.Anchors.NamesOne(), "--signature",
			"names a signature of one file, and there are several", "--signature .asc is beside each"},
		{several && len(g.Job.Mirror) > 0, "--mirror", "names a mirror of one file, and there are several",
			"in a list (-i) mirrors follow the URL, with tabs between"},
		{g.Job.RemoteName && g.Job.Out != "", "--remote-name", "contradicts -o", ""},
		{g.Job.Overwrite && g.NoClobber, "--overwrite", "contradicts --no-clobber", ""},
		{g.Job.Rename && g.NoClobber, "--rename", "contradicts --no-clobber", ""},
		{several && g.Job.Refresh, "--refresh", "one part file for several URLs",
			"braid get --refresh -o NAME URL resumes NAME.part"},
		{g.Job.Refresh && g.Job.Out == "-", "--refresh", "the file goes to standard output", "-o NAME"},
		{g.Job.Newer.IfNewer && g.NoClobber, "-N", "contradicts --no-clobber", ""},
		{g.OnComplete.Given() && g.Job.Out == "-", "--on-complete", "the file goes to standard output", "-o NAME"},
		{g.Job.Newer.IfNewer && g.Job.Out == "-", "-N", "the file goes to standard output", "-o NAME"},
		{g.Quiet && g.Verbose, "-q", "contradicts -v", ""},
		{g.Job.Out == "-" && g.JSON, "--json", "the file goes to standard output", "-o NAME"},
		{g.Job.Out == "-" && g.Job.Dir != "", "-d", "the file goes to standard output", ""},
		{g.Job.Peers.Seeds() && g.Job.Out == "-", "--seed-time", "the file goes to standard output", "-o NAME"},
		{g.Job.Peers.Seeds() && g.Job.Peers.Bittorrent.Word == job.PeersOff, "--seed-time",
			"conflicts with --bittorrent off", ""},
		{g.Report == "-", "--report", "needs a file for the page", "--report FILE.html"},
		{g.Report != "" && filepath.Clean(g.Report) == g.Job.Named(), "--report", "this is the name of the file itself",
			"--report FILE.html"},
		{strings.HasSuffix(g.Job.Out, "/") && objectstore.IsURL(g.Job.Out), "-o", "names no object",
			"--to " + g.Job.Out + " puts files below it"},
		{strings.HasSuffix(g.Job.Out, "/"), "-o", "names a folder", "-d FOLDER, and -o NAME for the name in it"},
	}...))
}

// yield drops options of the settings and the environment that contradict the destination on the command line, because
// these options are meant for other downloads. On the command line such a contradiction is an error.
func (g *getCommand) yield(c *job.Settings) {
	switch objects := c.Line["to"] || objectstore.IsURL(g.Job.Out); {
	case objects && !c.Line["dir"]:
		g.Job.Dir = ""
	case !objects && (c.Line["dir"] || g.Job.Out == "-"):
		g.Job.To = ""
	}
	if g.Job.Out != "-" || !c.Line["out"] {
		return
	}
	if !c.Line["json"] {
		g.JSON = false
	}
	if !c.Line["dir"] {
		g.Job.Dir = ""
	}
	if !c.Line["if-newer"] {
		g.Job.Newer.IfNewer = false
	}
	if !c.Line["on-complete"] {
		g.OnComplete.Forget()
	}
	if !c.Line["seed-time"] && !c.Line["seed-ratio"] {
		g.Job.Peers.SeedRatio, g.Job.Peers.SeedTime = 0, job.SeedTime{}
	}
}

// agent returns the name and version of this program for object stores.
func agent() string { return "braid/" + thisBuild().version }

// objectMisuses returns the misuses of flags with a destination in an object store.
func (g *getCommand) objectMisuses() []wrongUse {
	if g.Job.To == "" && !objectstore.IsURL(g.Job.Out) {
		return nil
	}
	what := "--to"
	if g.Job.To == "" {
		what = "-o"
	}
	return []wrongUse{
		{g.Job.To != "" && !objectstore.IsURL(g.Job.To), "--to", "not a place in an object store",
			"--to s3://BUCKET/PREFIX/; -d FOLDER puts files into a folder"},
		{g.Job.To != "" && objectstore.IsURL(g.Job.Out), "--to", "contradicts -o s3://...",
			"-o NAME is below the prefix of --to"},
		{g.Job.To != "" && g.Job.Out == "-", "--to", "the file goes to standard output", ""},
		{g.Job.Dir != "", what, "contradicts -d", ""},
		{g.Job.Rename, "--rename", "an object has the name of its URL",
			"--overwrite replaces it, --no-clobber keeps it"},
		{g.Job.Newer.RemoteTime, "--remote-time", "an object has no date of its own",
			"the server's date is in NAME.evidence.json beside it"},
		{g.Job.Refresh, "--refresh", "resumes a part file, and an upload has none", ""},
		{g.Job.Peers.Seeds(), "--seed-time", "the file is not on this disk", ""},
	}
}
