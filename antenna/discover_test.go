package antenna

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
)

func find(t *testing.T, links []string, page string) []string {
	t.Helper()
	u, _ := url.Parse("http://h.example/dir/page")
	feeds, err := FindFeeds(u, links, "text/html", strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range feeds {
		s := fmt.Sprintf("%v %s %s %s", f.Format, f.URL, f.Type, f.Title)
		if f.InHeader {
			s += " (header)"
		}
		list = append(list, s)
	}
	return list
}

func TestFindFeeds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		links []string
		page  string
		want  string
	}{
		{"nothing", nil, "", ""},
		{"LIRS", nil, `<link rel=alternate type="application/x-lirs" title="LIRS" href="antenna.lirs.gz">`,
			"lirs http://h.example/dir/antenna.lirs.gz application/x-lirs LIRS"},
		{"letter case, tokens, parameters, white space", nil,
			`<LINK REL='FoundFeed ALTERNATE' TYPE=' Application/Atom+XML; charset=utf-8' TITLE=" a&amp;b
 c" HREF=" /atom.xml#x " />`, "news http://h.example/atom.xml application/atom+xml a&b c"},
		{"RSS and JSON FoundFeed", nil,
			`<link rel=alternate type=application/rss+xml href=/r><link rel=alternate type=application/feed+json href=/j>`,
			"news http://h.example/r application/rss+xml \nnews http://h.example/j application/feed+json "},
		{"a map", nil, `<link rel="sitemap" type="application/xml" href="/sitemap.xml">`,
			"sitemap http://h.example/sitemap.xml application/xml "},
		{"what is none", nil, `<link rel=alternate type=application/json href=/wp-json><link rel=alternate hreflang=de href=/de>
			<link rel="alternate stylesheet" type=text/css href=/css><link rel=icon type=application/rss+xml href=/icon>`, ""},
		{"in a comment, in a script", nil,
			`<!-- <link rel=alternate type=application/rss+xml href=/a> --><script>"<link rel=alternate type=application/rss+xml href=/b>"</script>`, ""},
		{"not on the web", nil,
			`<link rel=alternate type=application/rss+xml href="javascript:x"><link rel=alternate type=application/rss+xml href="file:///etc/passwd">
			<link rel=alternate type=application/rss+xml href=""><link rel=alternate type=application/rss+xml href="http://"><link rel=alternate type=application/rss+xml>`, ""},
		{"a base, the first", nil,
			`<base target=x><base href="https://b.example/x/"><base href="http://c.example/"><link rel=alternate type=application/rss+xml href="r?a=1&amp;b=2">`,
			"news https://b.example/x/r?a=1&b=2 application/rss+xml "},
		{"a password", nil, `<link rel=alternate type=application/rss+xml href="http://u:p@h.example/r">`,
			"news http://h.example/r application/rss+xml "},
		{"twice", []string{`</r>; rel=alternate; type="application/rss+xml"`},
			`<a rel=alternate type=application/rss+xml href=/r>`, "news http://h.example/r application/rss+xml  (header)"},
		{"a header field", []string{`<r>; rel="self alternate"; type="application/rss+xml"; title="T", <x>; rel=next`,
			`<y>; rel=alternate; type="application/rss+xml"; anchor="/z"`}, "",
			"news http://h.example/dir/r application/rss+xml T (header)"},
		{"EUC-JP", nil, "<meta charset=euc-jp><link rel=alternate type=application/rss+xml href=/r " +
			"title='\xc4\xab\xb4\xe9'>", "news http://h.example/r application/rss+xml 朝顔"},
	} {
		if got := strings.Join(find(t, tt.links, tt.page), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestFindBounds checks the limits on the length of a page and on the number of feeds.
func TestFindBounds(t *testing.T) {
	link := "<link rel=alternate type=application/rss+xml href=/%d title='" + strings.Repeat("x", 1000) + "'>"
	many := ""
	for i := range mostFeeds + 10 {
		many += fmt.Sprintf(link, i)
	}
	if got := find(t, nil, many); len(got) != mostFeeds || strings.Count(got[0], "x") > longestTitle+10 {
		t.Errorf("%d feeds, %s", len(got), got[0])
	}
	late := io.MultiReader(strings.NewReader(strings.Repeat(" ", maxPage)), strings.NewReader(fmt.Sprintf(link, 1)),
		iotest.ErrReader(errors.New("read on")))
	u, _ := url.Parse("http://h.example/")
	if feeds, err := FindFeeds(u, nil, "", late); err != nil || len(feeds) > 0 {
		t.Errorf("%v, %v", feeds, err)
	}
	if got := find(t, nil, "<link rel=alternate type=application/rss+xml href=/"+strings.Repeat("x", feed.MaxURL)+
		">"); len(got) > 0 {
		t.Errorf("a long URL: %v", got)
	}
}

func TestBroken(t *testing.T) {
	u, _ := url.Parse("http://h.example/")
	broken := errors.New("broken")
	page := io.MultiReader(strings.NewReader(strings.Repeat(" ",
		5000)+"<link rel=alternate type=application/rss+xml href=/r>"), iotest.ErrReader(broken))
	if feeds, err := FindFeeds(u, nil, "", page); err != broken || len(feeds) != 1 {
		t.Errorf("%v, %v", feeds, err)
	}
}

// FuzzFind checks that every URL found is http or https.
func FuzzFind(f *testing.F) {
	f.Add(`</r>; rel=alternate; type="application/rss+xml"`, "text/html",
		"<base href=//x><link rel=alternate type=application/rss+xml href=r>")
	f.Fuzz(func(t *testing.T, link, contentType, page string) {
		u, _ := url.Parse("http://h.example/dir/page")
		feeds, err := FindFeeds(u, []string{link}, contentType, strings.NewReader(page))
		if err != nil {
			return
		}
		for _, f := range feeds {
			if s := f.URL.String(); !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") ||
				f.URL.Hostname() == "" || f.URL.User != nil {
				t.Errorf("%q", s)
			}
		}
	})
}
