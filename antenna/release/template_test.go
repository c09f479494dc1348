package release

import (
	"strings"
	"testing"

	"braid/antenna/feed"
)

const forge = "https://forge.example/tool/download/{tag}/tool_{version}_linux.tar.gz"

// parse parses a template that is valid.
func parse(t *testing.T, text string, p Patterns) *Template {
	t.Helper()
	x, err := ParseTemplate(text, p)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return x
}

func TestParseTemplate(t *testing.T) {
	for _, text := range []string{
		forge, "https://h/{version}", "http://h:8080/a?v={version}&d={date}",
		"https://h/v{major}.x/a-{major}.{minor}.{patch}.tgz",
		"https://user:pw@h/{tag}/{tag}.zip#part", "HTTPS://EXAMPLE.org/%7ea/{tag}/index.html", "https://[::1]/{tag}",
	} {
		x := parse(t, text, Patterns{})
		if literal, _, _ := strings.Cut(text, "{"); x.String() != text || x.Literal() != literal {
			t.Errorf("%s: String %s, Literal %s", text, x.String(), x.Literal())
		}
	}
	for _, tt := range []struct{ text, err string }{
		{"https://h/a.tgz", "no field"}, {"", "no field"},
		{"https://h/{name}", "unknown field {name}"}, {"https://h/{}", "unknown field {}"},
		{"https://h/{Tag}", "unknown field {Tag}"},
		{"https://h/{tag", "without a closing"}, {"https://h/tag}{tag}", "without an opening"},
		{"https://h/{{tag}}", "unknown field"},
		{"{tag}://h/", "must be in the path"}, {"https://{tag}.example/", "must be in the path"},
		{"https://h{tag}/a", "must be in the path"},
		{"https://{tag}@h/a", "must be in the path"}, {"https://u:{tag}@h/a", "must be in the path"},
		{"https://h:{tag}/a", "must be in the path"},
		{"https://h?a={tag}", "must be in the path"}, {"https://h?/{tag}", "must be in the path"},
		{"https://h#/{tag}", "must be in the path"},
		{"/a/{tag}", "must be in the path"}, {"https:/h/{tag}", "must be in the path"}, {"https:///{tag}", "not a valid"},
		{"https://h/a#{tag}", "fragment"}, {"https://h/{version}#a{tag}", "fragment"},
		{"ftp://h/{tag}", "not a valid"}, {"https://h/a b{tag}", "not a valid"}, {"https://h:x/{tag}", "not a valid"},
		{"https://:80/{tag}", "not a valid"}, {"https://h/%2{tag}", "not a valid"}, {"https://h/ä{tag}", "not a valid"},
		{"https://h/../{tag}", "the folders . and .."}, {"https://h/{tag}/..", "the folders . and .."},
		{"https://h/{tag}/./a", "the folders . and .."},
		{"https://h/{tag}/%2e%2E/a", "the folders . and .."},
	} {
		if x, err := ParseTemplate(tt.text, Patterns{}); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("ParseTemplate(%q) = %v, %v; want an error with %q", tt.text, x, err, tt.err)
		}
	}
	for _, p := range []Patterns{{Token: "("}, {Version: "a"}, {Token: "(a)(b)"}, {Version: "(?:a)"}} {
		if _, err := ParseTemplate(forge, p); err == nil || !strings.Contains(err.Error(), "pattern of the ") {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestFileOf(t *testing.T) {
	for _, tt := range []struct{ template, url, tag, version string }{
		{forge, "https://forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz", "v1.2", "1.2"},
		{forge, "HTTPS://FORGE.example:443/tool/download/v1.2/tool%5f1.2_linux.tar.gz#x", "v1.2", "1.2"},
		{forge, "https://forge.example/tool/download/v1.2/tool_1.3_linux.tar.gz", "", ""},
		{forge, "https://forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz.sig", "", ""},
		{forge, "http://forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz", "", ""},
		{forge, "https://forge.example:444/tool/download/v1.2/tool_1.2_linux.tar.gz", "", ""},
		{forge, "https://user@forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz", "", ""},
		{forge, "https://forge.example/tool/download/../tool_.._linux.tar.gz", "", ""},
		{forge, "https://forge.example/tool/download/a%2Fb/tool_a%2Fb_linux.tar.gz", "", ""},
		{forge, "https://forge.example/tool/download/v1%2B2/tool_1%2B2_linux.tar.gz", "v1+2", "1+2"},
		{forge, "https://forge.example/tool/download/v1+2/tool_1+2_linux.tar.gz", "v1+2", "1+2"},
		{"https://h/go{version}.linux.tar.gz", "https://h/go1.22rc1.linux.tar.gz", "1.22rc1", "1.22rc1"},
		{"https://h/v{major}.x/a-{version}.xz", "https://h/v6.x/a-6.1.2.xz", "6.1.2", "6.1.2"},
		{"https://h/v{major}.x/a-{version}.xz", "https://h/v5.x/a-6.1.2.xz", "", ""},
		{"https://h/{major}/{major}.{minor}/{major}.{minor}.{patch}", "https://h/6/6.1/6.1.2", "6.1.2", "6.1.2"},
		{"https://h/{major}/{major}.{minor}/{major}.{minor}.{patch}", "https://h/6/6.1/6.2.2", "", ""},
		{"https://h/{version}/a-{version}-b-{version}", "https://h/1-b-1/a-1-b-1-b-1-b-1", "1-b-1", "1-b-1"},
		{"https://h/{version}-{tag}", "https://h/1-2-v1-2", "v1-2", "1-2"},
		{"https://h/n-{date}.zip", "https://h/n-2026-01-31.zip", "2026-01-31", "2026-01-31"},
		{"https://h/n-{date}.zip", "https://h/n-20260131.zip", "", ""},
		{"https://h/a?v={version}", "https://h/a?v=1%2b0", "1+0", "1+0"},
		{"https://h/a?v={version}", "https://h/a?v=1+0", "", ""},
		{"https://h/{tag}/index.html", "https://h/v1/index.html", "v1", "1"},
		{"https://h/{tag}", "https://h/index.html", "", ""},
		{"https://h/{minor}.zip", "https://h/1.zip", "", ""},
		{"https://u:p@h/{tag}", "https://h/v1", "v1", "1"},
	} {
		r, ok := parse(t, tt.template, Patterns{}).FileOf(tt.url)
		if ok != (tt.tag != "") || r.Tag != tt.tag || r.Version != tt.version {
			t.Errorf("%s, %s: %+v, %v", tt.template, tt.url, r, ok)
		}
	}
}

// TestScanEnds checks that a template with many fields side by side takes a bounded number of steps.
func TestScanEnds(t *testing.T) {
	x := parse(t, "https://h/{version}{major}{version}{tag}{tag}{minor}{patch}-x", Patterns{})
	if r, ok := x.FileOf("https://h/" + strings.Repeat("1", 4000)); ok {
		t.Error(r)
	}
}

func TestOf(t *testing.T) {
	page := func(segment string) feed.Record {
		return feed.Record{Format: feed.News, URL: "https://forge.example/tool/releases/tag/" + segment, LastModified: 1769817600}
	}
	const file = "https://forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz"
	for _, tt := range []struct {
		name     string
		template string
		patterns Patterns
		record   feed.Record
		url      string
	}{
		{"link", forge, Patterns{}, page("v1.2"), file},
		{"link with a slash", forge, Patterns{}, page("v1.2/"), file},
		{"another host", forge, Patterns{}, feed.Record{Format: feed.News, URL: "http://evil.example/v1.2?x#y"}, file},
		{"no news", forge, Patterns{}, feed.Record{Format: feed.LIRS, URL: "https://forge.example/tool/releases/tag/v1.2"}, ""},
		{"article", forge, Patterns{}, page("our-new-version"), ""},
		{"failed", forge, Patterns{}, feed.Record{Format: feed.News, URL: file, Failed: true}, ""},
		{"tag", forge, Patterns{}, feed.Record{Tag: "v1.2", URL: "https://forge.example/tool/download/v9/SHA256SUMS"}, file},
		{"tag first", forge, Patterns{}, feed.Record{Format: feed.News, Tag: "../x", URL: file}, ""},
		{"file", forge, Patterns{}, feed.Record{Format: feed.Sitemap, URL: file}, file},
		{"escaped", forge, Patterns{}, page("v1.2%2Bb~1"), strings.ReplaceAll(file, "1.2", "1.2%2Bb~1")},
		{"id", forge, Patterns{Token: `^tag:.*/(v[^/]*)$`}, feed.Record{URL: "https://h/a", Title: "tag:/v9",
			Fields: []feed.Field{{Name: "id", Value: "tag:h,2008:7/v1.2"}}}, file},
		{"title", forge, Patterns{Token: `^Tool (\S+)`}, feed.Record{URL: "https://h/a", Title: "Tool v1.2 is out"}, file},
		{"no title", forge, Patterns{Token: `^Tool (\S+)`}, page("v1.2"), ""},
		{"version", forge, Patterns{Version: `^tool/?([0-9.]*)$`}, page("tool1.2"), strings.Replace(file, "v1.2", "tool1.2", 1)},
		{"no version", forge, Patterns{Version: `^v(.*)$`}, page("1.2"), ""},
		{"empty version", forge, Patterns{Version: `^v(.*)$`}, page("v"), ""},
		{"release-", forge, Patterns{}, page("release-1.2"), strings.Replace(file, "v1.2", "release-1.2", 1)},
		{"name", forge, Patterns{}, page("tool-cli-v1.2"), strings.Replace(file, "v1.2", "tool-cli-v1.2", 1)},
		{"suffix", forge, Patterns{}, page("v1.2-rc-1"), strings.ReplaceAll(file, "1.2", "1.2-rc-1")},
		{"numbers", "https://h/v{major}.x/{major}.{minor}/t-{version}", Patterns{}, page("v6.1.2"), "https://h/v6.x/6.1/t-6.1.2"},
		{"no number", "https://h/{major}.{minor}.{patch}", Patterns{}, page("v6.1"), ""},
		{"date", "https://h/{date}/{tag}", Patterns{}, page("v1.2"), "https://h/2026-01-31/v1.2"},
		{"only a date", "https://h/n-{date}", Patterns{}, page("v1.2"), "https://h/n-2026-01-31"},
		{"no date", "https://h/{date}/{tag}", Patterns{}, feed.Record{Tag: "v1.2"}, ""},
		{"in another folder", "https://h/v{major}.x/linux-{version}.tar.xz", Patterns{},
			feed.Record{URL: "http://mirror.example/kernel/linux-6.1.2.tar.xz"}, "https://h/v6.x/linux-6.1.2.tar.xz"},
		{"its signature", "https://h/v{major}.x/linux-{version}.tar.xz", Patterns{},
			feed.Record{URL: "http://mirror.example/kernel/linux-6.1.2.tar.xz.sign"}, ""},
		{"another file in a folder", "https://h/v{major}.x/linux-{version}.tar.xz", Patterns{},
			feed.Record{URL: "https://h/v6.x/sha256sums.asc"}, ""},
		{"user", "https://u:p@h:8080/{tag}?a=b", Patterns{}, page("v1"), "https://u:p@h:8080/v1?a=b"},
		{"index.html", "https://h/{tag}", Patterns{}, feed.Record{Tag: "index.html"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := parse(t, tt.template, tt.patterns)
			r, ok := x.Of(tt.record)
			if ok != (tt.url != "") || r.URL != tt.url {
				t.Fatalf("%+v, %v; want %s", r, ok, tt.url)
			}
			if ok && (r.Date != tt.record.LastModified || r.Tag == "" || r.Version == "") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestHostileTokens checks that a token is never more than a part of a segment or of a value.
func TestHostileTokens(t *testing.T) {
	x := parse(t, "https://h/{tag}/{version}?a={tag}", Patterns{Token: `(?s)^(.*)$`})
	for _, token := range []string{
		"", "..", ".", "a..b", "../1", "1/2", "1%2F2", "%2e%2e", "1?a", "1#a", "1@h", "1:2", "1\\2", "1 2", "1\n2",
		"1\x002", "1&b=c",
		"1=2", "1;2", "1,2", "-1", "+1", "~1", ".1", "_1", "１", "1ä", "1\xff", "1\u202e2", "{tag}", "$1", "1'", `1"`,
		"1<2", "1|2",
		strings.Repeat("1", 65),
	} {
		for _, r := range []feed.Record{{Tag: token}, {URL: token}, {URL: "https://h/" + token + "/" + token + "?a=" + token}} {
			if got, ok := x.Of(r); ok {
				t.Errorf("%+v: %+v", r, got)
			}
		}
	}
	if r, ok := x.Of(feed.Record{Tag: strings.Repeat("1", 64)}); !ok || len(r.Tag) != 64 {
		t.Errorf("64 characters: %+v, %v", r, ok)
	}
}

// TestInvalidTag checks which records have a tag that cannot be part of a URL.
func TestInvalidTag(t *testing.T) {
	const file = "https://forge.example/tool/download/v1.2/tool_1.2_linux.tar.gz"
	titled := Patterns{Token: `^Tool (.*)$`}
	for _, tt := range []struct {
		patterns Patterns
		record   feed.Record
		want     string
	}{
		{record: feed.Record{Format: feed.ReleaseAPI, Tag: "v1.2", URL: "https://h/"}},
		{record: feed.Record{Format: feed.ReleaseAPI, Tag: "cli/v1.2", URL: file}, want: "cli/v1.2"},
		{record: feed.Record{Format: feed.News, URL: "https://h/tag/v1.2"}},
		{record: feed.Record{Format: feed.News, URL: "https://h/tag/cli%2Fv1.2"}, want: "cli/v1.2"},
		{record: feed.Record{Format: feed.News, URL: "https://h/our news"}},
		{record: feed.Record{Format: feed.Sitemap, URL: "https://h/cli%2Fv1.2"}},
		{record: feed.Record{Format: feed.News, URL: "https://h/1", Title: "Tool 1 2"}, patterns: titled, want: "1 2"},
		{record: feed.Record{Format: feed.News, URL: file, Title: "Tool 1 2"}, patterns: titled},
		{record: feed.Record{Format: feed.HinaDI, URL: "https://h/1", Title: "Tool 1 2", Failed: true}, patterns: titled},
	} {
		if got := parse(t, forge, tt.patterns).InvalidTag(tt.record); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.record, got, tt.want)
		}
	}
}
