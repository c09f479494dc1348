package antenna

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"braid/antenna/feed"
)

// tags returns the start tags and the text of a page as a browser parses it.
func tags(t *testing.T, page string) (tags []html.Token, text string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		switch token := z.Token(); token.Type {
		case html.StartTagToken, html.SelfClosingTagToken:
			tags = append(tags, token)
		case html.TextToken:
			text += token.Data
		}
	}
	return tags, text
}

// harmless checks that a page has no script, loads nothing, and links only to http and https URLs.
func harmless(t *testing.T, page string) {
	t.Helper()
	list, _ := tags(t, page)
	known := map[string]bool{}
	for _, name := range strings.Fields("html head meta title link style body header h1 p nav a bdi time main section " +
		"h2 ul li div span") {
		known[name] = true
	}
	for _, tag := range list {
		if !known[tag.Data] {
			t.Errorf("an element %s", tag)
		}
		for _, a := range tag.Attr {
			own := tag.Data == "link" || a.Val == fileAtom || a.Val == fileLIRSGzip || a.Val == fileHinaDI || a.Val == fileSOIF
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
				t.Errorf("an attribute %s", tag)
			case a.Key == "href" && !own && !strings.HasPrefix(strings.ToLower(a.Val), "http://") &&
				!strings.HasPrefix(strings.ToLower(a.Val), "https://"):
				t.Errorf("a link to %q", a.Val)
			}
		}
	}
}

func TestPage(t *testing.T) {
	evil := `</a><script>alert(1)</script><img src=x onerror="alert(1)"> ` + "\u202egnp\x1b[31m\xff"
	files, report := published(t, ours(
		own("http://h.example/new", func(k *feed.Known) { k.Title, k.Author, k.Size = "New & shiny", "Ann", 1849320 }),
		own("http://h.example/old", func(k *feed.Known) { k.LastModified = now - 400*86400 }),
		own("http://h.example/evil?a=1&b='\"", func(k *feed.Known) { k.Title, k.Author = evil, evil }),
		own("http://h.example/q?a=1&b=2", func(k *feed.Known) { k.Title, k.Author = evil, evil }),
		own("javascript:alert(1)", func(k *feed.Known) { k.Title = "script" }),
		own("ftp://h.example/x", nil),
		own("http://h.example/timeless", func(k *feed.Known) { k.LastModified = 0 }),
		own("http://h.example/gone", func(k *feed.Known) { k.Failed, k.LastModified, k.Detected = true, 0, 0 }),
	), FolderOptions{Title: "<b>Mine</b>"})
	page := files[filePage]
	harmless(t, page)
	list, text := tags(t, page)
	links := map[string]bool{}
	for _, tag := range list {
		for _, a := range tag.Attr {
			if tag.Data == "a" && a.Key == "href" {
				links[a.Val] = true
			}
		}
	}
	for _, want := range []string{"http://h.example/new", "http://h.example/old", "http://h.example/q?a=1&b=2",
		"http://h.example/timeless", "http://h.example/gone", fileAtom, fileLIRSGzip, fileHinaDI, fileSOIF} {
		if !links[want] {
			t.Errorf("no link to %s", want)
		}
		delete(links, want)
	}
	if len(links) > 0 {
		t.Errorf("more links: %v", links)
	}
	last := 0
	for _, want := range []string{"<b>Mine</b>", "8 sites", "10 November 2026", "New & shiny", "1.8 MiB",
		"6 October 2025", "http://h.example/old", "No time known", "Not reached", "http://h.example/gone"} {
		i := strings.Index(text[last:], want)
		if i < 0 {
			t.Fatalf("no %q behind what comes before, in\n%s", want, text)
		}
		last += i
	}
	if strings.ContainsAny(text, "\u202e\x1b") || report.Records[filePage] != 8 {
		t.Errorf("%+v in\n%q", report, text)
	}
}

// TestPlain checks that a text of others cannot affect the text around it, and that a text without visible characters
// is not used as a name.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		" two  words\t":                  "two  words",
		"\u200b\u2060\ufeff\u00a0\u3000": "",
		"\u0301":                         "",
		"one\u2028two\u2029three\r\nfour\u0085five": "one two three  four five",
		"\u202egnp.exe\u2066":                       "gnp.exe",
		"e" + strings.Repeat("\u0301", 50) + "a" + strings.Repeat("\u0488",
			9): "e\u0301\u0301\u0301\u0301a\u0488\u0488\u0488\u0488",
		"ที่นี่ שָׁלוֹם مُحَمَّد": "ที่นี่ שָׁלוֹם مُحَمَّد",
		"a\u200db\xff": "a\u200db\ufffd",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	c := composer{}
	s := c.site(&feed.Record{URL: "http://h.example/" + strings.Repeat("x", 1000), Title: "\u200b",
		Author: strings.Repeat("W", 1000)})
	if s.Name != s.URL || len(s.URL) > longestURL+3 || len(s.Author) > longestWords+3 || len(s.Link) != 1017 {
		t.Errorf("%+v", s)
	}
}

// TestRows checks the limit on the rows of a page, which would otherwise be too large to open if feeds relay many
// records.
func TestRows(t *testing.T) {
	var records []feed.Known
	for i := range maxRows + 20 {
		records = append(records, own(fmt.Sprintf("http://h.example/%04d", i),
			func(k *feed.Known) { k.LastModified -= feed.Time(i) }))
	}
	files, _ := published(t, ours(records...), FolderOptions{})
	if n := strings.Count(files[filePage], "<li>"); n != maxRows ||
		!strings.Contains(files[filePage], "More updates in the feeds: 20.") || !strings.Contains(files[filePage], "2020 sites") {
		t.Errorf("%d rows", n)
	}
	if !strings.Contains(files[filePage], "h.example/1999") || strings.Contains(files[filePage], "h.example/2000") {
		t.Error("the page has not the newest")
	}
}

// FuzzPage checks that texts of feeds appear only as text or as links to http and https URLs.
func FuzzPage(f *testing.F) {
	f.Add("http://h.example/", "title", "author", "agent", "http://a.example/")
	f.Add("javascript://h.example/%0aalert(1)", "</title>", "<!--", "]]>", "data:text/html,x")
	f.Fuzz(func(t *testing.T, url, title, author, agent, agentURL string) {
		c := composer{snapshot: ours(), now: now, report: FolderReport{Records: map[string]int{}},
			options: FolderOptions{Title: title}}
		c.own = []feed.Known{{Own: true, Record: feed.Record{URL: url, Title: title, Author: author, LastModified: now}}}
		c.read = []feed.Record{{Format: feed.HinaDI, URL: url + "x", Title: author, Agent: agent, AgentURL: agentURL,
			Detected: now, LastModified: now}}
		c.page()
		harmless(t, string(c.documents[0].data))
	})
}
