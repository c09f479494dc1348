package watch

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/address"
	"braid/antenna"
	"braid/antenna/feed"
	"braid/internal/option"
	"braid/verify"
)

var (
	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

// DefaultLowest is the default lowest-speed-limit in bytes a second. It is below the speed of a modem. A slower server
// would block a download slot that other downloads need.
const DefaultLowest = 1 << 10

// build converts a parsed file to a Config.
func (b *builder) build(f *file) (c *Config, err error) {
	c = &b.config
	c.State, c.Metrics, c.UserAgent, c.Hosts = b.path(f.State), f.Metrics, f.UserAgent, f.AllowHosts
	c.HostRate, c.HostLimit = int(f.HostRate), int64(f.HostLimit)
	c.NotHosts, c.GeoIPDB = f.NotHosts, b.path(f.GeoIPDB)
	c.Parallel, c.Polls, c.HostGap = int(f.Parallel), int(f.Polls), time.Duration(f.HostGap)
	if c.Lowest = DefaultLowest; f.Lowest != nil {
		c.Lowest = int64(*f.Lowest)
	}
	c.Rate, c.Size = f.LimitRate, int64(f.MaxSize)
	c.Log = Log{f.LogFormat, f.LogLevel}
	if err := b.oneOf(f.LogFormat, logFormats, "log-format"); err != nil {
		return nil, err
	}
	if err := b.oneOf(f.LogLevel, logLevels, "log-level"); err != nil {
		return nil, err
	}
	if b.zone, err = zone(f.Zone); err != nil {
		return nil, b.wrong(err.Error(), "", "zone")
	}
	c.Publish = Publish{Dir: b.path(f.Publish.Dir), AgentURL: f.Publish.AgentURL, Title: f.Publish.Title}
	if f.Publish.AgentURL != "" { // without a URL, other agents could not tell which agent published the records
		if c.Publish.AgentURL, err = address.ASCII(f.Publish.AgentURL); err != nil {
			return nil, b.wrong(err.Error(), "", "publish", "agent-url")
		}
		if err := b.web(c.Publish.AgentURL, "publish", "agent-url"); err != nil {
			return nil, err
		}
	}
	if strings.ContainsFunc(f.UserAgent, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, b.wrong("has control characters, which are not allowed in a request", "", "user-agent")
	}
	for _, name := range b.names("feed") {
		if err := b.feed(name, f.Feed[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range b.names("watch") {
		if err := b.watch(name, f.Watch[name]); err != nil {
			return nil, err
		}
	}
	if len(c.Watches) == 0 && len(c.Feeds) == 0 {
		return nil, &option.Error{Why: "the configuration has no watch and no feed",
			Hint: "add [watch.NAME] for the files to download, and [feed.NAME] for the feeds that report them"}
	}
	alone := b.config // a copy: a pointer into b would keep the builder and the parser's data in memory
	return &alone, nil
}

func (b *builder) oneOf(word string, words []string, key ...string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return b.wrong("write one of "+strings.Join(words, ", "), "", key...)
}

// feed converts a feed table and adds it to the configuration.
func (b *builder) feed(name string, t *feedTable) error {
	f := antenna.Feed{
		Name: name, URL: t.URL, Kind: t.Kind, Every: time.Duration(t.Every), Min: time.Duration(t.Min), Max: time.Duration(t.Max),
		Relay: t.Relay, Trust: t.Trust, HatenaTimes: t.HatenaTimes, Limits: t.Limits.limits(),
	}
	key := func(last string) []string { return []string{"feed", name, last} }
	var err error
	if f.URL, err = address.ASCII(t.URL); err != nil {
		return b.wrong(err.Error(), "", key("url")...)
	}
	switch {
	case (t.URL == "") == (t.File == ""):
		return b.wrong("needs exactly one of url and file", "", "feed", name)
	case t.Kind == antenna.Page:
		return b.wrong("a page cannot be polled as a feed",
			"set check-every in [watch.NAME] to check the URL itself", key("kind")...)
	case t.File != "":
		f.URL, f.Local = b.path(t.File), true
	}
	for i, d := range []time.Duration{f.Every, f.Min, f.Max} {
		if d != 0 && d < time.Second {
			return b.wrong("must be at least one second", "", key([]string{"every", "min", "max"}[i])...)
		}
	}
	if f.Max != 0 && f.Min > f.Max {
		return b.wrong("is more than max", "", key("min")...)
	}
	switch {
	case f.Every != 0 && f.Max != 0 && f.Every > f.Max:
		return b.wrong("is more than max", "", key("every")...)
	case f.Every != 0 && f.Every < f.Min:
		return b.wrong("is less than min", "", key("every")...)
	}
	if err := b.checkFeed(&f, t, key); err != nil {
		return err
	}
	a, err := b.access(&t.accessTable, t.URL, "feed", name)
	if err != nil {
		return err
	}
	f.Header = a.all()
	if err := (&antenna.Antenna{Feeds: []antenna.Feed{f}}).Check(); err != nil {
		return b.wrong(strings.TrimPrefix(err.Error(), "feed "+name+": "), "", "feed", name)
	}
	b.config.Feeds = append(b.config.Feeds, f)
	return nil
}

// checkFeed returns an error for settings that contradict each other or would have no effect.
func (b *builder) checkFeed(f *antenna.Feed, t *feedTable, key func(string) []string) error {
	for _, wrong := range []struct {
		when           bool
		last, why, try string
	}{
		{f.Relay && len(f.Trust) == 0, "relay", "needs trust, which names the agents whose records are relayed",
			"set trust = to the URLs of the agents"},
		{!f.Relay && len(f.Trust) > 0, "trust", "needs relay = true", "relay = true"},
		{f.Relay && !f.Kind.PassesOn(), "relay", "feeds of this kind do not name the agent of a record", ""},
		{f.HatenaTimes && f.Kind != antenna.Auto && f.Kind != antenna.Kind(feed.HinaDI), "hatena-times",
			"applies only to hina-di feeds", ""},
		{f.Local && len(t.Header) > 0, "header", "applies only to feeds with url, not with file", ""},
		{f.Local && len(t.HeaderEnv) > 0, "header-env", "applies only to feeds with url, not with file", ""},
		{f.Local && len(t.HeaderFile) > 0, "header-file", "applies only to feeds with url, not with file", ""},
		{f.Local && t.UserEnv != "", "user-env", "applies only to feeds with url, not with file", ""},
		{f.Local && t.UserFile != "", "user-file", "applies only to feeds with url, not with file", ""},
	} {
		if wrong.when {
			return b.wrong(wrong.why, wrong.try, key(wrong.last)...)
		}
	}
	for i, agent := range f.Trust {
		plain, err := address.ASCII(agent)
		if err == nil && b.web(plain, key("trust")...) != nil && !isGatherer(plain, f.Kind) {
			err = errors.New("is neither the URL of an agent nor the host:port of a gatherer: " + strconv.Quote(agent))
		}
		if err != nil {
			return b.wrong(err.Error(), "write the URL of the agent as it is in its feed (Authorized-url, or the last "+
				"field of LIRS), such as https://antenna.example.org/", key("trust")...)
		}
		f.Trust[i] = plain
	}
	if f.Local {
		return nil
	}
	return b.web(f.URL, key("url")...)
}

// isGatherer reports whether s names a gatherer as SOIF does: a host with a port or, in a SOIF feed, a host alone.
func isGatherer(s string, kind antenna.Kind) bool {
	host, port, ok := strings.Cut(s, ":")
	if !ok && kind == antenna.Kind(feed.SOIF) {
		port = "1"
	}
	return host != "" && port != "" && strings.Trim(port, "0123456789") == "" && !strings.ContainsAny(host, "/ \t@") &&
		(kind == antenna.Kind(feed.SOIF) || kind == antenna.Auto)
}

func (t limitsTable) limits() antenna.Limits {
	return antenna.Limits{
		Limits: feed.Limits{Bytes: int64(t.Bytes), Entries: int(t.Entries), Line: int(t.Line), Value: int(t.Value),
			Ratio: int64(t.Ratio)},
		Time:    time.Duration(t.Time),
		Relayed: int(t.Relayed), Updates: int(t.Updates), DayBytes: int64(t.DayBytes),
	}
}

// namesDigest reports whether the fragment of u names a digest, even an invalid one.
func namesDigest(u *url.URL) bool {
	digests, err := verify.OfURL(&url.URL{Fragment: u.Fragment})
	return err != nil || len(digests) > 0
}

// web checks a URL that will be requested. A password in the URL can be read by everyone who may read the
// configuration, which is the user's decision. web adds the password to the secrets, so that it is never printed.
func (b *builder) web(s string, key ...string) error {
	u, err := url.Parse(s)
	why := ""
	switch {
	case err != nil:
		why = "not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		why = "is not an http or https URL"
	case u.Hostname() == "":
		why = "the URL has no host"
	case namesDigest(u):
		why = "the URL has the digest of one version, but the file will change"
	case u.User != nil:
		password, _ := u.User.Password()
		b.secret(password)
	}
	if why == "" {
		return nil
	}
	return b.wrong(why, "", key...)
}
