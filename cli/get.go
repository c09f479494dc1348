package cli

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"braid/download"
	"braid/download/state"
	"braid/metalink"
	"braid/source/torrentsource"
)

type getCommand struct {
	httpFlags
	anchorFlags
	streams
	common          download.Request // what all files have
	remoteName      bool
	location        locationFlags
	limit           *download.Limiter // of all files together
	maxTime         duration
	out, dir        string
	input           inputList
	atOnce          parallel
	mirrors, choose cli.StringSlice
	outputFlags
	require            choice
	perHost, split     number
	minSplit           size
	allocation         choice
	dryRun             bool
	reportPath         string
	overwrite, keep    bool
	goOn               bool
	newer              newerFlags
	peers              peerFlags
	onComplete         hook
	noMetalink, noFTP  bool
	noRemember         bool
	limitRate          rate
	lessProof          bool
	timeout, retryWait duration
	tries              number
	maxSize            size
	reporter           *reporter
	screen             *screen
	lines              *lineWriter
	lost               []*failure // files of documents that cannot be downloaded
	warnings           []string   // about the list
	notes              []string   // about documents and the list
	sums               sumsReader
	documents          []*download.Document // of operands
	folders            folders
}

func newGetCommand(s streams) *getCommand {
	return &getCommand{streams: s, outputFlags: newOutputFlags(s), input: inputList{in: s.in}}
}

func newGet(s streams) (action, targets) {
	g := newGetCommand(s)
	return g.run, g.targets()
}

func (g *getCommand) targets() targets {
	return merged(targets{
		"out":                       &g.out,
		"remote-name":               &g.remoteName,
		"dir":                       &g.dir,
		"input-file":                &g.input.name,
		"max-concurrent-downloads":  &g.atOnce,
		"overwrite":                 &g.overwrite,
		"continue":                  &g.goOn,
		"no-clobber":                &g.keep,
		"if-newer":                  &g.newer.ifNewer,
		"allow-older":               &g.newer.allowOlder,
		"remote-time":               &g.newer.remoteTime,
		"file-allocation":           &g.allocation,
		"max-size":                  &g.maxSize,
		"require":                   &g.require,
		"mirror":                    &g.mirrors,
		"select":                    &g.choose,
		"no-metalink":               &g.noMetalink,
		"no-ftp":                    &g.noFTP,
		"split":                     &g.split,
		"max-connection-per-server": &g.perHost,
		"min-split-size":            &g.minSplit,
		"limit-rate":                &g.limitRate,
		"allow-less-proof":          &g.lessProof,
		"no-remember":               &g.noRemember,
		"no-referer":                &g.noReferer,
		"timeout":                   &g.timeout,
		"max-time":                  &g.maxTime,
		"tries":                     &g.tries,
		"retry-wait":                &g.retryWait,
		"verbose":                   &g.verbose,
		"on-complete":               &g.onComplete,
		"dry-run":                   &g.dryRun,
		"report":                    &g.reportPath,
	}, g.location.targets(), g.peers.targets(), g.anchorFlags.targets(), g.httpFlags.targets(), g.outputFlags.targets())
}

// prepare reads the flags that are for all files.
func (g *getCommand) prepare() (err error) {
	g.common = download.Request{
		Overwrite: g.overwrite, Due: len(g.onComplete.args) > 0, Continue: g.goOn, NoMetalink: g.noMetalink, NoFTP: g.noFTP, Select: g.choose.Value(), LessProof: g.lessProof,
		Require: requirement(g.require.Word, g.anchorFlags.given()),
		IfNewer: g.newer.ifNewer, AllowOlder: g.newer.allowOlder, RemoteTime: g.newer.remoteTime, RemoteName: g.remoteName,
	}
	g.peers.apply(&g.common)
	if err := g.location.apply(&g.common, &g.proxies); err != nil {
		return err
	}
	if err := g.ask(&g.common, &g.anchorFlags); err != nil {
		return err
	}
	g.common.Mirrors, err = readAll(g.mirrors.Value(), g.mirrorURL)
	return err
}

// check refuses flags that contradict each other or the operands.
func (g *getCommand) check(words []string) error {
	several := len(words) > 1 || g.input.name != ""
	return firstMisuse([]wrongUse{
		{len(words) == 0 && g.input.name == "", "get", "no URL", "braid get --help"},
		{g.noMetalink && len(g.choose.Value()) > 0, "--select", "contradicts --no-metalink", ""},
		{several && g.out != "", "-o", "one name for several files", "-d FOLDER takes them all; out=NAME in a list (-i) names one"},
		{several && g.digested() != "", g.digested(), "one digest for several files", "--checksums LIST has one for each, or checksum=sha-256=HEX in a list (-i)"},
		{several && g.checksums == "" && g.names(), "--signature", "a signature of one file, and there are several", "--signature .asc is beside each"},
		{several && len(g.mirrors.Value()) > 0, "--mirror", "a mirror of one file, and there are several", "in a list (-i) mirrors follow the URL, with tabs between"},
		{g.remoteName && g.out != "", "--remote-name", "contradicts -o", ""},
		{g.overwrite && g.keep, "--overwrite", "contradicts --no-clobber", ""},
		{g.newer.ifNewer && g.keep, "-N", "contradicts --no-clobber", ""},
		{len(g.onComplete.args) > 0 && g.out == "-", "--on-complete", "the file goes to standard output", "-o NAME"},
		{g.newer.ifNewer && g.out == "-", "-N", "the file goes to standard output", "-o NAME"},
		{g.quiet && g.verbose, "-q", "contradicts -v", ""},
		{g.out == "-" && g.json, "--json", "the file goes to standard output", "-o NAME"},
		{g.out == "-" && g.dir != "", "-d", "the file goes to standard output", ""},
		{g.peers.seeds() && g.out == "-", "--seed-time", "the file goes to standard output", "-o NAME"},
		{g.peers.seeds() && g.peers.mode.Word == peersOff, "--seed-time", "contradicts --bittorrent off", ""},
		{g.reportPath == "-", "--report", "a page needs a file", "--report FILE.html"},
		{g.reportPath != "" && filepath.Clean(g.reportPath) == g.named(), "--report", "that is the name of the file itself", "--report FILE.html"},
		{strings.HasSuffix(g.out, "/"), "-o", "names a folder", "-d FOLDER, and -o NAME for the name in it"},
	})
}

var allocations = map[string]download.Allocation{"prealloc": download.AllocateMust, "falloc": download.AllocateTry}

// requirement is what must be proven: who says whom he trusts wants a signature, unless he says otherwise (rule 47).
func requirement(word string, trusts bool) download.Require {
	switch {
	case word == "digest":
		return download.RequireDigest
	case word == "signature", word == "" && trusts:
		return download.RequireSignature
	}
	return download.RequireNothing
}

// target is where the file of an operand goes.
func (g *getCommand) target() (dir, name string, stream io.Writer) {
	if g.out == "-" {
		return "", "", g.streams.out
	}
	dir, name = placed(g.dir, g.out)
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
	if g.out == "" || g.out == "-" {
		return ""
	}
	dir, name, _ := g.target()
	return filepath.Join(dir, name)
}

func (g *getCommand) client(words []string) (*download.Client, error) {
	hc, err := g.httpFlags.client(slices.Concat(words, g.mirrors.Value(), g.signatures.Value(), []string{g.checksums})...)
	hc.HeaderTimeout = time.Duration(g.timeout)
	c := &download.Client{
		HTTP: hc, PerHost: int(g.perHost), Split: int(g.split), MinSplit: int64(g.minSplit), Allocation: allocations[g.allocation.Word], Tries: int(g.tries),
		Timeout: time.Duration(g.timeout), RetryWait: time.Duration(g.retryWait), MaxSize: int64(g.maxSize),
		Swarms: torrentsource.Plug(g.peers.address(), g.peers.noDHT), Credentials: g.login,
		State: &state.Store{Dir: stateFolder(), PinsOnly: g.noRemember}, JournalKey: journalKey(),
	}
	if g.limitRate > 0 {
		c.Limit = download.NewLimit(int64(g.limitRate))
		g.limit = c.Limit
	}
	return c, err
}

func (g *getCommand) placeURL(word string) (*url.URL, error) {
	u, err := placeURL(word)
	if err == nil && g.noFTP && metalink.IsFTP(u) {
		return nil, misuse(maskWord(word), "FTP is off", "leave out --no-ftp")
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

// yield drops what the settings and the environment say of files where the command line wants the bytes on standard output: it is for
// other downloads. On the command line it would be a mistake.
func (g *getCommand) yield(c *configuration) {
	if g.out != "-" || !c.line["out"] {
		return
	}
	if !c.line["json"] {
		g.json = false
	}
	if !c.line["dir"] {
		g.dir = ""
	}
	if !c.line["if-newer"] {
		g.newer.ifNewer = false
	}
	if !c.line["on-complete"] {
		g.onComplete.args = nil
	}
	if !c.line["seed-time"] && !c.line["seed-ratio"] {
		g.peers.ratio, g.peers.time = 0, 0
	}
}

// newerFlags say what becomes of a file that is there (rule 54).
type newerFlags struct{ ifNewer, allowOlder, remoteTime bool }
