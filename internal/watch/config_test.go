package watch

import (
	"errors"
	"io/fs"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/internal/option"
	"braid/metalink"
)

// options provide two variables and one file.
var options = ConfigOptions{
	Dir: "/etc/braid",
	Environment: func(name string) (string, bool) {
		value, ok := map[string]string{"TOKEN": "Bearer s3cret-token", "PAIR": "me:s3cret:word", "EMPTY": ""}[name]
		return value, ok
	},
	ReadFile: func(path string) ([]byte, error) {
		if path == "/etc/braid/key" {
			return []byte("s3cret-file\n"), nil
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	},
}

const everything = `
state = "state"
parallel = 3
polls = 8
host-gap = "2s"
host-rate = 4
host-limit-rate = "2M"
limit-rate = ["09:00-17:00 2M", "20M"]
lowest-speed-limit = "2K"
max-size = "8G"
metrics = "127.0.0.1:9110"
log-format = "json"
log-level = "debug"
user-agent = "our antenna"
allow-hosts = ["10.0.0.0/8"]
not-hosts = ["slow.example.net", "xx"]
geoip-db = "where.mmdb"
zone = "+09:00"

[feed.second]
file = "feeds/antenna.lirs"
kind = "lirs"

[feed.first]
url = "https://example.org/hina.di"
kind = "hina-di"
every = "20m"
min = "10m"
max = 7200
relay = true
trust = ["https://example.org/"]
hatena-times = true
header = ["X-Kind: nightly", "x-api-key: s3cret-inline"]
user-env = "PAIR"
[feed.first.limits]
bytes = "4M"
entries = 2000000
line = "8K"
value = "2M"
ratio = 50
time = "1m"
relayed = 20
updates-a-day = 7
bytes-a-day = "unlimited"

[watch.iso]
url = "https://example.org/pub/disk.iso"
feeds = ["first"]
dir = "../srv"
name = "{host}/{base}"
require = "signature"
key = ["release.pub", "RWRLpPvtfqc4mTuwuQyUxe/IzdnMHcZN3iBd0qkajC+PPqXA11rGaq08"]
keyring = ["keys.gpg"]
pin = ["0123456789ABCDEF0123456789ABCDEF01234567"]
smime-ca = ["/ca.pem"]
allow-expired-key = true
signature = [".asc", "disk.sig", "https://example.org/x.asc"]
mirror = ["https://mirror.example.net/disk.iso"]
feed-mirrors = true
keep = 2
run = ["/usr/bin/touch", "x y"]
on-failure = ["bin/mail"]
hook-time = "5m"
check-every = "6h"
limit-rate = "1M"
max-size = "2G"
allow-older = true
allow-less-proof = true
no-metalink = true
no-lookup = true
priority = "high"
any-news = true
title = "Disk"
author = "Us"
zone = "-01:30"
header-env = { Authorization = "TOKEN" }
header-file = { X-Key = "key" }

[watch.stored]
url = "https://example.org/pub/stored.iso"
to = "s3://bucket/isos/"

[watch.all]
glob = "https://example.org/all/**"
dir = "/srv/all"

[watch.tool]
url = "https://example.org/tool/{tag}/tool_{version}.tar.gz"
feeds = ["first"]
dir = "/srv/tool"
token-pattern = "tag/(.*)"
version-pattern = "v(.*)"
versions = ">=2 <3"
pre-releases = true
moving = true
link = "tool.tar.gz"
`

func ratesOf(s string) (v option.RatesValue) {
	if err := v.Set(s); err != nil {
		panic(err)
	}
	return v
}

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := ParseConfig([]byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEverything(t *testing.T) {
	c := parse(t, everything)
	if len(c.Feeds) != 2 || len(c.Watches) != 4 {
		t.Fatalf("%d feeds, %d watches", len(c.Feeds), len(c.Watches))
	}
	feeds := []antenna.Feed{
		{Name: "second", URL: "/etc/braid/feeds/antenna.lirs", Local: true, Kind: antenna.Kind(feed.LIRS)},
		{
			Name: "first", URL: "https://example.org/hina.di", Kind: antenna.Kind(feed.HinaDI), Every: 20 * time.Minute,
			Min: 10 * time.Minute, Max: 2 * time.Hour,
			Relay: true, Trust: []string{"https://example.org/"}, HatenaTimes: true,
			Limits: antenna.Limits{Limits: feed.Limits{Bytes: 4 << 20, Entries: 2_000_000, Line: 8 << 10,
				Value: 2 << 20, Ratio: 50},
				Time: time.Minute, Relayed: 20, Updates: 7, DayBytes: -1},
			Header: map[string][]string{"X-Kind": {"nightly"}, "X-Api-Key": {"s3cret-inline"},
				"Authorization": {"Basic bWU6czNjcmV0OndvcmQ="}},
		},
	}
	if !reflect.DeepEqual(c.Feeds, feeds) {
		t.Errorf("feeds are\n%+v, want\n%+v", c.Feeds, feeds)
	}
	w := c.Watches[0]
	w.File = Template{}
	iso := Watch{
		Watch: antenna.Watch{
			Name: "iso", URL: "https://example.org/pub/disk.iso", Feeds: []string{"first"}, CheckEvery: 6 * time.Hour,
			AnyNews: true, Title: "Disk", Author: "Us", Zone: -5400,
			Header: map[string][]string{"Authorization": {"Bearer s3cret-token"}, "X-Key": {"s3cret-file"}},
		},
		Dir: "/etc/srv", Keep: new(2), Run: []string{"/usr/bin/touch", "x y"},
		OnFailure: []string{"/etc/braid/bin/mail"}, HookTime: 5 * time.Minute, Size: 2 << 30, AllowOlder: true, NoLookup: true,
		Require: RequireSignature, Priority: "high",
		Keys:     []string{"/etc/braid/release.pub", "RWRLpPvtfqc4mTuwuQyUxe/IzdnMHcZN3iBd0qkajC+PPqXA11rGaq08"},
		Keyrings: []string{"/etc/braid/keys.gpg"}, Pins: []string{"0123456789ABCDEF0123456789ABCDEF01234567"},
		Authorities: []string{"/ca.pem"}, AllowExpiredKey: true, Signatures: []string{".asc", "/etc/braid/disk.sig",
			"https://example.org/x.asc"}, Mirrors: []string{"https://mirror.example.net/disk.iso"}, FeedMirrors: true,
		Rate: ratesOf("1M"), AllowLessProof: true, NoMetalink: true,
	}
	if !reflect.DeepEqual(w, iso) {
		t.Errorf("watch is\n%+v, want\n%+v", w, iso)
	}
	if stored := c.Watches[1]; stored.To != "s3://bucket/isos/" || stored.Dir != "" {
		t.Errorf("the second watch is %+v", stored)
	}
	if all := c.Watches[2]; !all.Glob || all.Zone != 32400 || all.Require != "" {
		t.Errorf("the third watch is %+v", all)
	}
	if tool := c.Watches[3]; tool.Link != "tool.tar.gz" || tool.Releases == nil { // see TestReleasesParsed
		t.Errorf("the fourth watch is %+v", tool)
	}
	c.Feeds, c.Watches = nil, nil
	rest := &Config{
		State: "/etc/braid/state", Parallel: 3, Polls: 8, HostGap: 2 * time.Second, HostRate: 4, HostLimit: 2 << 20,
		Rate: ratesOf("09:00-17:00 2M, 20M"), Lowest: 2 << 10, Size: 8 << 30, Metrics: "127.0.0.1:9110",
		Log: Log{"json", "debug"}, UserAgent: "our antenna", Hosts: []string{"10.0.0.0/8"},
		NotHosts: []string{"slow.example.net", "xx"}, GeoIPDB: "/etc/braid/where.mmdb",
		Secrets: []string{"nightly", "s3cret-inline", "s3cret:word", "bWU6czNjcmV0OndvcmQ=", "Bearer s3cret-token",
			"s3cret-token", "s3cret-file"},
		SecretNames: []string{"PAIR", "TOKEN"},
	}
	if !reflect.DeepEqual(c, rest) {
		t.Errorf("the rest is\n%+v, want\n%+v", c, rest)
	}
}

const small = "[feed.f]\nurl = 'http://a.example/f'\n[watch.w]\nurl = 'http://a.example/w'\ndir = 'd'\n"

func TestWrong(t *testing.T) {
	refused(t, []wrong{
		{"stat = '/x'\n" + small, "stat", 1, "unknown key (did you mean state?)"},
		{"[Feed.a]\nurl = 'http://127.0.0.1:1/f'\n" + small, "Feed", 1, "unknown key (did you mean feed?)"},
		{small + "Require = 'digest'", "watch.w.Require", 6, "unknown key (did you mean require?)"},
		{small + "dirr = 'x'", "watch.w.dirr", 6, "unknown key (did you mean dir?)"},
		{small + "colour = 'x'", "watch.w.colour", 6,
			"unknown key (choose one of allow-expired-key, allow-less-proof, allow-older, any-news, author"},
		{small + "[feed.f.limits]\nbites = '3M'", "feed.f.limits.bites", 7, "did you mean bytes?"},
		{small + "[feeds.g]\nurl = ''", "feeds", 6, "did you mean feed?"},
		{"watch = { w = { url = 'http://a.example/', dir = 'd',\n requir = 'none' } }", "watch.w.requir", 2,
			"did you mean require?"},
		{"watch.w.url = 'http://a.example/'\nwatch.w.requir = 'none'", "watch.w.requir", 2, "did you mean require?"},
		{"limit-rate = '2MB'\n" + small, "limit-rate", 1, "write a number of bytes"},
		{"max-size = 0\n" + small, "max-size", 1, "write a number of bytes"},
		{"parallel = -1\n" + small, "parallel", 1, "write a number from 1"},
		{"parallel = '2K'\n" + small, "parallel", 1, "write a number from 1"},
		{"log-format = 'xml'\n" + small, "log-format", 1, "write one of text, json"},
		{"log-level = 'loud'\n" + small, "log-level", 1, "write one of debug, info"},
		{"zone = 'JST'\n" + small, "zone", 1, "write an offset"},
		{small + "zone = 'JST'", "watch.w.zone", 6, "write an offset"},
		{"[feed.f]\nurl = 'http://a.example'\nkind = 'lisr'", "feed.f.kind", 3,
			`"lisr" is not a kind of feed; the kinds are auto, hina-di, lirs, soif, news, sitemap, index, releases ()`},
		{"[feed.f]\nurl = 'http://a.example'\nkind = 'page'", "feed.f.kind", 3, "check-every"},
		{"[feed.f]\nurl = 'http://a.example'\nfile = 'x'", "feed.f", 1, "needs exactly one of url and file"},
		{"[feed.f]\nevery = '10m'", "feed.f", 1, "needs exactly one of url and file"},
		{"[feed.f]\nurl = 'ftp://a.example'", "feed.f.url", 2, "is not an http or https URL"},
		{"[feed.f]\nurl = 'http:///x'", "feed.f.url", 2, "the URL has no host"},
		{"[feed.f]\nurl = 'http://a.example'\nmin = '5ms'", "feed.f.min", 3, "at least one second"},
		{"[feed.f]\nurl = 'http://a.example'\nmin = '5m'\nmax = '4m'", "feed.f.min", 3, "more than max"},
		{"[feed.f]\nurl = 'http://a.example'\nevery = '2h'\nmax = '1h'", "feed.f.every", 3, "more than max"},
		{"[feed.f]\nurl = 'http://a.example'\nevery = '1m'\nmin = '1h'", "feed.f.every", 3, "less than min"},
		{"[feed.f]\nurl = 'http://a.example'\nmin = 'soon'", "feed.f.min", 3, "write a time"},
		{"[feed.f]\nurl = 'http://a.example'\n[feed.f.limits]\nupdates-a-day = 'many'", "feed.f.limits.updates-a-day",
			4, "unlimited"},
		{"[watch.w]\nglob = 'http://a.example/*'\ndir = 'd'", "watch.w.feeds", 1, "a glob needs a feed"},
		{small + "feeds = ['g']", "watch.w.feeds", 6, "there is no feed g"},
		{small + "glob = 'http://a.example/*'", "watch.w.url", 4, "needs exactly one of url and glob"},
		{small + "to = 's3://b/'", "watch.w.to", 6, "cannot be combined with dir"},
		{"[watch.w]\nurl = 'http://a.example/x'\nto = '/srv'", "watch.w.to", 3, "is not a URL of the form"},
		{"[watch.w]\nurl = 'http://a.example/x'\nto = 's3://b/'\nkeep = 2", "watch.w.keep", 4, "the store keeps old versions"},
		{"[watch.w]\nurl = 'http://a.example/x'\nto = 's3://b/'\nkeep = 0", "watch.w.keep", 4, "the store keeps old versions"},
		{small + "[watch.x]\nurl = 'http://a.example/*'\ndir = 'd'", "watch.x.url", 7, "has a star"},
		{small + "[watch.x]\nurl = 'ftp://a.example/x'\ndir = 'd'", "watch.x.url", 7, "is not an http or https URL"},
		{small + "[watch.x]\nurl = 'http://a.example/x'", "watch.x.dir", 6, "missing folder for the files"},
		{small + "[watch.x]\nurl = 'http://b.example/w'\ndir = './d/'", "watch.x.name", 6, "watch.w writes the same file"},
		{small + "[watch.x]\nurl = 'http://b.example/'\ndir = 'd'", "watch.x.name", 6, "of a folder, not of a file"},
		{small + "keep = -1", "watch.w.keep", 6, "0 to 1000"},
		{small + "require = 'proof'", "watch.w.require", 6, "write one of none, digest, signature"},
		{small + "require = 'signature'", "watch.w.require", 6, "no key or certificate is trusted"},
		{small + "pin = ['AB']", "watch.w.pin", 6, "none is given"},
		{small + "run = ['']", "watch.w.run", 6, "the name of the program is empty"},
		{small + "on-failure = ['']", "watch.w.on-failure", 6, "the name of the program is empty"},
		{small + "check-every = '1ms'", "watch.w.check-every", 6, "at least one second"},
		{small + "mirror = ['gopher://x']", "watch.w.mirror", 6, "is not an http or https URL"},
		{small + "name = '{nome}'", "watch.w.name", 6, "unknown field {nome}"},
		{small + "name = '../{base}'", "watch.w.name", 6, "begins with a dot"},
		{small + "header = ['X-Key']", "watch.w.header", 6, "is not a header field"},
		{small + "header = ['X Key: 1']", "watch.w.header", 6, "characters that are not allowed"},
		{small + "header = [\"X-Key: 1\\u0000\"]", "watch.w.header", 6, "control characters"},
		{small + "header-env = { Cookie = 'NOT_SET' }", "watch.w.header-env.Cookie", 6, "not set"},
		{small + "header-env = { Cookie = 'EMPTY' }", "watch.w.header-env.Cookie", 6, "not set, or empty"},
		{small + "header-env = { Accept-Language = 'TOKEN' }", "watch.w.header-env.Accept-Language", 6, "sent to mirrors"},
		{small + "header-file = { Cookie = 'none' }", "watch.w.header-file.Cookie", 6, "not exist"},
		{small + "user-env = 'TOKEN'", "watch.w.user-env", 6, "USER:PASSWORD"},
		{small + "user-env = 'PAIR'\nuser-file = 'key'", "watch.w.user-file", 7, "cannot be combined with user-env"},
		{small + "[watch.x]\nglob = 'http://a.example/**'\ndir = 'd'\nname = '{base}'", "watch.x.name", 9, "the same name"},
		{small + "[watch.x]\nglob = 'http://a.example/*'\ndir = 'd'\ncheck-every = '1h'", "watch.x.check-every", 9,
			"applies only to url"},
		{small + "[watch.x]\nglob = 'http://a.example/*'\ndir = 'd'\nsignature = ['x.asc']", "watch.x.signature", 9, "one file"},
		{small + "[watch.x]\nglob = 'http://a.example/*'\ndir = 'd'\nmirror = ['http://b.example/']", "watch.x.mirror",
			9, "one file"},
		{small + "[publish]\ndir = 'www'\nagent-url = 'antenna.example.org'", "publish.agent-url", 8,
			"is not an http or https URL"},
		{"state = 'x'", "", 0, "the configuration has no watch and no feed"},
		{"state = 3", "state", 1, "a number is given where a string is expected"},
		{small + "run = 'touch x'", "watch.w.run", 6, "a string is given where a list is expected"},
		{small + "keep = 1.5", "watch.w.keep", 6, "a fraction is given where a whole number is expected"},
		{small + "run = [1]", "watch.w.run", 6, "a number is given where a string is expected"},
		{small + "limit-rate = [1]", "watch.w.limit-rate", 6, "write a rate"},
		{small + "no-metalink = 'yes'", "watch.w.no-metalink", 6, "a string is given where a boolean is expected"},
		{"watch = 3", "watch", 1, "a number is given where a table is expected"},
		{small + "header-env = 'TOKEN'", "watch.w.header-env", 6, "a string is given where a table is expected"},
		{small + "header-file = ['x']", "watch.w.header-file", 6, "a list is given where a table is expected"},
		{"[watch]\nw = 3", "watch.w", 2, "a number is given where a table is expected"},
		{"state = 'x\n", "state", 1, "newlines"},
		{small + "[watch.x]\nglob = 'http://me:s3cret@a.example/*'\ndir = 'd'", "watch.x.glob", 7, "user-env"},
		{small + "[watch.x]\nglob = 'http://a*/x'\ndir = 'd'", "watch.x", 6, "a complete host"},
		{small + "dir = 'again'", "watch.w.dir", 6, "already been defined"},
	})
}

// TestSecretsAreNotTold: errors about a secret do not contain it (rule 62).
func TestSecretsAreNotTold(t *testing.T) {
	for _, line := range []string{
		"header = ['s3cret-inline']", "header = [\"X-Key: s3cret\\u0000\"]", "user-env = 'TOKEN'",
		"mirror = ['ftp://me:s3cret@a.example/']",
	} {
		_, err := ParseConfig([]byte(small+line), options)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestNoSecrets: with NoSecrets the configuration is the same without values from elsewhere, and an error is only about
// the file itself.
func TestNoSecrets(t *testing.T) {
	c, err := ParseConfig([]byte(everything), ConfigOptions{Dir: "/etc/braid", NoSecrets: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"X-Kind": {"nightly"}, "X-Api-Key": {"s3cret-inline"}}
	if got := c.Feeds[1].Header; !reflect.DeepEqual(map[string][]string(got), want) || c.Watches[0].Header != nil ||
		c.SecretNames != nil {
		t.Errorf("header %v, of the watch %v, of variables %q", got, c.Watches[0].Header, c.SecretNames)
	}
	if _, err := ParseConfig([]byte(small+"header = ['none']"), ConfigOptions{NoSecrets: true}); err == nil {
		t.Error("a field that is none was taken")
	}
}

func TestPublish(t *testing.T) {
	c := parse(t, small+"[publish]\ndir = 'www'\nagent-url = 'https://a.example/'\ntitle = 'Ours'\n")
	if want := (Publish{Dir: "/etc/braid/www", AgentURL: "https://a.example/", Title: "Ours"}); c.Publish != want {
		t.Errorf("%+v, want %+v", c.Publish, want)
	}
}

func TestFlags(t *testing.T) {
	c, err := FromFlags(Flags{Feeds: []string{"http://a.example/x.lirs", "sub/x.lirs"},
		URLs: []string{"http://a.example/a.iso?key=s3cret", "http://a.example/*.img"}, Dir: "d"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Feeds[1]; c.Feeds[0].Name != "x.lirs" || f.Name != "x.lirs-2" || !f.Local || f.URL != "/etc/braid/sub/x.lirs" {
		t.Errorf("feeds: %+v", c.Feeds)
	}
	if w := c.Watches; w[0].Name != "a.iso" || w[0].CheckEvery != 0 || !w[1].Glob || w[1].Dir != "/etc/braid/d" {
		t.Errorf("watches: %+v", w)
	}
	c, err = FromFlags(Flags{URLs: []string{"http://a.example/a.iso"}, Dir: "d"}, options)
	if err != nil || c.Watches[0].CheckEvery != time.Hour {
		t.Errorf("without feeds: %+v, %v", c, err)
	}
	if _, err := FromFlags(Flags{URLs: []string{"http://a.example/"}, Dir: "d"}, options); err == nil {
		t.Error("a URL without a name is taken")
	}
}

// FuzzParse: the antenna accepts every accepted configuration, and its file names are below the folder.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(small)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig([]byte(text), options)
		if err != nil {
			if _, ok := errors.AsType[*option.Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		a := antenna.Antenna{Feeds: c.Feeds}
		for _, w := range c.Watches {
			a.Watches = append(a.Watches, w.Watch)
			u, err := url.Parse(w.URL)
			if err != nil || w.Glob {
				continue
			}
			if name, err := w.File.Name(subject{URL: u, Watch: w.Name}); err != nil || metalink.CheckPath(name) != nil {
				t.Fatalf("%s: %q, %v", w.Name, name, err)
			}
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// A password in a URL is a secret like one from elsewhere (rule 62).
func TestPasswordInURL_Rule62(t *testing.T) {
	c := parse(t, "[feed.f]\nurl = 'http://a.example/f'\n[watch.w]\nurl = 'http://me:hunter22@a.example/w'\ndir = 'd'\n")
	if !slices.Contains(c.Secrets, "hunter22") {
		t.Errorf("secrets are %q", c.Secrets)
	}
}
