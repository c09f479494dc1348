package job

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"braid/download"
	"braid/download/limit"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/source/httpsource"
)

// Sites holds the settings of sites. They override the general settings. Flags and environment variables override them.
type Sites struct {
	Settings *Settings
	Limits   limits // limits of sites and of all downloads

	mu    sync.Mutex // guards rules, the field linked of each, and bound; watches call while the program runs
	rules map[*option.Site]*siteRules
	bound map[*option.Bound]download.Anchors
}

// siteRules are the parsed settings of a site.
type siteRules struct {
	anchors download.Anchors
	trusts  bool
	require string
	header  http.Header
	lookup  string // the value of no-lookup
	limit   *limit.Limiter
	linked  bool // limit is within the limit of all downloads
}

// NewSites returns the settings for sites in c.
func NewSites(c *Settings) *Sites {
	return &Sites{Settings: c, rules: map[*option.Site]*siteRules{}}
}

// Any reports whether any URLs have settings of a site, or are bound to keys.
func (s *Sites) Any() bool { return s.named() || s != nil && s.Settings.Trust.Any() }

// named reports whether the settings name a site.
func (s *Sites) named() bool {
	return s != nil && s.Settings.File != nil && len(s.Settings.File.Sites) > 0
}

// general reports whether neither the command line nor the environment sets any of flags. Their values are then from
// the general settings.
func (s *Sites) general(flags ...string) bool {
	return s != nil && s.Settings.Said != nil &&
		!slices.ContainsFunc(flags, func(name string) bool { return s.Settings.Said[name] })
}

// of returns the parsed settings for the site of u, or nil if the settings do not name it.
func (s *Sites) of(u *url.URL) (*siteRules, error) {
	if s == nil || u == nil {
		return nil, nil
	}
	site := s.Settings.File.Site(u)
	if site == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rules[site]; r != nil {
		return r, nil
	}
	r, err := s.read(site)
	if err == nil {
		s.rules[site] = r
	}
	return r, err
}

// keysOf returns the keys and certificates in the settings for site.
func keysOf(site *option.Site) Anchors {
	words := func(name string) option.WordsValue {
		var list []string
		for _, word := range site.Values[name] {
			list = append(list, FromHome(word))
		}
		return option.WordsValue(list)
	}
	return Anchors{
		Key: words("key"), Keyring: words("keyring"), Pin: words("pin"), SMIMECA: words("smime-ca"),
		AllowExpiredKey: site.Word("allow-expired-key") == "true",
	}
}

func (s *Sites) read(site *option.Site) (*siteRules, error) {
	flags := keysOf(site)
	r := &siteRules{
		trusts: flags.Given(), require: site.Word("require"), header: http.Header{}, lookup: site.Word("no-lookup"),
	}
	var err error
	if r.anchors, err = flags.Load(); err != nil {
		return nil, s.at(site, err)
	}
	require := option.ChoiceValue{Words: option.WordsOf("require")}
	if site.Word("require") != "" {
		if err := require.Set(site.Word("require")); err != nil {
			return nil, s.at(site, problem.Misuse("require", err.Error(), ""))
		}
	}
	for _, line := range site.Values["header"] {
		if err := AddField(r.header, line); err != nil {
			return nil, s.at(site, err)
		}
	}
	var most option.RatesValue
	if site.Word("limit-rate") != "" {
		if err := most.Set(site.Word("limit-rate")); err != nil {
			return nil, s.at(site, problem.Misuse("limit-rate", err.Error(), ""))
		}
		r.limit = s.Limits.Of(most)
	}
	return r, nil
}

func (s *Sites) at(site *option.Site, err error) error {
	f, ok := err.(*problem.Problem)
	if !ok {
		return err
	}
	return problem.Misuse(s.Settings.Place(site.Line)+": "+f.Where, f.Why, f.Hint)
}

// Apply applies the settings for the site of u to r. Options from the command line or the environment keep precedence.
// said reports whether these set the required proof; see demand. If u or a mirror of r is bound to keys, these keys
// replace all others, and r then requires a signature by one of them.
func (s *Sites) Apply(r *download.Request, u *url.URL, said bool, all *limit.Limiter) error {
	if err := s.settle(r, u, said, all); err != nil {
		return err
	}
	return s.bind(r, u)
}

// settle applies the settings for the site of u to r, except keys that URLs are bound to.
func (s *Sites) settle(r *download.Request, u *url.URL, said bool, all *limit.Limiter) error {
	rules, err := s.of(u)
	if rules == nil || err != nil {
		return err
	}
	if rules.trusts && (!r.Trust.Anchors.Any() || s.general(keyFlags...)) {
		r.Trust.Anchors = rules.anchors
	}
	if !said && (rules.require != "" || rules.trusts) { // rule 47
		r.Trust.Require = Requirement(rules.require, rules.trusts)
	}
	if rules.lookup != "" && s.general("no-lookup") {
		r.Trust.Lookup = rules.lookup != "true"
	}
	r.Access.Header = rules.fields(r.Access.Header)
	if rules.limit != nil && (all != nil || !s.Settings.Said["limit-rate"]) { // otherwise the user removed the limit
		if most := s.within(rules, all); r.Limits.Rate == nil {
			r.Limits.Rate = most
		} else {
			r.Limits.Rate.Within(most)
		}
	}
	return nil
}

// limitOf returns the limiter for one download, or nil if v never limits anything.
func (s *Sites) limitOf(v option.RatesValue) *limit.Limiter {
	if s == nil {
		s = &Sites{}
	}
	return s.Limits.Of(v)
}

// within returns the limiter for the site of r. It applies within the limit of all downloads, if that is not nil.
func (s *Sites) within(r *siteRules, all *limit.Limiter) *limit.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all != nil && !r.linked {
		r.limit.Within(all)
		r.linked = true
	}
	return r.limit
}

// fields returns the user's own header fields, with those of the site added that own lacks.
func (r *siteRules) fields(own http.Header) http.Header {
	if r == nil || len(r.header) == 0 {
		return own
	}
	header := own.Clone()
	if header == nil {
		header = http.Header{}
	}
	for name, values := range r.header {
		if len(header.Values(name)) == 0 {
			header[name] = slices.Clone(values)
		}
	}
	return header
}

// Fields returns the user's own header fields, with those of the site of u added. It is for requests other than
// downloads: those of feeds and of checks.
func (s *Sites) Fields(own http.Header, u *url.URL) (http.Header, error) {
	rules, err := s.of(u)
	return rules.fields(own), err
}

// AddForges makes lookups of c use the user's table of forges, and the header fields of the sites of these forges.
func (s *Sites) AddForges(c *download.Client) {
	if s == nil {
		return
	}
	c.Forges = s.Settings.Forges
	c.ForgeHeader = func(u *url.URL) (map[string][]string, error) { return s.Fields(nil, u) }
}

// AddTo adds the header fields of the site of a URL to header.
func (s *Sites) AddTo(header *http.Header, to string) error {
	u, err := url.Parse(to)
	if err == nil {
		*header, err = s.Fields(*header, u)
	}
	return err
}

// ConfigureClient sets in c the proxies and the TLS settings of sites.
func (s *Sites) ConfigureClient(c *httpsource.Client) error {
	if !s.named() {
		return nil
	}
	through := map[*option.Site]*url.URL{}
	for i := range s.Settings.File.Sites {
		site := &s.Settings.File.Sites[i]
		if site.Word("proxy") != "" && !s.Settings.Said["proxy"] && !s.Settings.Said["no-proxy"] {
			proxy, err := web.ParseProxy(site.Word("proxy"))
			if err != nil {
				return s.at(site, problem.Misuse("proxy", err.Error(), ""))
			}
			through[site] = proxy
		}
		if err := s.trust(c, site); err != nil {
			return s.at(site, err)
		}
	}
	if len(through) == 0 {
		return nil
	}
	others := c.Proxy
	if others == nil {
		others = web.Environment()
	}
	c.Proxy = func(u *url.URL) (*url.URL, error) {
		if proxy := through[s.Settings.File.Site(u)]; proxy != nil {
			return proxy, nil
		}
		return others(u)
	}
	return nil
}

// trust sets in c the TLS configuration for the server of site, unless the command line has set one.
func (s *Sites) trust(c *httpsource.Client, site *option.Site) error {
	server := site.HostPort()
	if _, said := c.TLSFor[server]; said || len(site.Values["cacert"]) == 0 && site.Word("insecure") != "true" {
		return nil
	}
	var flags Trust
	for _, path := range site.Values["cacert"] {
		if err := flags.CACert.Set(FromHome(path)); err != nil {
			return err
		}
	}
	config := c.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	roots, err := flags.roots()
	if err != nil {
		return err
	}
	if roots != nil {
		config.RootCAs = roots
	}
	config.InsecureSkipVerify = site.Word("insecure") == "true"
	if c.TLSFor == nil {
		c.TLSFor = map[string]*tls.Config{}
	}
	c.TLSFor[server] = config
	return nil
}
