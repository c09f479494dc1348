package cli

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/download"
	"braid/download/state"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/objectstore"
	"braid/source/torrentsource"
)

// A getCommand is one run of braid get: its options, and what comes of them.
type getCommand struct {
	httpFlags
	anchorFlags
	streams
	RemoteName             bool
	Location               locationFlags
	MaxTime                duration
	Out, Dir, To           string
	Input                  inputList
	MaxConcurrentDownloads parallel
	Mirror, Select         option.WordsValue
	outputFlags
	Require, Priority             choice
	MaxConnectionPerServer, Split number
	MinSplitSize                  size
	FileAllocation                choice
	DryRun                        bool
	Report                        string
	Overwrite, NoClobber, Rename  bool
	Continue, Refresh             bool
	Newer                         newerFlags
	Peers                         peerFlags
	OnComplete                    hook
	NoMetalink, NoFTP             bool
	NoRemember                    bool
	LimitRate                     rates
	AllowLessProof                bool
	Timeout, RetryWait            duration
	Tries                         number
	MaxSize                       size
	Fleet                         fleetFlags

	common    download.Request  // what all files have
	limit     *download.Limiter // of all files together
	reporter  *reporter
	screen    *screen
	lines     *lineWriter
	lost      []*problem.Problem // files of documents that cannot be downloaded
	warnings  []string           // about the list
	notes     []string           // about documents and the list
	sums      sumsReader
	documents []*download.Document // of operands
	folders   folders
	objects   objectPlace
	integrity bool                                                             // a file that is there and has not the digest that is given is replaced, as aria2c -V has it
	each      string                                                           // the limit of each download, as a list has it
	ended     func(file int, r download.Request, x download.Result, err error) // may be nil
}

func newGetCommand(s streams) *getCommand {
	return &getCommand{streams: s, outputFlags: newOutputFlags(s), Input: inputList{in: s.in}}
}

func newGet(s streams) (action, targets) {
	g := newGetCommand(s)
	return g.run, targetsOf(g)
}

// prepare reads the flags that are for all files.
func (g *getCommand) prepare() (err error) {
	g.common = download.Request{
		Overwrite: g.Overwrite, Rename: g.Rename, Due: len(g.OnComplete.args) > 0, Continue: g.Continue,
		Refresh: g.Refresh, NoMetalink: g.NoMetalink, NoFTP: g.NoFTP, Select: g.Select, LessProof: g.AllowLessProof,
		Require: g.demand().require,
		IfNewer: g.Newer.IfNewer, AllowOlder: g.Newer.AllowOlder, RemoteTime: g.Newer.RemoteTime, RemoteName: g.RemoteName,
	}
	g.Peers.apply(&g.common)
	if err := g.Location.apply(&g.common, &g.Proxies); err != nil {
		return err
	}
	if err := g.addEvidence(&g.common, &g.anchorFlags); err != nil {
		return err
	}
	if g.common.Mirrors, err = readAll(g.Mirror, g.mirrorURL); err != nil {
		return err
	}
	return g.objects.open(g)
}

// check refuses flags that contradict each other or the operands.
func (g *getCommand) check(words []string) error {
	several := len(words) > 1 || g.Input.InputFile != ""
	return firstMisuse(append(g.objects.misuses(g), []wrongUse{
		{len(words) == 0 && g.Input.InputFile == "", "get", "no URL", "braid get --help"},
		{g.Priority.Word != "" && g.Fleet.Queue == "", "--priority", "is that of jobs in a queue", "--queue embedded"},
		{g.NoMetalink && len(g.Select) > 0, "--select", "contradicts --no-metalink", ""},
		{several && g.Out != "", "-o", "one name for several files",
			"-d FOLDER takes them all; out=NAME in a list (-i) names one"},
		{several && g.digested() != "", g.digested(), "one digest for several files",
			"--checksums LIST has one for each, or checksum=sha-256=HEX in a list (-i)"},
		{several && g.Checksums == "" && g.names(), "--signature", "a signature of one file, and there are several",
			"--signature .asc is beside each"},
		{several && len(g.Mirror) > 0, "--mirror", "a mirror of one file, and there are several",
			"in a list (-i) mirrors follow the URL, with tabs between"},
		{g.RemoteName && g.Out != "", "--remote-name", "contradicts -o", ""},
		{g.Overwrite && g.NoClobber, "--overwrite", "contradicts --no-clobber", ""},
		{g.Rename && g.NoClobber, "--rename", "contradicts --no-clobber", ""},
		{several && g.Refresh, "--refresh", "one part file for several URLs",
			"braid get --refresh -o NAME URL goes on with NAME.part"},
		{g.Refresh && g.Out == "-", "--refresh", "the file goes to standard output", "-o NAME"},
		{g.Newer.IfNewer && g.NoClobber, "-N", "contradicts --no-clobber", ""},
		{len(g.OnComplete.args) > 0 && g.Out == "-", "--on-complete", "the file goes to standard output", "-o NAME"},
		{g.Newer.IfNewer && g.Out == "-", "-N", "the file goes to standard output", "-o NAME"},
		{g.Quiet && g.Verbose, "-q", "contradicts -v", ""},
		{g.Out == "-" && g.JSON, "--json", "the file goes to standard output", "-o NAME"},
		{g.Out == "-" && g.Dir != "", "-d", "the file goes to standard output", ""},
		{g.Peers.seeds() && g.Out == "-", "--seed-time", "the file goes to standard output", "-o NAME"},
		{g.Peers.seeds() && g.Peers.Bittorrent.Word == peersOff, "--seed-time", "contradicts --bittorrent off", ""},
		{g.Report == "-", "--report", "a page needs a file", "--report FILE.html"},
		{g.Report != "" && filepath.Clean(g.Report) == g.named(), "--report", "that is the name of the file itself",
			"--report FILE.html"},
		{strings.HasSuffix(g.Out, "/") && objectstore.IsURL(g.Out), "-o", "names no object",
			"--to " + g.Out + " puts files below it"},
		{strings.HasSuffix(g.Out, "/"), "-o", "names a folder", "-d FOLDER, and -o NAME for the name in it"},
	}...))
}

var allocations = map[string]download.Allocation{"prealloc": download.AllocateMust, "falloc": download.AllocateTry}

// target is where the file of an operand goes.
func (g *getCommand) target() (dir, name string, stream io.Writer) {
	if g.Out == "-" {
		return "", "", g.streams.out
	}
	if g.common.Store != nil {
		return "", g.objects.name, nil
	}
	dir, name = placed(g.Dir, g.Out)
	return dir, name, nil
}

// placed is where a file goes. The user's own folders are in dir, so that they may be symbolic links (rule 5).
func placed(dir, out string) (string, string) {
	switch {
	case out == "":
		return dir, ""
	case dir == "" || filepath.IsAbs(out):
		return filepath.Dir(out), filepath.Base(out)
	}
	path := filepath.Join(dir, out)
	return filepath.Dir(path), filepath.Base(path)
}

// named is the path of the file, if the user says it.
func (g *getCommand) named() string {
	if g.Out == "" || g.Out == "-" || g.common.Store != nil {
		return ""
	}
	dir, name, _ := g.target()
	return filepath.Join(dir, name)
}

func (g *getCommand) client(words []string) (*download.Client, error) {
	hc, err := g.httpFlags.client(slices.Concat(words, g.Mirror, g.Signature, []string{g.Checksums})...)
	hc.HeaderTimeout = time.Duration(g.Timeout)
	c := &download.Client{
		HTTP: hc, PerHost: int(g.MaxConnectionPerServer), Split: int(g.Split), MinSplit: int64(g.MinSplitSize),
		Allocation: allocations[g.FileAllocation.Word], Tries: int(g.Tries),
		Timeout: time.Duration(g.Timeout), RetryWait: time.Duration(g.RetryWait), MaxSize: int64(g.MaxSize),
		Swarms: torrentsource.Plug(g.Peers.address(), g.Peers.NoDHT), Credentials: g.login,
		State: &state.Store{Dir: stateFolder(), PinsOnly: g.NoRemember}, JournalKey: journalKey(),
	}
	g.limit = g.sites.limits.of(g.LimitRate)
	c.Limit = g.limit
	if err == nil {
		c.HostLimits, err = g.sites.limitHosts(&g.pace)
	}
	return c, err
}

func (g *getCommand) placeURL(word string) (*url.URL, error) {
	u, err := placeURL(word)
	if err == nil && g.NoFTP && address.SchemeOf(u).Family == "ftp" {
		return nil, problem.Misuse(maskWord(word), "FTP is off", "leave out --no-ftp")
	}
	if err == nil {
		err = refuseExcluded(g.common.Not, u)
	}
	return u, err
}

func (g *getCommand) mirrorURL(word string) (*url.URL, error) {
	u, err := g.placeURL(word)
	if err == nil {
		err = g.checkLogin(u)
	}
	return u, err
}

func readAll(words []string, read func(word string) (*url.URL, error)) (urls []*url.URL, err error) {
	for _, word := range words {
		u, err := read(word)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// yield drops what the settings and the environment say of files where the command line wants the bytes elsewhere: it
// is for other downloads. On the command line it would be a mistake.
func (g *getCommand) yield(c *configuration) {
	switch objects := c.line["to"] || objectstore.IsURL(g.Out); {
	case objects && !c.line["dir"]:
		g.Dir = ""
	case !objects && (c.line["dir"] || g.Out == "-"):
		g.To = ""
	}
	if g.Out != "-" || !c.line["out"] {
		return
	}
	if !c.line["json"] {
		g.JSON = false
	}
	if !c.line["dir"] {
		g.Dir = ""
	}
	if !c.line["if-newer"] {
		g.Newer.IfNewer = false
	}
	if !c.line["on-complete"] {
		g.OnComplete.args = nil
	}
	if !c.line["seed-time"] && !c.line["seed-ratio"] {
		g.Peers.SeedRatio, g.Peers.SeedTime = 0, seedTime{}
	}
}

// newerFlags say what becomes of a file that is there (rule 54).
type newerFlags struct{ IfNewer, AllowOlder, RemoteTime bool }
