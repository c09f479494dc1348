package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"braid/address"
	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/download/limit"
	"braid/download/state"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/source/httpsource"
)

// A setup holds the objects made from a configuration: antenna, updater, memory and client.
type setup struct {
	of      *Loaded
	antenna *antenna.Antenna
	updater *Updater
	memory  *Memory
	client  *download.Client
	sites   *job.Sites
	stop    func()         // stops the adjustment of limits to the time of day
	tidying sync.WaitGroup // removals of part files
}

// newSetup returns the setup for c. Errors are about the configuration, or about files that it names.
func newSetup(c *Loaded, store *antenna.Store, log *slog.Logger) (*setup, error) {
	if err := c.checkServing(); err != nil {
		return nil, err
	}
	hosts, err := hostsOf(c.Hosts, c.typed())
	if err != nil {
		return nil, err
	}
	conf, err := job.ReadSettings() // read again at each SIGHUP
	if err != nil {
		return nil, err
	}
	conf.Said = c.Said
	at := job.NewSites(conf)
	s := &setup{of: c, sites: at, stop: func() {}}
	if s.client, err = watchClient(c, hosts, at); err != nil {
		return nil, err
	}
	rules, err := rulesOf(c, s.client.Limit, at)
	if err != nil {
		return nil, err
	}
	if s.memory, err = OpenMemory(filepath.Join(c.Folder, memoryFile), rules); err != nil {
		return nil, problem.Local("watch", c.Folder, err)
	}
	s.memory.key = partfile.OpenKey(fsys.OS, s.client.JournalKey)
	if err := c.learnSecrets(at); err != nil {
		return nil, err
	}
	s.updater = &Updater{
		Client: s.client, Rules: rules, Memory: s.memory, Log: log, Hide: c.Hider().Replace, Hidden: c.SecretNames,
		Reserved: func(path string) bool { return watcherGoesBy(c, at, path) },
	}
	s.antenna = &antenna.Antenna{
		Feeds: slices.Clone(c.Feeds), Store: store, AllowHosts: hosts, UserAgent: c.UserAgent, AgentURL: c.Publish.AgentURL,
		Polls: c.Polls, HostGap: c.HostGap, Handlers: c.Parallel, Wants: s.updater.Moved, Hide: s.updater.Hide,
		Proxy: s.client.HTTP.Proxy, TLS: s.client.HTTP.TLS, TLSFor: s.client.HTTP.TLSFor,
	}
	s.antenna.Judge = c.Command.judge
	for i := range c.Watches {
		w := c.Watches[i].Watch
		w.Print = watchPrint(&c.Watches[i], conf)
		s.antenna.Watches = append(s.antenna.Watches, w)
	}
	if err := s.identify(at); err != nil {
		return nil, err
	}
	if c.by != nil {
		c.by.take(c, s)
	}
	if c.Publish.Dir != "" {
		s.antenna.Publish = publisher(c.Publish, log)
	}
	if err := s.antenna.Check(); err != nil {
		return nil, ConfigProblem(c.File, err)
	}
	return s, nil
}

// typed returns the URLs of feeds, watches and mirrors in the configuration.
func (c *Loaded) typed() (urls []string) {
	for _, f := range c.Feeds {
		urls = append(urls, f.URL)
	}
	for _, w := range c.Watches {
		urls = append(append(urls, w.URL), w.Mirrors...)
	}
	return urls
}

// identify adds to the antenna's requests the header fields in the settings for a site, and the tokens of forges.
func (s *setup) identify(at *job.Sites) error {
	for i := range s.antenna.Feeds {
		if f := &s.antenna.Feeds[i]; !f.Local {
			if err := at.AddTo(&f.Header, f.URL); err != nil {
				return err
			}
			if u, err := url.Parse(f.URL); err == nil && s.of.by == nil { // a daemon has no token
				f.Token = job.ForgeToken(f.Header, u)
			}
		}
	}
	for i := range s.antenna.Watches {
		if w := &s.antenna.Watches[i]; !w.Glob && w.Releases == nil {
			if err := at.AddTo(&w.Header, w.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// learnSecrets adds the header fields that the settings have for a site, and the tokens of forges, to c.Secrets.
func (c *Loaded) learnSecrets(at *job.Sites) error {
	var urls []string
	for _, f := range c.Feeds {
		if !f.Local {
			urls = append(urls, f.URL)
		}
	}
	for _, w := range c.Watches {
		urls = append(urls, w.URL)
	}
	for _, s := range urls {
		var header http.Header
		if err := at.AddTo(&header, s); err != nil {
			return err
		}
		if u, err := url.Parse(s); err == nil {
			header = job.AddForgeToken(header, u)
		}
		for name, values := range header {
			if !web.ForAnyServer(name) {
				c.hide(values...)
			}
		}
	}
	return nil
}

// hide adds texts to the secrets: each text, and each text without its first word, as in Bearer TOKEN.
func (c *Loaded) hide(texts ...string) {
	for _, text := range texts {
		_, token, _ := strings.Cut(text, " ")
		for _, s := range []string{text, token} {
			if s != "" && !slices.Contains(c.Secrets, s) {
				c.Secrets = append(c.Secrets, s)
			}
		}
	}
}

// close closes idle connections and saves the state of the client.
func (s *setup) close() {
	s.stop()
	s.tidying.Wait()
	s.client.HTTP.CloseIdle()
	s.client.State.Save()
}

// hostsOf returns the hosts in words, and the hosts of the URLs in typed that are IP addresses.
func hostsOf(words, typed []string) (address.Hosts, error) {
	var h job.Hosts
	for _, word := range words {
		if err := h.Set(word); err != nil {
			return h.Hosts, problem.Misuse("allow-hosts "+word, err.Error(), "")
		}
	}
	return h.Typed(typed...), nil
}

// watchClient returns the client for downloads. Its state is in c.Folder, because a service has no other folder.
func watchClient(c *Loaded, hosts address.Hosts, at *job.Sites) (client *download.Client, err error) {
	if c.by != nil && c.by.client != nil {
		return c.by.share(c, at), nil
	}
	client = &download.Client{
		HTTP: &httpsource.Client{UserAgent: c.UserAgent, AllowHosts: hosts}, MaxSize: c.Size, LowestSpeed: c.Lowest,
		State:      &state.Store{Dir: c.Folder},
		JournalKey: filepath.Join(c.Folder, "journal-key"), Limit: at.Limits.Of(c.Rate),
	}
	if err := new(job.Proxies).Apply(client.HTTP); err != nil {
		return nil, err
	}
	pace := &job.HostPace{}
	pace.Set(option.NumberValue(c.HostRate), c.HostLimit)
	if err := at.PaceHosts(client.HTTP, pace); err != nil {
		return nil, err
	}
	if client.HostLimits, err = at.LimitHosts(pace); err != nil {
		return nil, err
	}
	return client, at.ConfigureClient(client.HTTP)
}

func rulesOf(c *Loaded, all *limit.Limiter, at *job.Sites) (map[string]*Rule, error) {
	rules := map[string]*Rule{}
	not, err := (&job.Location{GeoIPDB: c.GeoIPDB}).Exclusion("not-hosts", c.NotHosts)
	if err != nil {
		return nil, err
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		r, err := ruleOf(c, w, all, at)
		if err == nil {
			err = refuseWatch(not, w)
		}
		if err != nil {
			f := problem.Of(err)
			return nil, problem.Misuse(c.File, "watch."+w.Name+": "+f.Where+": "+f.Why, f.Hint)
		}
		r.Request.Access.Not = not
		rules[w.Name] = r
	}
	return rules, nil
}

// refuseWatch returns an error if the URL or a mirror of a watch is at an excluded host.
func refuseWatch(x *address.Exclusion, w *Watch) error {
	for _, word := range append(slices.Clone(w.Mirrors), w.URL) {
		if u, err := url.Parse(word); err == nil && (!w.Glob || word != w.URL) {
			if err := job.CheckExcluded(x, u); err != nil {
				return err
			}
		}
	}
	return nil
}

func ruleOf(c *Loaded, w *Watch, all *limit.Limiter, at *job.Sites) (*Rule, error) {
	flags := job.Anchors{
		Key: option.WordsValue(w.Keys), Keyring: option.WordsValue(w.Keyrings), Pin: option.WordsValue(w.Pins),
		SMIMECA:   option.WordsValue(w.Authorities),
		Signature: option.WordsValue(w.Signatures), AllowExpiredKey: w.AllowExpiredKey,
	}
	q := download.Request{
		Access: download.Access{Header: w.Header}, NoMetalink: w.NoMetalink,
		Trust: download.Trust{LessProof: w.AllowLessProof, Lookup: !w.NoLookup},
	}
	r := &Rule{Watch: w, Request: q}
	demanded := at.Demand(string(w.Require), &flags)
	r.Request.Trust.Require = demanded.Require
	if w.Require == "" && !flags.Given() {
		r.Request.Trust.Require = download.RequireDigest
	}
	var err error
	if w.To != "" {
		store, err := objectstore.Open(w.To, job.StoreOptions(c.Command.Agent, 0, func(text string) { slog.Warn(text) }))
		if err != nil {
			return nil, c.Command.problem(err)
		}
		r.Request.Store = store
	}
	if r.Request.Trust.Anchors, err = flags.Load(); err != nil {
		return nil, err
	}
	if r.Request.Mirrors, err = job.ParseURLs(w.Mirrors, job.ParseWebURL); err != nil {
		return nil, err
	}
	if len(w.Signatures) > 0 {
		r.SignaturesOf = flags.SignaturesFor
		// Only a check: the signature files are read again for each request.
		if _, err := flags.SignaturesFor(&url.URL{Scheme: "https", Host: "example.org", Path: "/"}); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(w.URL)
	if err != nil {
		return nil, err
	}
	common := r.Request
	if err := at.Apply(&r.Request, u, demanded.Said, all); err != nil {
		return nil, err
	}
	if w.Many() && at.Any() { // each URL may belong to a different site
		r.Site = siteOf(r, common, at, demanded.Said, all)
	}
	if len(w.Signatures) > 0 && !r.Request.Trust.Anchors.Any() && r.Site == nil {
		return nil, problem.Misuse("signature", "a signature needs a trusted key or certificate",
			"name the trusted keys with key =")
	}
	if r.Limit = at.Limits.Of(w.Rate); r.Limit != nil {
		r.Request.Limits.Rate = nil
		if all != nil {
			r.Limit.Within(all)
		}
	}
	return r, nil
}

// siteOf returns a function that replaces the settings for the site of the watch by those for the site of the request's
// URL. common is the request without settings for a site.
func siteOf(r *Rule, common download.Request, at *job.Sites, said bool, all *limit.Limiter) func(*download.Request) error {
	return func(q *download.Request) error {
		q.Trust.Anchors, q.Trust.Require = common.Trust.Anchors, common.Trust.Require
		q.Access.Header, q.Limits.Rate = common.Access.Header, nil
		err := at.Apply(q, q.URL, said, all)
		if r.Limit != nil {
			q.Limits.Rate = nil
		}
		return err
	}
}

// publisher returns a function that writes the known updates into a folder.
func publisher(p Publish, log *slog.Logger) func(context.Context, feed.Snapshot) error {
	return func(_ context.Context, s feed.Snapshot) error {
		report, err := antenna.WriteFolder(p.Dir, s, antenna.FolderOptions{Title: p.Title})
		for why, n := range report.Refused {
			log.Debug("not published", "why", why, "records", n)
		}
		log.Debug("published", "files", report.Files, "unwritable", report.Unwritable)
		return err
	}
}

// watchPrint returns a fingerprint of the settings of a watch and of the contents of the files that the settings name.
// Only two bytes of the fingerprint depend on secrets, enough to notice a change (rule 62). The fingerprint is stored,
// and a program that reads it must not be able to guess secrets.
func watchPrint(w *Watch, conf *job.Settings) string {
	plain, secret := sha256.New(), sha256.New()
	a := w.Watch
	u := *w
	u.Watch, u.Header, u.File = a, nil, Template{}
	u.Watch.Header, u.Watch.Print = nil, ""
	u.Watch.URL, u.Watch.Releases = "", nil
	if u.Keep = nil; w.Keep != nil { // the number, because the pointer differs in each run
		fmt.Fprintf(plain, "%d\n", *w.Keep)
	}
	fmt.Fprintf(plain, "%+v %q\n", u, w.File.String())
	if r := a.Releases; r != nil {
		fmt.Fprintf(plain, "%q %q %t %t\n", r.Template.Patterns(), r.Choice.Versions.String(), r.Choice.PreReleases, r.Moving)
	}
	files := slices.Concat(w.Keys, w.Keyrings, w.Authorities, w.Signatures)
	fmt.Fprintf(secret, "%q %v %v\n", w.URL, w.Header, a.Header)
	if at, err := url.Parse(w.URL); err == nil && conf != nil && conf.File != nil {
		if site := conf.File.Site(at); site != nil {
			fmt.Fprintf(secret, "%q %v\n", site.Pattern, site.Values) // not its line
			files = slices.Concat(files, site.Values["key"], site.Values["keyring"], site.Values["smime-ca"])
		}
	}
	for _, word := range append([]string{w.URL}, w.Mirrors...) {
		if at, err := url.Parse(word); err == nil && conf != nil {
			if bound, err := conf.Trust.Of(at); bound != nil && err == nil {
				fmt.Fprintf(plain, "%+v\n", bound.Keys)
			}
		}
	}
	for _, path := range files {
		data, err := os.ReadFile(job.FromHome(path)) // .asc and URLs are not files
		fmt.Fprintf(plain, "%x %t\n", sha256.Sum256(data), err == nil)
	}
	return fmt.Sprintf("%.16x-%.2x", plain.Sum(nil), secret.Sum(nil))
}

// ownOfWatcher returns the files and folders that a watcher depends on.
func ownOfWatcher(c *Loaded, at *job.Sites) []string {
	places := slices.Concat(
		job.OwnFolders(), job.OwnNames(c.Folder, storeFile, memoryFile, copyFile, "control", "journal-key"), at.Files(),
		[]string{c.File, c.GeoIPDB},
	)
	for i := range c.Watches {
		places = slices.Concat(places, c.Watches[i].Keys, c.Watches[i].Keyrings, c.Watches[i].Authorities)
	}
	return places
}

// watcherGoesBy reports whether path leads to a file or folder that the watcher, or the daemon around it,
// depends on.
func watcherGoesBy(c *Loaded, at *job.Sites, path string) bool {
	return job.LeadsTo(path, ownOfWatcher(c, at)) || c.by != nil && c.by.isReserved(path)
}
