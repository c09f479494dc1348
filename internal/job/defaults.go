package job

import (
	"context"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"braid/address"
	"braid/download"
	"braid/download/limit"
	"braid/download/state"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
)

// Options holds the command line, environment and settings for all downloads of a run. Each field is named after its option.
type Options struct {
	HTTP                         HTTP
	Anchors                      Anchors
	Location                     Location
	Newer                        Newer
	Peers                        Peers
	Transfer                     Transfer
	Input                        Input
	Out, Dir, To                 string
	Mirror, Select               option.WordsValue
	Require                      option.ChoiceValue
	RemoteName, Rename           bool
	Overwrite, Continue, Refresh bool
	NoMetalink, NoFTP            bool
	AllowLessProof, NoLookup     bool
}

// Transfer holds the options of transfers: connections, sizes, rates, timeouts and retries.
type Transfer struct {
	MaxConnectionPerServer, Split option.NumberValue
	MinSplitSize, MaxSize         option.SizeValue
	FileAllocation                option.ChoiceValue
	LimitRate                     option.RatesValue
	Timeout, RetryWait            option.TimeValue
	Tries                         option.NumberValue
	NoRemember                    bool
}

// Newer holds the options for a file that already exists, and for the modification time.
type Newer struct{ IfNewer, AllowOlder, RemoteTime bool }

// Defaults holds the options for all downloads of a run, and values computed from them. The exported fields must be set
// before Prepare is called.
type Defaults struct {
	Options
	Stdout io.Writer // receives the file of "-o -"
	Agent  string    `option:"-"` // program name and version, for object stores
	Due    bool      `option:"-"` // a program runs after each file; see download.Request.Due
	Queued bool      `option:"-"` // other processes download the files
	// OfClients reports that the URLs of entries come from clients of a service or from users of a queue.
	OfClients bool   `option:"-"`
	Limit     string `option:"-"` // limit-rate of each download, in the syntax of lists
	// Integrity makes a download replace an existing file with a wrong digest, as aria2c -V does.
	Integrity bool `option:"-"`
	Notes     StoreNotes
	Published metalink.File `option:"-"` // statements of a feed about the only file; see download.Request.Published

	common download.Request // fields that the requests for all files share
	limit  *limit.Limiter   // limit of all downloads together
	sums   *Sums
	object string // name of the only object, from -o
}

// Prepare evaluates the options that apply to all files. client will download these files.
func (d *Defaults) Prepare(client *download.Client) error {
	if err := d.read(); err != nil {
		return err
	}
	if !HasPeers && (d.Peers.Bittorrent.Word == peersOnly || d.Peers.Seeds()) {
		return problem.LeftOut("--bittorrent", problem.NoTorrent)
	}
	if d.common.Peers = client.Peers(d.common.Peers); d.common.Peers == download.PeersHidden && d.Peers.Seeds() {
		return problem.Misuse("--seed-time", "peers would see the address of this machine, which the proxy hides",
			"to use peers nevertheless, give --bittorrent only")
	}
	if d.HTTP.Sites.Any() {
		return nil
	}
	return RequireKeys(&d.common)
}

func (d *Defaults) read() (err error) {
	d.common = download.Request{
		IfExists: download.IfExists{
			Overwrite:  d.Overwrite,
			Rename:     d.Rename,
			Continue:   d.Continue,
			Refresh:    d.Refresh,
			IfNewer:    d.Newer.IfNewer,
			AllowOlder: d.Newer.AllowOlder,
		},
		Due: d.Due, NoMetalink: d.NoMetalink, Access: download.Access{NoFTP: d.NoFTP}, Select: d.Select,
		Trust:      download.Trust{LessProof: d.AllowLessProof, Lookup: !d.NoLookup, Require: d.demand().Require},
		RemoteTime: d.Newer.RemoteTime, RemoteName: d.RemoteName, Published: d.Published,
	}
	d.Peers.apply(&d.common)
	if err := d.Location.apply(&d.common, &d.HTTP.Proxies); err != nil {
		return err
	}
	if err := d.HTTP.AddEvidence(&d.common, &d.Anchors); err != nil {
		return err
	}
	if d.common.Mirrors, err = ParseURLs(d.Mirror, d.mirrorURL); err != nil {
		return err
	}
	if d.common.Trust.Claims, err = claimsOfMirrors(d.Mirror, d.common.Trust.Claims); err != nil {
		return err
	}
	if err = d.HTTP.Sites.bind(&d.common, nil); err != nil { // a local document has no URL of its own that may be bound to keys
		return err
	}
	return openStore(d)
}

var allocations = map[string]download.Allocation{"prealloc": download.AllocateMust, "falloc": download.AllocateTry}

// Client returns the client for all downloads. words are URLs that the user typed.
func (d *Defaults) Client(words ...string) (*download.Client, error) {
	t := &d.Transfer
	hc, err := d.HTTP.Client(slices.Concat(words, d.Mirror, d.Anchors.Signature, []string{d.HTTP.Checksums})...)
	hc.HeaderTimeout = time.Duration(t.Timeout)
	c := &download.Client{
		HTTP: hc, PerHost: int(t.MaxConnectionPerServer), Split: int(t.Split), MinSplit: int64(t.MinSplitSize),
		Allocation: allocations[t.FileAllocation.Word], Tries: int(t.Tries),
		Timeout: time.Duration(t.Timeout), RetryWait: time.Duration(t.RetryWait), MaxSize: int64(t.MaxSize),
		Swarms: d.Peers.swarms(), Credentials: d.HTTP.login,
		State: &state.Store{Dir: StateFolder(), PinsOnly: t.NoRemember}, JournalKey: JournalKey(),
	}
	if d.OfClients {
		c.Credentials = d.HTTP.loginOfClient
	}
	d.HTTP.Sites.AddForges(c)
	d.limit = d.HTTP.Sites.Limits.Of(t.LimitRate)
	c.Limit = d.limit
	if err == nil {
		c.HostLimits, err = d.HTTP.Sites.LimitHosts(&d.HTTP.Pace)
	}
	return c, err
}

// Within makes l limit all downloads together.
func (d *Defaults) Within(l *limit.Limiter) { d.limit = l }

// ReadSums reads the list of --checksums and verifies its signature. operands are URLs that the user typed.
func (d *Defaults) ReadSums(ctx context.Context, client *download.Client, operands []string) (err error) {
	d.sums, err = ReadSums(ctx, client, &d.HTTP, &d.Anchors, d.common, operands)
	return err
}

// demand returns the proof that the command line, the environment and the general settings require.
func (d *Defaults) demand() demand { return d.HTTP.Sites.Demand(d.Require.Word, &d.Anchors) }

// Files returns the paths of the input files that the options name.
func (d *Defaults) Files() []string {
	return slices.Concat(d.Anchors.files(), d.HTTP.Trust.files(), d.HTTP.Sites.Files(),
		[]string{d.HTTP.Checksums, d.Location.GeoIPDB, d.HTTP.NetrcFile, d.HTTP.LoadCookies})
}

// ForSite applies to r the settings of the site of r.URL. These cannot change the required proof here.
func (d *Defaults) ForSite(r *download.Request) error {
	return d.HTTP.Sites.Apply(r, r.URL, true, d.limit)
}

// ofOperand returns a request with the fields that the requests for all files share, and the destination of an operand's
// file: folder and name, or a stream.
func (d *Defaults) ofOperand() download.Request {
	r := d.common
	switch {
	case d.Out == "-":
		r.Stream = d.Stdout
	case r.Store != nil:
		r.Name = d.object
	default:
		r.Dir, r.Name = placed(d.Dir, d.Out)
	}
	return r
}

// placed returns the folder and the name of a file. If out, the user's name for the file, contains folders, they become
// part of the folder. Therefore they may be symbolic links (rule 5).
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

// Named returns the path that the user chose for the only file, or "" if -o is not given or is "-".
func (d *Defaults) Named() string {
	if d.Out == "" || d.Out == "-" {
		return ""
	}
	dir, name := placed(d.Dir, d.Out)
	return filepath.Join(dir, name)
}

func (d *Defaults) placeURL(word string) (*url.URL, error) {
	u, err := ParseURL(word)
	if err == nil && d.NoFTP && address.SchemeOf(u).Family == "ftp" {
		return nil, problem.Misuse(MaskWord(word), "FTP URLs are excluded by --no-ftp", "leave out --no-ftp")
	}
	if err == nil {
		err = CheckExcluded(d.common.Access.Not, u)
	}
	return u, err
}

func (d *Defaults) mirrorURL(word string) (*url.URL, error) {
	u, err := d.placeURL(word)
	if err == nil {
		err = d.HTTP.checkLogin(u)
	}
	return u, err
}

// ParseURLs calls read for each word and returns the URLs.
func ParseURLs(words []string, read func(word string) (*url.URL, error)) (urls []*url.URL, err error) {
	for _, word := range words {
		u, err := read(word)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}
