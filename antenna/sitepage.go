package antenna

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"time"
	"unicode"

	"braid/antenna/feed"
	"braid/internal/option"
)

// maxRows limits the sites on the page.
const maxRows = 2000

//go:embed style.css
var style string

// A view is the data of the page.
type view struct {
	Title, Agent string
	Now          moment
	Sites, More  int
	Days         []daySites
}

// A daySites is a heading with the sites below it.
type daySites struct {
	Name  string
	Sites []pageSite
}

// A pageSite is a line of the page. Empty fields are not shown.
type pageSite struct {
	Name, Author  string
	URL, Link     string // Link is empty if the URL must not be a link
	Time, Checked moment
	Size          string
	Via, ViaLink  string
	Failed        bool
}

// A moment is a time in several formats.
type moment struct{ Day, Clock, RFC3339 string }

func momentOf(t feed.Time) moment {
	at := t.UTC()
	if t <= 0 || at.Year() > 9999 {
		return moment{}
	}
	return moment{at.Format("2 January 2006"), at.Format("15:04"), at.Format(time.RFC3339)}
}

// page writes the HTML page with the sites ordered by their last update.
func (c *composer) page() {
	list := c.listed()
	v := view{Title: c.title(), Agent: words(c.snapshot.Agent), Now: momentOf(c.now), Sites: len(list)}
	if v.More = max(0, len(list)-maxRows); v.More > 0 {
		list = list[:maxRows]
	}
	for _, r := range list {
		s := c.site(&r)
		name := cmp.Or(s.Time.Day, "No time known")
		if r.Failed {
			name = "Not reached"
		}
		if n := len(v.Days); n == 0 || v.Days[n-1].Name != name {
			v.Days = append(v.Days, daySites{Name: name})
		}
		last := &v.Days[len(v.Days)-1]
		last.Sites = append(last.Sites, s)
	}
	c.documents = append(c.documents, document{filePage, v.html()})
	c.report.Records[filePage] = v.Sites
}

// listed returns all sites without duplicates, the last changed first. Sites without a time and those that could not be
// reached come last.
func (c *composer) listed() []feed.Record {
	var keys []string
	reports := map[string][]feed.Record{}
	add := func(r feed.Record) {
		key := canonical(r.URL)
		if reports[key] == nil {
			keys = append(keys, key)
		}
		reports[key] = append(reports[key], r)
	}
	for _, r := range c.observed(feed.Own) {
		add(r)
	}
	for _, r := range c.read { // records of all formats, because they are displayed and not passed on
		if passed, why := c.relay.Pass(r.Format, r, c.now); why == "" {
			add(passed)
		}
	}
	list := make([]feed.Record, 0, len(keys))
	for _, key := range keys {
		list = append(list, reports[key][feed.Choose(reports[key], c.now)])
	}
	rank := func(r *feed.Record) int {
		switch {
		case r.Failed:
			return 2
		case momentOf(r.LastModified) == moment{}:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b feed.Record) int {
		return cmp.Or(rank(&a)-rank(&b), cmp.Compare(b.LastModified, a.LastModified), strings.Compare(a.URL, b.URL))
	})
	return list
}

func (c *composer) site(r *feed.Record) pageSite {
	s := pageSite{
		Author: words(r.Author), URL: option.Shorten(plain(r.URL), longestURL), Link: link(r.URL),
		Checked: momentOf(r.Detected), Failed: r.Failed,
	}
	s.Name = cmp.Or(words(r.Title), s.URL)
	if !r.Failed {
		s.Time = momentOf(r.LastModified)
	}
	if r.Size > 0 {
		s.Size = option.SizeText(r.Size)
	}
	if r.Format != feed.Own {
		s.Via, s.ViaLink = cmp.Or(words(r.Agent), words(r.AgentURL)), link(r.AgentURL)
	}
	return s
}

// link returns url if it may be a link, else "".
func link(url string) string {
	if feed.IsWeb(url) {
		return url
	}
	return ""
}

const (
	longestWords = 120 // for titles and names
	longestURL   = 300
	// mostMarks limits the accents on one letter, because more accents would overlap other lines.
	mostMarks = 4
)

// words prepares a foreign text for the page: it removes characters that would move other text, and shortens the text.
// It returns "" if no character is visible.
func words(s string) string { return option.Shorten(plain(s), longestWords) }

func plain(s string) string {
	var b strings.Builder
	marks, visible := 0, false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > mostMarks {
				continue
			}
		case unicode.IsControl(r), unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			r = ' '
			fallthrough
		default:
			marks = 0
			visible = visible || unicode.IsGraphic(r) && !unicode.IsSpace(r)
		}
		b.WriteRune(r)
	}
	if !visible {
		return ""
	}
	return strings.TrimSpace(b.String())
}
