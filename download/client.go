// Package download brings one file from many sources to disk and proves that it is the right one.
//
//	var c download.Client
//	result, err := c.Get(ctx, download.Request{URL: u, Dir: "isos", Require: download.RequireDigest})
//	...
//	fmt.Println(result.Path, result.Proof) // isos/disk.iso sha-256 from Digest over https
//
// It owns what the pure packages must not have: goroutines, sockets (through package source), the part
// file (through package partfile) and the clock. What is fetched from which source is decided by package
// scheduler; whether the file is right is decided by package verify, and without a [verify.Proof] no
// file gets its final name.
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
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
	// Timeout is how long a source that no other can replace may stay silent. If zero, it is 30 s.
	Timeout time.Duration
	// LowestSpeed is how many bytes a second have to come, from all sources together. A download that has less for half
	// a minute ends (Budget) with what is here kept, so that others have its place. If zero, a download may be as slow
	// as its sources are.
	LowestSpeed int64
	// MaxSize limits the size of files. If zero, it is 64 GiB for those whose length is not known beforehand,
	// and nothing limits the others.
	MaxSize int64
	// State remembers, and is told, how fast hosts were, what URLs have offered as proof, and what servers said of
	// files, for requests with IfNewer. If nil, nothing is known. The caller saves it.
	State *state.Store
	// JournalKey is the path of the key that seals the journals of part files, which is made where it is missing. If it
	// is empty, or if there cannot be a key, what a journal says of a file counts only after the origin or the request
	// has said it again.
	JournalKey string
	// Limit holds all downloads of the Client together to a number of bytes a second; see NewLimit. If nil, there is
	// no limit.
	Limit *Limiter
	// HostLimits hold what comes from each host to a number of bytes a second. If nil, there is no such limit.
	HostLimits *HostLimits
	// Growth is how connections are added. The zero value doubles; scheduler.GrowSingle is the RFC's letter.
	Growth scheduler.GrowthMode

	// Open makes sources of the caller's own for those of Request.Mirrors whose URLs have these schemes, in lower case;
	// http, https, ftp and ftps stay what they are. They are mirrors like others: their bytes count only if a digest of
	// the file is known and says so.
	Open map[string]func(u *url.URL) source.Source
	// Swarms makes what takes part in BitTorrent swarms, once for each Get or GetAll, which closes it:
	// torrentsource.Plug has one. If nil, no peers are asked, and a note says so where Request.Peers wants them.
	Swarms func(source.SwarmConfig) source.Swarms
}

// Get downloads the file at a URL into a folder, which is the current one if dir is empty, with the zero Client: from
// all mirrors that the server names, proven by the digest that it gives, if it gives one (Result.Proof). Its error is
// an *Error.
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

// Get downloads the file that req names. Its error is an *Error; then nothing has changed under the final
// name, and what can be kept of the work is in the part file.
func (c *Client) Get(ctx context.Context, req Request) (Result, error) {
	hc, done := c.network(ctx)
	defer done()
	return get(ctx, c, hc, req, nil)
}

// Plan finds out what Get would do, up to where the first byte of the file would come: it asks for header fields, documents and
// signatures, reads what is on disk, and changes nothing. Its error is that with which Get would end for what can be known
// so far; what was found out until then is in the Plan all the same.
func (c *Client) Plan(ctx context.Context, req Request) (Plan, error) {
	hc, done := c.network(ctx)
	defer done()
	return makePlan(ctx, c, hc, req)
}

// Verify checks the file that Get would make of the request: Name in Dir. It reads the file once and changes nothing.
// What it should be comes from the server of URL, a document or a list (Document.Describe, List.Vouch), or Claims. All
// digests, pieces and signatures must hold.
//
// The error is an *Error: of kind Mismatch if it is another file, and of kind NoEvidence if there is no
// evidence, or less than Require demands. The Verdict has what is known all the same.
func (c *Client) Verify(ctx context.Context, req Request) (Verdict, error) {
	if err := c.checkNumbers(&req, "verify"); err != nil {
		return Verdict{}, err
	}
	hc, done := c.network(ctx)
	defer done()
	x := newInspection(c, hc, req)
	if err := x.run(ctx); err != nil {
		return x.verdict, x.explain(ctx, err)
	}
	return x.verdict, nil
}

// Repair brings the right file in place of the one that a Verdict is about. What pieces tell to be right of it is copied to the
// part file, and so is what is there of a file that is too short or too long; the rest is fetched. The copy is what
// becomes the file, once it is proven: until then the damaged one stays as it is. The error is an *Error.
func (c *Client) Repair(ctx context.Context, v Verdict, observe func(Event)) (Result, error) {
	if v.repair == nil {
		return Result{}, fail(Usage, "repair", source.Escape(v.Path),
			errors.New("nothing says what is wrong, or where the right bytes are"), HintFrom)
	}
	req := *v.repair
	req.Observe = observe
	return c.Get(ctx, req)
}

// Probe asks what the server offers and downloads nothing. Its error is an *Error.
func (c *Client) Probe(ctx context.Context, req Request) (Offer, error) {
	req = req.own()
	hc, done, err := c.begin(ctx, &req, "probe")
	if err != nil {
		return Offer{}, err
	}
	defer done()
	return probe(ctx, hc, &req)
}

// Evidence fetches the document and the signatures that an offer names. Without the file it shows only what they say of
// themselves, and whether the document describes the server's file.
func (c *Client) Evidence(ctx context.Context, req Request, o Offer) Evidence {
	hc, done := c.network(ctx)
	defer done()
	return gatherEvidence(ctx, hc, &req, o)
}

// Measure fetches from the server, and from each of the mirrors that f names, for a moment, and throws away what comes. They are
// asked one after the other, to not disturb each other. One with another file is refused, however fast it is.
func (c *Client) Measure(ctx context.Context, req Request, f metalink.File, moment time.Duration) []Measurement {
	if req.URL == nil {
		return nil
	}
	hc, done := c.network(ctx)
	defer done()
	return measureAll(ctx, hc, &req, f, moment)
}

// Document fetches the document at the URL of a request, and a newer one where it names a place for that. It counts by
// the channel over which it came. The error is an *Error.
func (c *Client) Document(ctx context.Context, req Request) (*Document, error) {
	hc, done, err := c.begin(ctx, &req, "read")
	if err != nil {
		return nil, err
	}
	defer done()
	if !isWeb(req.URL) {
		return nil, fail(Usage, "read", source.Mask(req.URL), errWebOnly, HintPlain)
	}
	return documentOf(ctx, hc, &req, func([]metalink.Hop) bool { return true })
}

// Renew fetches the newer document that d names a place for (RFC 5854, section 4.2.9), once. It replaces d only if it
// came over a channel that is as good; else it adds places for files of which it has the same digest. If none comes, d
// stays. Not is that of the requests for its files.
func (c *Client) Renew(ctx context.Context, d *Document, not *address.Exclusion) {
	hc, done := c.network(ctx)
	defer done()
	d.renew(ctx, hc, httpsource.Options{Not: not})
}

// Magnet finds the torrent of a magnet link: at the places that the link names, else at peers. The hash in the link, which counts
// as the user's, shows whether it is the right one. The error is an *Error.
func (c *Client) Magnet(ctx context.Context, req Request, link string) (*Document, error) {
	m, err := metainfo.ParseMagnet(link)
	if err != nil {
		return nil, fail(Usage, "usage", "magnet link", err, "")
	}
	if err := c.checkNumbers(&req, "read"); err != nil {
		return nil, err
	}
	req.Peers = c.Peers(req.Peers)
	if len(m.Sources) == 0 && !req.Peers.asked() {
		return nil, fail(Network, "read", magnetName,
			fmt.Errorf("it names no place where the .torrent is (xs), and %s", req.Peers.why()), "the .torrent itself will do")
	}
	hc, done := c.network(ctx)
	defer done()
	return fetchMagnet(ctx, hc, &req, m)
}

// List fetches the checksum file at the URL of a request: the digests that files should have. The error is an *Error.
func (c *Client) List(ctx context.Context, req Request) (*List, error) {
	hc, done, err := c.begin(ctx, &req, "read")
	if err != nil {
		return nil, err
	}
	defer done()
	return fetchList(ctx, hc, &req)
}

// CheckSigned checks the signatures of a list: those that the user names or, if that is none, the cleartext signature
// around it, else the first one that lies beside it. If one is good, what the list says is signed, and By says by whom;
// a bad one is an error, as it is for a file. If there is none that could be checked, unsigned says why, and the list
// stays what it was; it is an error where the request demands a signature and the user named one. The error is an
// *Error.
//
// The request has the anchors, and what only the server of the list may be told.
func (c *Client) CheckSigned(ctx context.Context, l *List, req Request, named []Signature) (unsigned string, err error) {
	hc, done := c.network(ctx)
	defer done()
	return l.checkSigned(ctx, hc, req, named)
}

// begin checks a request for what is to be done, and makes what asks servers; done is for the end.
func (c *Client) begin(ctx context.Context, req *Request, what string) (hc network, done func(), err error) {
	if req.URL == nil {
		return hc, nil, fail(Usage, what, "", errNoURL, "")
	}
	if err := c.checkNumbers(req, what); err != nil {
		return hc, nil, err
	}
	if err := req.excluded(req.URL); err != nil {
		return hc, nil, fail(Usage, what, source.Mask(req.URL), err, "")
	}
	hc, done = c.network(ctx)
	return hc, done, nil
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
	cfg.Window = s.hashing.upload.window()
	if s.begun {
		cfg.Size, cfg.Have = s.size, s.part.Have()
	}
	return cfg
}

// checkNumbers is an *Error of kind Usage if a number of the client or of a request makes no sense; what says what is being done.
func (c *Client) checkNumbers(r *Request, what string) error {
	for _, n := range []struct {
		name  string
		wrong bool
	}{
		{"PerHost", c.PerHost < 0}, {"Split", c.Split < 0}, {"Tries", c.Tries < 0}, {"MinSplit", c.MinSplit < 0},
		{"RetryWait", c.RetryWait < 0}, {"Timeout", c.Timeout < 0}, {"MaxSize", c.MaxSize < 0 || r.MaxSize < 0},
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
