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
	ended   func(file int, r download.Request, x download.Result, err error) // called after each download; may be nil
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

// check rejects flags that contradict each other or the operands.
func (g *getCommand) check(words []string) error {
	several := len(words) > 1 || g.Job.Input.InputFile != ""
	return firstMisuse(append(g.objectMisuses(), []wrongUse{
		{len(words) == 0 && g.Job.Input.InputFile == "", "get", "no URL", "see braid get --help"},
		{g.Priority.Word != "" && g.Fleet.Queue == "", "--priority", "applies only to jobs in a queue", "--queue embedded"},
		{g.Job.NoMetalink && len(g.Job.Select) > 0, "--select", "contradicts --no-metalink", ""},
		{several && g.Job.Out != "", "-o", "this is the name of one file, but several files are given",
			"choose a folder for all files with -d FOLDER, or name each with out=NAME in a list (-i)"},
		{several && g.Job.HTTP.DigestOption() != "", g.Job.HTTP.DigestOption(),
			"this is the digest of one file, but several files are given",
			"give a digest for each file with --checksums LIST, or with checksum=sha-256=HEX in a list (-i)"},
		{several && g.Job.HTTP.Checksums == "" && g.Job.Anchors.NamesOne(), "--signature",
			"this signature is of one file, but several files are given",
			"for a signature beside each file, use --signature .asc"},
		{several && len(g.Job.Mirror) > 0, "--mirror", "this mirror has only one file, but several files are given",
			"to give mirrors of several files, use a list (-i): each line has a URL and its mirrors, separated by tabs"},
		{g.Job.RemoteName && g.Job.Out != "", "--remote-name", "contradicts -o", ""},
		{g.Job.Overwrite && g.NoClobber, "--overwrite", "contradicts --no-clobber", ""},
		{g.Job.Rename && g.NoClobber, "--rename", "contradicts --no-clobber", ""},
		{several && g.Job.Refresh, "--refresh", "only one URL can resume a part file",
			"to resume NAME.part, use braid get --refresh -o NAME URL"},
		{g.Job.Refresh && g.Job.Out == "-", "--refresh",
			"cannot be combined with -o -, which writes to standard output", "-o NAME"},
		{g.Job.Newer.IfNewer && g.NoClobber, "-N", "contradicts --no-clobber", ""},
		{g.OnComplete.Given() && g.Job.Out == "-", "--on-complete",
			"cannot be combined with -o -, which writes to standard output", "-o NAME"},
		{g.Job.Newer.IfNewer && g.Job.Out == "-", "-N",
			"cannot be combined with -o -, which writes to standard output", "-o NAME"},
		{g.Quiet && g.Verbose, "-q", "contradicts -v", ""},
		{g.Job.Out == "-" && g.JSON, "--json", "cannot be combined with -o -, which writes to standard output", "-o NAME"},
		{g.Job.Out == "-" && g.Job.Dir != "", "-d", "cannot be combined with -o -, which writes to standard output", ""},
		{g.Job.Peers.Seeds() && g.Job.Out == "-", "--seed-time",
			"cannot be combined with -o -, which writes to standard output", "-o NAME"},
		{g.Job.Peers.Seeds() && g.Job.Peers.Bittorrent.Word == job.PeersOff, "--seed-time",
			"conflicts with --bittorrent off", ""},
		{g.Report == "-", "--report", "needs the name of a file", "--report FILE.html"},
		{g.Report != "" && filepath.Clean(g.Report) == g.Job.Named(), "--report",
			"the page and the downloaded file have the same name",
			"--report FILE.html"},
		{strings.HasSuffix(g.Job.Out, "/") && objectstore.IsURL(g.Job.Out), "-o",
			"a URL that ends with a slash is a prefix, not an object",
			"to put files below this prefix, use --to " + g.Job.Out},
		{strings.HasSuffix(g.Job.Out, "/"), "-o", "a name that ends with a slash is a folder",
			"choose the folder with -d FOLDER and the name with -o NAME"},
	}...))
}

// yield resets options from the settings and the environment that contradict the destination on the command line: they
// are meant for other downloads. A contradicting option on the command line is an error instead.
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

// agent returns the name and version of this program, as object stores receive them.
func agent() string { return "braid/" + thisBuild().version }

// objectMisuses returns the misuses of flags if the destination is an object store.
func (g *getCommand) objectMisuses() []wrongUse {
	if g.Job.To == "" && !objectstore.IsURL(g.Job.Out) {
		return nil
	}
	what := "--to"
	if g.Job.To == "" {
		what = "-o"
	}
	return []wrongUse{
		{g.Job.To != "" && !objectstore.IsURL(g.Job.To), "--to", "is not a URL of the form s3://BUCKET/PREFIX/",
			"write --to s3://BUCKET/PREFIX/; for a folder on disk, use -d FOLDER"},
		{g.Job.To != "" && objectstore.IsURL(g.Job.Out), "--to", "contradicts -o s3://...",
			"with --to, give only the name below its prefix: -o NAME"},
		{g.Job.To != "" && g.Job.Out == "-", "--to", "cannot be combined with -o -, which writes to standard output", ""},
		{g.Job.Dir != "", what, "contradicts -d", ""},
		{g.Job.Rename, "--rename", "does not apply to objects: an object is named after its URL",
			"replace an existing object with --overwrite, or keep it with --no-clobber"},
		{g.Job.Newer.RemoteTime, "--remote-time", "the date of an object cannot be set",
			"leave it out: the server's date is in the object NAME.evidence.json"},
		{g.Job.Refresh, "--refresh", "applies only to downloads to disk", ""},
		{g.Job.Peers.Seeds(), "--seed-time", "files in an object store are not uploaded to peers", ""},
	}
}
