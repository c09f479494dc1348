// Package report keeps what happens in a download for whatever shows it, and draws it: a page of HTML that needs nothing but
// itself, for a user who asks why it was slow.
//
// Events and times go in, bytes of HTML come out; it has no clock and opens no file. A [Recorder] takes down one download
// in bounded memory, a [Page] shows one or many. It refuses to be a log of everything: what cannot be seen in a picture
// is merged. There is no script in the page and nothing that a browser would fetch; html/template escapes every text from
// outside.
//
//	rec := report.NewRecorder(time.Now())
//	req.Detail, req.Observe = true, func(ev download.Event) { rec.Observe(time.Now(), ev) }
//	res, err := client.Get(ctx, req)
//	rec.End(time.Now(), res, err)
//	var page report.Page
//	page.Add(rec)
//	html := page.HTML()
package report

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"slices"
	"time"

	"braid/internal/option"
	"braid/source"
)

// Magic is what every page begins with.
const Magic = "<!DOCTYPE html>\n<!-- braid report -->\n"

//go:embed page.html style.css charts.css
var files embed.FS

// pageTemplate reads the template when a page is made: most runs make none.
func pageTemplate() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{
		"size": option.SizeText, "rate": option.RateText, "time": option.TimeText, "clock": clock, "share": share,
	}).ParseFS(files, "*"))
}

const (
	maxSections = 12   // downloads that are drawn
	maxListed   = 3000 // and those that are listed
)

// A Page is about one download or many. The zero value is empty. Of more than a dozen downloads it draws those that
// failed and then those that took longest; all others have a line in the list, as far as that is not too long itself.
// It is used by one goroutine at a time.
type Page struct {
	// NotBegun counts the files that were to be downloaded, too, when the run was interrupted.
	NotBegun int

	added int
	list  []listed
	drawn []*Facts
}

// A listed download is a line of the list.
type listed struct {
	Number                          int
	Name, URL, Class, Outcome, Text string
	Size                            int64 // -1 if unknown
	Time                            time.Duration
	Rate                            float64
}

// Add shows a download that ended.
func (p *Page) Add(r *Recorder) {
	p.added++
	r.number = p.added
	if len(p.list) < maxListed {
		p.list = append(p.list, r.listed())
	}
	p.drawn = append(p.drawn, &r.Facts)
	if len(p.drawn) > maxSections {
		last := slices.Index(p.drawn, slices.MaxFunc(p.drawn, order))
		p.drawn = slices.Delete(p.drawn, last, last+1)
	}
}

// order is that in which downloads are chosen to be drawn: those that failed, then those that took longer, then the first ones.
func order(a, b *Facts) int {
	failed := func(d *Facts) int {
		if d.err != nil {
			return 1
		}
		return 0
	}
	return cmp.Or(failed(b)-failed(a), cmp.Compare(b.end, a.end), a.number-b.number)
}

func (d *Facts) listed() listed {
	class, outcome := d.outcome()
	text := ""
	if d.err != nil {
		text = option.Shorten(d.failure(), 160)
	}
	return listed{d.number, d.name(), source.Escape(d.URL), class, outcome, text, d.size, d.end, MeanRate(d.Fetched, d.Fetched, d.end)}
}

// HTML is the page.
func (p *Page) HTML() []byte {
	view := map[string]any{
		"Title": option.Count(p.added, "download"), "List": p.list, "Unlisted": p.added - len(p.list), "NotBegun": p.NotBegun,
		"Undrawn": p.added > len(p.drawn), "Pictures": slices.ContainsFunc(p.drawn, (*Facts).pictured),
	}
	drawn, sections := map[int]bool{}, []map[string]any{}
	for _, d := range p.drawn {
		drawn[d.number] = true
		sections = append(sections, d.section())
	}
	view["Drawn"], view["Sections"] = drawn, sections
	if p.added == 1 {
		view["Title"], view["List"] = p.drawn[0].name(), nil
	}
	var b bytes.Buffer
	b.WriteString(Magic)
	if err := pageTemplate().Execute(&b, view); err != nil {
		panic("report: " + err.Error()) // the template and its data are of this package
	}
	return b.Bytes()
}
