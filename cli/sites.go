package cli

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/source/httpsource"
)

// sites are what counts at sites that the configuration names. What flags and variables say beats it, and it beats what the
// configuration says of everything.
type sites struct {
	conf   *configuration
	limits limits // of them and of everything

	mu    sync.Mutex // for rules, and linked in them: watches ask when there is an update
	rules map[*option.Site]*siteRules
}

// siteRules are what one site says, read.
type siteRules struct {
	anchors download.Anchors
	trusts  bool
	require string
	header  http.Header
	limit   *download.Limiter
	linked  bool // limit is within that of everything
}

func newSites(c *configuration) *sites {
	return &sites{conf: c, rules: map[*option.Site]*siteRules{}}
}

func (s *sites) any() bool { return s != nil && s.conf.file != nil && len(s.conf.file.Sites) > 0 }

// general reports whether neither the command line nor the environment has any of these flags: what they are set to,
// the settings of everything say.
func (s *sites) general(flags ...string) bool {
	return s != nil && s.conf.said != nil && !slices.ContainsFunc(flags, func(name string) bool { return s.conf.said[name] })
}

// of are the rules of the site of u; nil if there is none.
func (s *sites) of(u *url.URL) (*siteRules, error) {
	if s == nil || u == nil {
		return nil, nil
	}
	site := s.conf.file.Site(u)
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

func (s *sites) read(site *option.Site) (*siteRules, error) {
	words := func(name string) option.WordsValue {
		var list []string
		for _, word := range site.Values[name] {
			list = append(list, fromHome(word))
		}
		return option.WordsValue(list)
	}
	flags := anchorFlags{
		Keyring: words("keyring"), Pin: words("pin"), SMIMECA: words("smime-ca"),
		AllowExpiredKey: site.Word("allow-expired-key") == "true",
	}
	r := &siteRules{trusts: flags.given(), require: site.Word("require"), header: http.Header{}}
	var err error
	if r.anchors, err = flags.anchors(); err != nil {
		return nil, s.at(site, err)
	}
	require := choice{Words: option.WordsOf("require")}
	if site.Word("require") != "" {
		if err := require.Set(site.Word("require")); err != nil {
			return nil, s.at(site, problem.Misuse("require", err.Error(), ""))
		}
	}
	for _, line := range site.Values["header"] {
		if err := addField(r.header, line); err != nil {
			return nil, s.at(site, err)
		}
	}
	var most rates
	if site.Word("limit-rate") != "" {
		if err := most.Set(site.Word("limit-rate")); err != nil {
			return nil, s.at(site, problem.Misuse("limit-rate", err.Error(), ""))
		}
		r.limit = s.limits.of(most)
	}
	return r, nil
}

func (s *sites) at(site *option.Site, err error) error {
	f, ok := err.(*problem.Problem)
	if !ok {
		return err
	}
	return problem.Misuse(s.conf.place(site.Line)+": "+f.Where, f.Why, f.Hint)
}

// apply makes a request to u one that goes by its site. What the command line or the environment says stays; said
// reports whether they say what must be proven (demand).
func (s *sites) apply(r *download.Request, u *url.URL, said bool, limit *download.Limiter) error {
	rules, err := s.of(u)
	if rules == nil || err != nil {
		return err
	}
	if rules.trusts && (!r.Anchors.Any() || s.general("keyring", "pin", "smime-ca")) {
		r.Anchors = rules.anchors
	}
	if !said && (rules.require != "" || rules.trusts) { // rule 47
		r.Require = requirement(rules.require, rules.trusts)
	}
	r.Header = rules.fields(r.Header)
	if rules.limit != nil && (limit != nil || !s.conf.said["limit-rate"]) { // else the user lifted it
		if most := s.within(rules, limit); r.Limit == nil {
			r.Limit = most
		} else {
			r.Limit.Within(most)
		}
	}
	return nil
}

// limitOf returns the limit of one download, or nil if its rates never limit anything.
func (s *sites) limitOf(v rates) *download.Limiter {
	if s == nil {
		s = &sites{}
	}
	return s.limits.of(v)
}

// within is the limit of a site, within that of everything.
func (s *sites) within(r *siteRules, all *download.Limiter) *download.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all != nil && !r.linked {
		r.limit.Within(all)
		r.linked = true
	}
	return r.limit
}

// fields are header fields with those of the site that they do not have.
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

// fields are the header fields of a request to u that is no download: of a feed, or of a check.
func (s *sites) fields(own http.Header, u *url.URL) (http.Header, error) {
	rules, err := s.of(u)
	return rules.fields(own), err
}

// addTo adds to header fields those of the site of a URL.
func (s *sites) addTo(header *http.Header, to string) error {
	u, err := url.Parse(to)
	if err == nil {
		*header, err = s.fields(*header, u)
	}
	return err
}

// configureClient sets the proxies and authorities of sites.
func (s *sites) configureClient(c *httpsource.Client) error {
	if !s.any() {
		return nil
	}
	through := map[*option.Site]*url.URL{}
	for i := range s.conf.file.Sites {
		site := &s.conf.file.Sites[i]
		if site.Word("proxy") != "" && !s.conf.said["proxy"] && !s.conf.said["no-proxy"] {
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
		if proxy := through[s.conf.file.Site(u)]; proxy != nil {
			return proxy, nil
		}
		return others(u)
	}
	return nil
}

// trust makes a client believe the server of a site as this says. The command line beats it.
func (s *sites) trust(c *httpsource.Client, site *option.Site) error {
	server := site.HostPort()
	if _, said := c.TLSFor[server]; said || len(site.Values["cacert"]) == 0 && site.Word("insecure") != "true" {
		return nil
	}
	var flags trustFlags
	for _, path := range site.Values["cacert"] {
		if err := flags.CACert.Set(fromHome(path)); err != nil {
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
