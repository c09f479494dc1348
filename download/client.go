// Package download brings one file from many sources to disk and proves that it is the right one.
//
//	var c download.Client
//	result, err := c.Get(ctx, download.Request{URL: u, Dir: "isos", Require: download.RequireDigest})
//	...
//	fmt.Println(result.Path, result.Proof) // isos/disk.iso sha-256 from Digest over https
//
// It owns what the pure packages must not have: goroutines, sockets (through package source), the part
// file (through package partfile) and the clock. What is fetched from whom is decided by package
// scheduler; whether the file is right is decided by package verify, and without a [verify.Proof] no
// file gets its final name.
package download

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"braid/download/state"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A Client downloads files. The zero value works. It may be used by several goroutines and must not be
// changed after first use.
type Client struct {
	// HTTP makes the requests. If nil, every Get has one of its own with the defaults. What it says of timeouts, TLS and
	// hosts holds for FTP, too.
	HTTP *httpsource.Client
	// Credentials are name and password for an FTP server that the user named without a password; see ftpsource.Client.
	Credentials func(u *url.URL) *url.Userinfo
	// PerHost limits concurrent requests for one file at one host. If zero, it is 1, the rule of RFC 6249, section 7.
	PerHost int
	// Split limits the sources in use at once. If zero, it is 16.
	Split int
	// Tries limits attempts at one source without progress. If zero, it is 20, and 5 as long as no source
	// has ever answered.
	Tries int
	// MinSplit is the least of a file that is worth a request of its own to the user; see scheduler.Config.
	MinSplit int64
	// Allocation says whether room on disk is taken before the bytes come. The zero value takes it as they come.
	Allocation Allocation
	// RetryWait is the first pause before another attempt; it doubles up to 30 s. If zero, it is 1 s.
	RetryWait time.Duration
	// Timeout is how long a source that nobody can replace may stay silent. If zero, it is 30 s.
	Timeout time.Duration
	// MaxSize limits the size of files. If zero, it is 64 GiB for those whose length is not known beforehand,
	// and nothing limits the others.
	MaxSize int64
	// State remembers, and is told, how fast hosts were, what URLs have offered as proof, and what servers said of files, for requests
	// with IfNewer. If nil, nothing is known. The caller saves it.
	State *state.Store
	// JournalKey is the path of the key that seals the journals of part files, which is made where it is missing. If it is empty, or if
	// there cannot be a key, what a journal says of a file counts only after the origin or the request has said it again.
	JournalKey string
	// Limit holds all downloads of the Client together to a number of bytes a second; see NewLimit. If nil, there is
	// no limit.
	Limit *Limiter
	// Growth is how connections are added. The zero value doubles; scheduler.GrowSingle is the RFC's letter.
	Growth scheduler.GrowthMode

	// Open makes sources of the caller's own for those of Request.Mirrors whose URLs have these schemes, in lower case; http, https, ftp and
	// ftps stay what they are. They are mirrors like others: their bytes count only if a digest of the file is known and says so.
	Open map[string]func(u *url.URL) source.Source
	// Swarms makes what takes part in BitTorrent swarms, once for each Get or GetAll, which closes it: torrentsource.Plug has one. If
	// nil, no peers are asked, and a note says so where Request.Peers wants them.
	Swarms func(source.SwarmConfig) source.Swarms
}

// Get downloads the file at a URL into a folder, which is the current one if dir is empty, with the zero Client: from all mirrors that the
// server names, proven by the digest that it gives, if it gives one (Result.Proof). Its error is an *Error.
func Get(ctx context.Context, rawURL, dir string) (Result, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // which has the whole URL in it, and so its secrets
			err = e.Err
		}
		return Result{}, fail(Usage, "download", "", err, "")
	}
	return new(Client).Get(ctx, Request{URL: u, Dir: dir})
}

const (
	defaultMaxSize = 64 << 30
	defaultTries   = 20
	firstTries     = 5
	// triesBesideOthers is for servers that never answered while the user named others, too.
	triesBesideOthers = 2
)

func (c *Client) tries() int { return cmp.Or(c.Tries, defaultTries) }

func (c *Client) maxSize() int64 {
	if c.MaxSize == 0 {
		return defaultMaxSize
	}
	return c.MaxSize
}

// config is what the scheduler of one session gets.
func (c *Client) config(s *session) scheduler.Config {
	cfg := scheduler.Config{
		Size: -1, PerHost: c.PerHost, Split: c.Split, MinSplit: c.MinSplit, Growth: c.Growth, Tries: c.Tries, FirstTries: c.Tries,
		RetryWait: c.RetryWait, Silence: c.Timeout, Aggregate: c.State.Speed(state.AllHosts).Rate,
	}
	if c.Tries == 0 {
		cfg.FirstTries = firstTries
		if len(s.req.Mirrors) > 0 {
			cfg.FirstTries = triesBesideOthers
		}
	}
	if s.known {
		cfg.Size, cfg.Have = s.size, s.part.Have()
	}
	return cfg
}

// An Offer is what a server says about a file.
type Offer struct {
	File   metalink.File
	Hops   []metalink.Hop
	ETag   string // of the final answer, as sent
	Size   int64  // -1: unknown
	Ranges bool   // the final answer says that ranges work
	Wrong  error  // why the final answer is of another file than the server's word; ETag and Size are then unknown
}

// Probe asks what the server offers and downloads nothing. Its error is an *Error.
func (c *Client) Probe(ctx context.Context, req Request) (Offer, error) {
	req = req.own()
	if req.URL == nil {
		return Offer{}, fail(Usage, "probe", "", errNoURL, "")
	}
	if err := c.checkNumbers(&req, "probe"); err != nil {
		return Offer{}, err
	}
	hc, done := c.network(ctx)
	defer done()
	a, err := look(ctx, hc, &req, condition{})
	if err != nil {
		return Offer{}, wrap(err, "probe", &req)
	}
	x, err := req.resolve(a.Hops, req.role(), verify.Strong(req.Claims))
	if err != nil {
		return Offer{}, wrap(err, "probe", &req)
	}
	ranges := a.Ranged || http.Header(a.Hops[len(a.Hops)-1].Header).Get("Accept-Ranges") == "bytes"
	a = x.without(a)
	x.file.Size = a.Size
	return Offer{File: x.file, Hops: a.Hops, ETag: a.ETag, Size: a.Size, Ranges: ranges, Wrong: x.wrong}, nil
}

// head asks by HEAD.
func head(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	return hc.Head(ctx, req.URL, req.lookOptions(c))
}

// look asks for what comes before the file only: by HEAD, or by a fetch whose body is refused where a server knows no HEAD.
func look(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	if source.IsSwarm(req.URL) { // nobody is asked what the torrent says
		return source.Answer{URL: req.URL, Size: req.Described.Size, End: -1, Hops: []metalink.Hop{{URL: req.URL}}}, nil
	}
	if isFTP(req.URL) {
		return glance(ctx, hc, req, c)
	}
	a, err := head(ctx, hc, req, c)
	var e *source.Error
	if !errors.As(err, &e) || e.Status != http.StatusMethodNotAllowed && e.Status != http.StatusNotImplemented {
		return a, err
	}
	return glance(ctx, hc, req, c)
}

// glance begins a fetch and refuses the body.
func glance(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	var k peek
	err := hc.Source(req.URL, req.lookOptions(c)).Fetch(ctx, whole, &k)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return k.answer, err
}

// A peek is a sink that wants the header only.
type peek struct{ answer source.Answer }

func (k *peek) Answer(a source.Answer) error {
	k.answer = a
	return errRefused
}

func (k *peek) WriteAt([]byte, int64) (int, error) { return 0, source.ErrEnough }

// wrap makes the error that Get and Probe return.
func wrap(err error, what string, req *Request) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{Kind: kindOf(err), What: what, Where: source.Mask(req.URL), Err: err}
}

// checkNumbers is an *Error of kind Usage if a number of the client or of a request makes no sense; what says what is being done.
func (c *Client) checkNumbers(r *Request, what string) error {
	for _, n := range []struct {
		name  string
		wrong bool
	}{
		{"PerHost", c.PerHost < 0}, {"Split", c.Split < 0}, {"Tries", c.Tries < 0}, {"MinSplit", c.MinSplit < 0},
		{"RetryWait", c.RetryWait < 0}, {"Timeout", c.Timeout < 0}, {"MaxSize", c.MaxSize < 0},
		{"Allocation", c.Allocation > AllocateMust}, {"Growth", c.Growth > scheduler.GrowSingle},
		{"Require", r.Require > RequireSignature}, {"Peers", r.Peers > PeersMissing},
		{"SeedRatio", !(r.SeedRatio >= 0)}, {"SeedTime", r.SeedTime < 0}, // a ratio may be no number at all
	} {
		if !n.wrong {
			continue
		}
		where := ""
		if r.URL != nil {
			where = source.Mask(r.URL)
		}
		return fail(Usage, what, where, errors.New(n.name+" is out of range"), "")
	}
	return nil
}
