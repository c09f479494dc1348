package download

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/internal/fsys"
	"braid/internal/lookup"
	"braid/internal/lookup/search"
	"braid/internal/partfile"
	"braid/internal/small"
	"braid/internal/web"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A network makes the sources for URLs, depending on their schemes.
type network struct {
	*httpsource.Client
	others  map[string]client // clients for protocols other than HTTP, by the family of their schemes
	swarms  source.Swarms
	folders *search.Folders   // results of lookups, shared by all downloads of the network
	looked  []verify.Claim    // digests that an earlier run found beside the file; only the names of their lists are used
	tokens  map[string]string // see Client.ForgeTokens
	forges  []*lookup.Forge   // see Client.Forges
	// fields is Client.ForgeHeader.
	fields  func(*url.URL) (map[string][]string, error)
	grace   time.Duration // how long the end of a download waits for a lookup if no proof is required
	timeout time.Duration // see Client.Timeout
	open    map[string]func(*url.URL) source.Source
	files   fsys.FS
	key     *partfile.Key // key that seals journals; nil without one
	state   *state.Store  // Client.State
	placed  *placed
}

// Source returns the source of the file at u.
func (n network) Source(u *url.URL, o httpsource.Options) source.Source {
	if c := n.others[address.SchemeOf(u).Family]; c != nil {
		return c.Source(u, o)
	}
	if n.opens(u) {
		return opened{n.open[u.Scheme](u), u}
	}
	return n.Client.Source(u, o)
}

// opens reports whether Client.Open has a function for the scheme of u.
func (n network) opens(u *url.URL) bool { return !address.HasScheme(u) && n.open[u.Scheme] != nil }

// network returns the network of one call. The caller must call done at the end.
func (c *Client) network(ctx context.Context) (n network, done func()) {
	n = network{Client: c.HTTP, timeout: c.Timeout, open: c.Open, files: fsys.Of(ctx), folders: &search.Folders{},
		tokens: c.ForgeTokens, forges: rowsOf(c.Forges), fields: c.ForgeHeader, grace: graceOf(ctx), state: c.State}
	if c.JournalKey != "" {
		n.key = partfile.OpenKey(fsys.OS, c.JournalKey)
	}
	if n.Client == nil {
		n.Client = &httpsource.Client{}
	}
	n.others = map[string]client{}
	for family, p := range protocols {
		n.others[family] = p.open(n, c)
	}
	n.swarms = c.swarms(n)
	return n, func() {
		if n.swarms != nil {
			n.swarms.Close()
		}
		if n.Client != c.HTTP {
			n.CloseIdle()
		}
		for _, other := range n.others {
			other.CloseIdle()
		}
	}
}

// proxyOf returns the function that chooses a proxy, for all protocols.
func proxyOf(c *httpsource.Client) func(*url.URL) (*url.URL, error) {
	if c.Proxy == nil {
		return web.Environment()
	}
	return c.Proxy
}

// isWeb reports whether u has the scheme http or https. Documents are fetched only from such URLs.
func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

// errWebOnly refuses documents over FTP: trust in a digest depends on its channel, which is http or https.
var errWebOnly = errors.New("a document must be on disk or at an http or https URL")

const defaultTimeout = 30 * time.Second

// patience returns how long the server of a document may be silent.
func (n network) patience() time.Duration { return cmp.Or(n.timeout, defaultTimeout) }

// small fetches a document of at most most bytes.
func (n network) small(ctx context.Context, u *url.URL, o httpsource.Options, most int64) ([]byte, source.Answer, error) {
	return small.Whole(ctx, n.Source(u, o), u, n.patience(), most)
}

// The options of a request depend on who named its URL. Only the server that the user asked gets secrets. A URL that a
// server or document named may lead to public addresses, and to addresses in the scope of the server that named it. A
// URL that the user typed may lead to any address.

// ownOptions returns the options for requests to the server that the user asked.
func (r *Request) ownOptions(trusted bool) httpsource.Options {
	return httpsource.Options{
		Header: r.Access.Header, HeaderTo: r.Access.HeaderTo, User: r.Access.User, Trusted: trusted,
		Not: r.Access.Not, Named: r.Named,
	}
}

func (r *Request) mirrorOptions(trusted bool) httpsource.Options {
	o := r.ownOptions(trusted)
	o.Mirror, o.User, o.Referer, o.Named = true, nil, r.asked(), 0
	o.Secure = o.Referer != nil && o.Referer.Scheme == "https"
	if r.Access.NoReferer || r.Access.User != nil || o.Referer != nil && o.Referer.User != nil {
		o.Referer = nil // it may be the URL of a private page
	}
	return o
}

func (r *Request) optionsFor(u *url.URL, named address.Scope, trusted bool) httpsource.Options {
	o := r.mirrorOptions(trusted)
	if r.typed(u) {
		o.Mirror = false
	}
	if asked := r.asked(); asked != nil && sameServer(u, asked) {
		o = r.ownOptions(trusted)
	}
	o.Named = named
	return o
}

// originOptions returns the options for requests to the origin, which may be a mirror or a place that a document names.
func (r *Request) originOptions(p *carried, trusted bool) httpsource.Options {
	if p.origin == r.URL && r.Described == nil {
		return r.ownOptions(trusted)
	}
	return r.optionsFor(p.origin, p.candidateScope|r.named(p.origin), trusted)
}

// lookOptions returns the options for requests that are sent before anything of the file is fetched.
func (r *Request) lookOptions(c condition) httpsource.Options {
	o := r.ownOptions(vouched(r.Trust.Claims))
	if r.Described != nil {
		o = r.optionsFor(r.URL, r.named(r.URL), o.Trusted)
	}
	o.IfNoneMatch, o.IfModifiedSince = c.etag, c.since
	return o
}

// asked returns the URL that the user typed: of the file, or of the document. It returns nil for a local document.
func (r *Request) asked() *url.URL {
	if r.Described != nil {
		return r.Described.URL
	}
	return r.URL
}

// typed reports whether u is a mirror that the user typed and whose server gets a name and password: those in u, or
// those known for its host. Only FTP servers get them; mirrors on the web do not.
func (r *Request) typed(u *url.URL) bool {
	return address.SchemeOf(u).Logins && r.Described == nil && slices.Contains(r.Mirrors, u)
}

// usable reports whether the request may use the place u.
func (r *Request) usable(u *url.URL) bool {
	off := r.Access.NoFTP && address.SchemeOf(u).Family == "ftp"
	return r.Access.excluded(u) == nil && (address.HasScheme(u) && !off || r.isSwarm(u))
}

// excluded returns an error if the user excludes the host of u (rule 65).
func (a *Access) excluded(u *url.URL) error { return a.Not.CheckHost(u.Hostname()) }

// checkExcluded returns an error if a host that the user named is excluded.
func checkExcluded(r *Request) error {
	err := r.Access.excluded(r.URL)
	for _, u := range r.Mirrors {
		err = cmp.Or(err, r.Access.excluded(u))
	}
	return err
}

// allowed returns the mirrors that the request may use, and notes about the other mirrors.
func (r *Request) allowed(mirrors []metalink.Mirror) (kept []metalink.Mirror, notes []string) {
	var out []string
	for _, m := range mirrors {
		near, _ := errors.AsType[*address.Error](r.Access.excluded(m.URL))
		switch word := r.Access.Not.OfCountry(m.Geo); {
		case near != nil:
			out = append(out, source.Mask(m.URL)+" ("+near.Excluded+")")
		case word != "":
			out = append(out, source.Mask(m.URL)+" ("+word+")")
		case !r.usable(m.URL):
			notes = append(notes, source.Mask(m.URL)+": not used, because FTP URLs are excluded")
		default:
			kept = append(kept, m)
		}
	}
	if len(out) > 0 {
		notes = append(notes, "excluded mirrors are not used: "+strings.Join(out, ", "))
	}
	return kept, notes
}

// named returns the address scopes to which u, a place of the request, may lead, depending on the server or document
// that named u. It is zero if the user named u. See httpsource.Options.Named.
func (r *Request) named(u *url.URL) address.Scope {
	switch {
	case r.Described == nil && r.URL != nil && u.String() == r.URL.String():
		return r.Named
	case r.Described == nil:
		return 0
	}
	for _, m := range r.Described.Mirrors {
		if m.URL.String() == u.String() {
			return address.Public | m.By
		}
	}
	return 0
}

// namedBy returns the address scopes for a URL that a server in the scope by named, or zero if the user also named it.
func (r *Request) namedBy(u *url.URL, by address.Scope) address.Scope {
	if r.Described == nil && containsURL(r.Mirrors, u) {
		return 0
	}
	return address.Public | by
}

// scope returns the scopes of the addresses that sig.URL may resolve to. If sig has no scope of its own, and its URL is
// on the server of a mirror of d, these are the scopes of that mirror.
func (sig Signature) scope(d *Described) address.Scope {
	if sig.named != 0 || d == nil {
		return sig.named
	}
	for _, m := range d.Mirrors {
		if sameServer(m.URL, sig.URL) {
			return address.Public | m.By
		}
	}
	return 0
}
