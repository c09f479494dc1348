package watch

import (
	"braid/internal/option"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrong is an invalid configuration and its error.
type wrong struct {
	text, key string
	line      int
	words     string
}

func refused(t *testing.T, list []wrong) {
	t.Helper()
	for _, tt := range list {
		_, err := ParseConfig([]byte(tt.text), options)
		e, ok := errors.AsType[*option.Error](err)
		if !ok {
			t.Errorf("%s\nerror is %v", tt.text, err)
			continue
		}
		if text := fmt.Sprintf("%v (%s)", e, e.Hint); e.Line != tt.line || e.Key != tt.key || !strings.Contains(text, tt.words) {
			t.Errorf("%s\nline %d, key %q: %s; want line %d, key %q: %s", tt.text, e.Line, e.Key, text, tt.line, tt.key, tt.words)
		}
	}
}

// TestSilent: settings without effect or with an ambiguous meaning are refused.
func TestSilent(t *testing.T) {
	refused(t, []wrong{
		{small + "feeds = []", "watch.w.feeds", 6, "the value is empty (leave the key out to accept reports of all feeds)"},
		{small + "keyring = []", "watch.w.keyring", 6, "the value is empty (leave the key out)"},
		{small + "mirror = ['']", "watch.w.mirror", 6, "the value is empty"},
		{small + "title = ''", "watch.w.title", 6, "the value is empty"},
		{"state = ''\n" + small, "state", 1, "the value is empty"},
		{"[publish]\ndir = ''\n" + small, "publish.dir", 2, "the value is empty"},
		{small + "[watch.x]\nglob = 'http://a.example/*'\ndir = 'd'\nany-news = true", "watch.x.any-news", 9,
			"applies only to url"},
		{small + "any-news = true", "watch.w.any-news", 6, "name of a feed"},
		{small + "check-every = 6", "watch.w.check-every", 6, `write a time with a unit, such as "6s", "6m" or "6h"`},
		{small + "check-every = '30'", "watch.w.check-every", 6, "with a unit"},
		{small + "hook-time = 1.5\nrun = ['x']", "watch.w.hook-time", 6, "with a unit"},
		{"host-gap = 2\n" + small, "host-gap", 1, "with a unit"},
		{"limit-rate = 20\n" + small, "limit-rate", 1, `write bytes with a unit, such as "20K", "20M" or "20B"`},
		{"max-size = '8'\n" + small, "max-size", 1, "with a unit"},
		{small + "[feed.f.limits]\nbytes-a-day = 50", "feed.f.limits.bytes-a-day", 7, "with a unit"},
		{small + "[feed.f.limits]\nupdates-a-day = '200M'", "feed.f.limits.updates-a-day", 7,
			`write a number from 1 to 1000000, or "unlimited"`},
		{small + "hook-time = '1m'", "watch.w.hook-time", 6, "applies only to run and on-failure"},
		{small + "allow-expired-key = true", "watch.w.allow-expired-key", 6, "needs a trusted key"},
		{"user-agent = \"a\\nb\"\n" + small, "user-agent", 1, "control characters"},
		{"[feed.f]\nurl = 'http://a.example/f'\nrelay = true", "feed.f.relay", 3, "needs trust, which names the agents"},
		{"[feed.f]\nurl = 'http://a.example/f'\ntrust = ['http://b.example/']", "feed.f.trust", 3, "needs relay = true"},
		{"[feed.f]\nurl = 'http://a.example/f'\nrelay = true\ntrust = ['b.example']", "feed.f.trust", 4,
			"neither the URL of an agent"},
		{"[feed.f]\nurl = 'http://a.example/f'\nrelay = true\ntrust = ['http://b.example/', 'our friends']",
			"feed.f.trust", 4, `"our friends"`},
		{"[feed.f]\nurl = 'http://a.example/f'\nkind = 'lirs'\nrelay = true\ntrust = ['b.example:8500']",
			"feed.f.trust", 5, "neither the URL of an agent"},
		{"[feed.f]\nurl = 'http://a.example/f'\nkind = 'news'\nrelay = true\ntrust = ['http://b.example/']",
			"feed.f.relay", 4, "the agent of a record"},
		{"[feed.f]\nurl = 'http://a.example/f'\nkind = 'lirs'\nhatena-times = true", "feed.f.hatena-times", 4,
			"applies only to hina-di feeds"},
		{"[feed.f]\nfile = 'f'\nuser-env = 'PAIR'", "feed.f.user-env", 3, "applies only to feeds with url"},
		{small + "header = ['authorization: Bearer x']\nuser-env = 'PAIR'", "watch.w.user-env", 7,
			"the Authorization field is also set by header"},
		{small + "header-env = { Authorization = 'TOKEN' }\nuser-file = 'key'", "watch.w.user-file", 7,
			"the Authorization field is also set by header-env"},
		{small + "header = ['X-Key: a']\nheader-env = { x-key = 'TOKEN' }", "watch.w.header-env.x-key", 7,
			"the same field is also set by header"},
		{small + "[watch.x]\nurl = 'http://me:pw@a.example/x'\ndir = 'd'\nuser-env = 'PAIR'", "watch.x.user-env", 9,
			"the URL already has a user name"},
		{small + "[watch.x]\nurl = 'http://me:pw@a.example/x'\ndir = 'd'\nheader-env = { Authorization = 'TOKEN' }",
			"watch.x.header-env", 9, "the URL already has a user name"},
	})
}

// A watch without feeds is allowed in the file as on the command line: its URL itself is requested.
func TestWithoutFeeds(t *testing.T) {
	c := parse(t, "[watch.w]\nurl = 'http://a.example/w'\ndir = 'd'\n[watch.x]\nurl = 'http://a.example/x'\ndir = "+
		"'d'\ncheck-every = '5m'\n")
	if w := c.Watches; w[0].CheckEvery != time.Hour || w[1].CheckEvery != 5*time.Minute {
		t.Errorf("%+v", w)
	}
	if c := parse(t, small); c.Watches[0].CheckEvery != 0 {
		t.Errorf("with a feed: %+v", c.Watches)
	}
}

// Internationalized host names and paths are converted to the form that servers use.
func TestLetters(t *testing.T) {
	c := parse(t, `publish.agent-url = 'https://bücher.example/a'
[feed.f]
url = 'https://bücher.example/f'
relay = true
trust = ['https://Bücher.example/', 'host.example:8500']
[watch.w]
url = 'https://BÜCHER.example/ü'
mirror = ['http://bücher.example/ü']
dir = 'd'
[watch.x]
glob = 'https://bücher.example/é/*'
dir = 'e'
`)
	got := []string{c.Publish.AgentURL, c.Feeds[0].URL, c.Feeds[0].Trust[0], c.Feeds[0].Trust[1], c.Watches[0].URL,
		c.Watches[0].Mirrors[0], c.Watches[1].URL}
	const host = "xn--bcher-kva.example"
	want := []string{"https://" + host + "/a", "https://" + host + "/f", "https://" + host + "/", "host.example:8500",
		"https://" + host + "/%C3%BC",
		"http://" + host + "/%C3%BC", "https://" + host + "/%C3%A9/*"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
