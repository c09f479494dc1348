// Package download downloads one file from many sources and proves that it is the right one.
//
//	var c download.Client
//	result, err := c.Get(ctx, download.Request{URL: u, Dir: "isos", Require: download.RequireDigest})
//	...
//	fmt.Println(result.Path, result.Proof) // isos/disk.iso sha-256 from Digest over https
//
// It has what other packages must not have: goroutines, sockets (through package source), the part file (through
// package partfile) and the clock. Package scheduler assigns ranges to sources. Package verify decides whether the file
// is right; without a [verify.Proof] no file gets its final name.
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"braid/address"
	"braid/download/limit"
	"braid/download/state"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/scheduler"
	"braid/source"
	"braid/source/httpsource"
)

// A Client downloads files. The zero value works. It is safe for use by several goroutines and must not be
// changed after first use.
type Client struct {
	// HTTP makes the requests. If nil, every Get uses its own httpsource.Client with the default settings. The
	// timeouts, TLS settings and hosts in HTTP also apply to FTP.
	HTTP *httpsource.Client
	// Credentials returns the name and password for an FTP server if u has no password; see ftpsource.Client.
	Credentials func(u *url.URL) *url.Userinfo
	// PerHost limits concurrent requests for one file at one host. If zero, it is 1, the rule of RFC 6249, section 7.
	PerHost int
	// Split limits the sources in use at once. If zero, it is 16.
	Split int
	// Tries limits attempts at one source without progress. If zero, it is 20. For a source that has not answered yet,
	// zero means 5, or 2 if the request has Mirrors.
	Tries int
	// MinSplit is the smallest part of a file that is worth a request of its own; see scheduler.Config.
	MinSplit int64
	// Allocation selects whether disk space is allocated before bytes arrive. The zero value does not do that.
	Allocation Allocation
	// RetryWait is the first pause before another attempt. It doubles up to 30 s. If zero, it is 1 s.
	RetryWait time.Duration
	// Timeout is how long a source may be silent if no other source can replace it. If zero, it is 30 s.
	Timeout time.Duration
	// LowestSpeed is the minimum speed of all sources together, in bytes a second. A download that is slower for half a
	// minute ends with an error of kind Budget and keeps its part file. If zero, no speed is too low.
	LowestSpeed int64
	// MaxSize limits the size of files. If zero, it is 64 GiB for files of unknown length, and unlimited for others.
	MaxSize int64
	// ForgeTokens are tokens for the hosts of forges that Request.Trust.Lookup may ask. The keys are hosts: "api.github.com".
	// A token is sent only over https to its host, in requests of the built-in table, and never after a redirect.
	ForgeTokens map[string]string
	// Forges are more rows for the table of forges. Request.Trust.Lookup tries them before the built-in rows; see [NewForge].
	Forges []*Forge
	// ForgeHeader returns header fields with credentials for a request of Request.Trust.Lookup to the forge or registry
	// at u. The fields are sent over https to the host of u, and never after a redirect. If nil, no such fields are sent.
	ForgeHeader func(u *url.URL) (map[string][]string, error)
	// State stores the speeds of hosts, the evidence that URLs offered and, for requests with IfNewer, the versions
	// that servers stated. If nil, nothing is stored. Long downloads save the speeds now and then; the caller must save
	// them at the end.
	State *state.Store
	// JournalKey is the path of the key that seals the journals of part files. A missing key is made. If that fails or
	// the path is empty, the facts in a journal count only once the origin or the request confirms them.
	JournalKey string
	// Limit limits the bytes a second of all downloads of the Client together; see limit.New. If nil, there is no
	// limit.
	Limit *limit.Limiter
	// HostLimits limit the bytes a second from each host. If nil, there is no such limit.
	HostLimits *limit.Hosts
	// Growth selects how connections are added. With the zero value, the number of added connections doubles in each
	// step; with scheduler.GrowSingle, each step adds one connection (RFC 6249, section 7).
	Growth scheduler.GrowthMode

	// Open has functions by scheme, in lower case. A function returns the source of a URL in Request.Mirrors; the source
	// is used only if a strong digest of the file is known. Functions for http, https, ftp and ftps are not called.
	Open map[string]func(u *url.URL) source.Source
	// Swarms returns a client of BitTorrent swarms. Each call of Get, GetAll or another method calls Swarms once, and
	// closes the client. torrentsource.Plug returns such a function. If nil, no peers are asked, and a Note reports
	// that if Request.Peers allows peers.
	Swarms func(source.SwarmConfig) source.Swarms
}

// Get downloads the file at rawURL into the folder dir with the zero Client. If dir is empty, it is the current folder.
// The file is fetched from the server and the mirrors that it names, and verified with the server's digest, if it gives
// one (see Result.Proof). The error is an *Error.
func Get(ctx context.Context, rawURL, dir string) (Result, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // the text of a url.Error has the whole URL with its secrets
			err = e.Err
		}
		return Result{}, fail(Usage, "download", "", err, "")
	}
	return new(Client).Get(ctx, Request{URL: u, Dir: dir})
}

// Get downloads the file that req describes. The error is an *Error. After an error, the file under the final name has
// not changed, and the part file keeps the bytes that a later Get can use.
func (c *Client) Get(ctx context.Context, req Request) (Result, error) {
	hc, done := c.network(ctx)
	defer done()
	return get(ctx, c, hc, req, nil)
}

// Plan reports what Get would do before it fetches the first byte of the file. It asks for header fields, documents and
// signatures, reads the disk, and changes nothing. If Get would fail before the first byte, Plan returns that error,
// and the findings up to that point.
func (c *Client) Plan(ctx context.Context, req Request) (Plan, error) {
	hc, done := c.network(ctx)
	defer done()
	return makePlan(ctx, c, hc, req)
}

// Verify checks the file that Get would make for req: req.Name in req.Dir. It reads the file once and changes nothing.
// The evidence comes from the server of req.URL, from a document or a list (Document.Describe, List.Vouch), or from the
// claims of req. All digests, pieces and signatures must match.
//
// The error is an *Error: of kind Mismatch if the file on disk is not the right file, and of kind NoEvidence if there
// is no evidence, or less than Require demands. The Verdict then has all findings.
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

// Repair replaces the file of v with the right one. It copies bytes of the damaged file to the part file: the right
// pieces, or, without pieces, the bytes of a file of wrong size. It fetches the rest. The damaged file stays in place
// until the new file is verified. The error is an *Error.
func (c *Client) Repair(ctx context.Context, v Verdict, observe func(Event)) (Result, error) {
	if v.repair == nil {
		return Result{}, fail(Usage, "repair", source.Escape(v.Path),
			errors.New("nothing shows which bytes are wrong, or where the right ones are"), HintFrom)
	}
	req := *v.repair
	req.Observe = observe
	return c.Get(ctx, req)
}

// Probe asks the server of req.URL what it offers, and downloads nothing. The error is an *Error.
func (c *Client) Probe(ctx context.Context, req Request) (Offer, error) {
	req = req.own()
	hc, done, err := c.begin(ctx, &req, "probe")
	if err != nil {
		return Offer{}, err
	}
	defer done()
	return probe(ctx, hc, &req)
}

// Evidence fetches the document and the signatures that o names. The file is not fetched, so the result has only what
// document and signatures state, and whether the document describes the server's file.
func (c *Client) Evidence(ctx context.Context, req Request, o Offer) Evidence {
	hc, done := c.network(ctx)
	defer done()
	return gatherEvidence(ctx, hc, &req, o)
}

// Measure measures the server, and then each mirror that f names. From each it fetches bytes for the duration moment,
// and discards them. The Measurement of a mirror with another file has an Err, however fast the mirror is.
func (c *Client) Measure(ctx context.Context, req Request, f metalink.File, moment time.Duration) []Measurement {
	if req.URL == nil {
		return nil
	}
	hc, done := c.network(ctx)
	defer done()
	return measureAll(ctx, hc, &req, f, moment)
}

// Document fetches the document at req.URL, and its newer version if the document names a place for that. How far the
// document is trusted depends on the channel over which it came. The error is an *Error.
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

// Renew fetches the newer version of d from the place that d names (RFC 5854, section 4.2.9). The newer version
// replaces d only if its channel is at least as trusted; otherwise only its places of files with the same digest are
// added to d. If there is no newer version, d does not change. Hosts in not are not asked.
func (c *Client) Renew(ctx context.Context, d *Document, not *address.Exclusion) {
	hc, done := c.network(ctx)
	defer done()
	d.renew(ctx, hc, httpsource.Options{Not: not})
}

// Magnet fetches the torrent of a magnet link: from the URLs in the link, otherwise from peers. The torrent must have
// the hash in the link. That hash counts as given by the user. The error is an *Error.
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
			fmt.Errorf("the link has no URL of the .torrent file (xs), and %s",
				req.Peers.why()), "give the .torrent file instead")
	}
	hc, done := c.network(ctx)
	defer done()
	return fetchMagnet(ctx, hc, &req, m)
}

// List fetches the checksum file at req.URL. The error is an *Error.
func (c *Client) List(ctx context.Context, req Request) (*List, error) {
	return c.list(ctx, req, false)
}

// ListElsewhere is like List, for a server that the user named only for the list: it gets no cookies and no client
// certificate.
func (c *Client) ListElsewhere(ctx context.Context, req Request) (*List, error) {
	return c.list(ctx, req, true)
}

func (c *Client) list(ctx context.Context, req Request, away bool) (*List, error) {
	hc, done, err := c.begin(ctx, &req, "read")
	if err != nil {
		return nil, err
	}
	defer done()
	return fetchList(ctx, hc, &req, away)
}

// CheckSigned checks the signatures of l: those in named or, if named is empty, the cleartext signature around the list
// or, without that, the first signature found beside the list. After a good signature, the claims of the list count as
// signed, and l.By has the signer. A bad signature is an error. If no signature could be checked, unsigned is the
// reason, and l does not change; if req demands a signature and named is not empty, that is an error. The error is an
// *Error.
//
// req has the anchors, and the header fields and password for the server of the list.
func (c *Client) CheckSigned(ctx context.Context, l *List, req Request, named []Signature) (unsigned string, err error) {
	hc, done := c.network(ctx)
	defer done()
	why, err := l.checkSigned(ctx, hc, req, named, req.Trust.Anchors.Besides())
	if why != nil {
		unsigned = why.Error()
	}
	return unsigned, err
}

// begin checks req for the operation what, and returns the network for it. The caller must call done at the end.
func (c *Client) begin(ctx context.Context, req *Request, what string) (hc network, done func(), err error) {
	if req.URL == nil {
		return hc, nil, fail(Usage, what, "", errNoURL, "")
	}
	if err := c.checkNumbers(req, what); err != nil {
		return hc, nil, err
	}
	if err := req.Access.excluded(req.URL); err != nil {
		return hc, nil, fail(Usage, what, source.Mask(req.URL), err, "")
	}
	hc, done = c.network(ctx)
	return hc, done, nil
}

const (
	defaultMaxSize = 64 << 30
	defaultTries   = 20
	firstTries     = 5
	// triesBesideOthers is for a server that never answered, if the user also named mirrors.
	triesBesideOthers = 2
)

func (c *Client) tries() int { return cmp.Or(c.Tries, defaultTries) }

func (c *Client) maxSize() int64 {
	if c.MaxSize == 0 {
		return defaultMaxSize
	}
	return c.MaxSize
}

// config returns the configuration of the scheduler of s.
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
	cfg.Window = s.proving.hashing.upload.window()
	if s.facts.begun {
		cfg.Size, cfg.Have = s.facts.known.size, s.part.Have()
	}
	return cfg
}

// checkNumbers returns an *Error of kind Usage if a number of the client or of a request is out of range.
// what names the operation.
func (c *Client) checkNumbers(r *Request, what string) error {
	for _, n := range []struct {
		name  string
		wrong bool
	}{
		{"PerHost", c.PerHost < 0}, {"Split", c.Split < 0}, {"Tries", c.Tries < 0}, {"MinSplit", c.MinSplit < 0},
		{"RetryWait", c.RetryWait < 0}, {"Timeout", c.Timeout < 0}, {"MaxSize", c.MaxSize < 0 || r.Limits.MaxSize < 0},
		{"Allocation", c.Allocation > AllocateMust}, {"Growth", c.Growth > scheduler.GrowSingle},
		{"Require", r.Trust.Require > RequireSignature}, {"Peers", r.Peers > PeersMissing},
		{"SeedRatio", !(r.Seed.Ratio >= 0)}, {"SeedTime", r.Seed.Time < 0}, // a ratio may be NaN
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
