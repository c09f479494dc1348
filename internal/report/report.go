// Package report records the events of a download and draws them as a self-contained page of HTML, for a user who wants
// to know why a download was slow.
//
// The input is events with their times, and the output is HTML. The package reads no clock and opens no file. A
// [Recorder] records one download in bounded memory, and a [Page] shows one or several. It is not a complete log:
// details that would be invisible in a chart are merged. The page contains no script and loads nothing, and
// all external text is escaped.
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
	"cmp"
	_ "embed"
	"slices"
	"time"

	"braid/internal/markup"
	"braid/internal/option"
	"braid/source"
)

// Magic is how each page begins.
const Magic = "<!DOCTYPE html>\n<!-- braid report -->\n"

//go:embed style.css
var style string

//go:embed charts.css
var chartStyle string

// sheet returns the style sheet for a page. charts reports whether the page has charts.
func sheet(charts bool) string {
	if charts {
		return chartStyle + style
	}
	return style
}

const (
	maxSections = 12   // number of downloads with charts
	maxListed   = 3000 // number of downloads in the list
)

// Page shows one or more downloads. The zero value is an empty page. At most maxSections downloads get charts: first
// those that failed, then those that took longest. The others only have a line in the list, which has up to maxListed
// lines. A Page is not safe for concurrent use.
type Page struct {
	// NotBegun is the number of files that an interrupted run did not begin to download.
	NotBegun int

	added int
	list  []listed
	drawn []*facts
}

// listed is a line in the list of downloads.
type listed struct {
	Number                          int
	Name, URL, Class, Outcome, Text string
	Size                            int64 // -1 if unknown
	Time                            time.Duration
	Rate                            float64
}

// Add adds a download that has ended.
func (p *Page) Add(r *Recorder) {
	p.added++
	r.number = p.added
	if len(p.list) < maxListed {
		p.list = append(p.list, r.listed())
	}
	p.drawn = append(p.drawn, &r.facts)
	if len(p.drawn) > maxSections {
		last := slices.Index(p.drawn, slices.MaxFunc(p.drawn, order))
		p.drawn = slices.Delete(p.drawn, last, last+1)
	}
}

// order sorts downloads by how much they need charts: those that failed first, then those that took longer, then earlier ones.
func order(a, b *facts) int {
	failed := func(d *facts) int {
		if d.ending.err != nil {
			return 1
		}
		return 0
	}
	return cmp.Or(failed(b)-failed(a), cmp.Compare(b.ending.at, a.ending.at), a.number-b.number)
}

func (d *facts) listed() listed {
	class, outcome := d.ending.outcome()
	text := ""
	if d.ending.err != nil {
		text = option.Shorten(d.ending.failure(d.Fetched), 160)
	}
	return listed{d.number, d.name(), source.Escape(d.URL), class, outcome, text, d.size, d.ending.at,
		MeanRate(d.Fetched, d.Fetched, d.ending.at)}
}

// HTML returns the page.
func (p *Page) HTML() []byte {
	v := view{
		title: option.Count(p.added, "download"), list: p.list, unlisted: p.added - len(p.list), notBegun: p.NotBegun,
		undrawn: p.added > len(p.drawn), pictures: slices.ContainsFunc(p.drawn, (*facts).pictured), drawn: map[int]bool{},
	}
	for _, d := range p.drawn {
		v.drawn[d.number] = true
		v.sections = append(v.sections, d.section())
	}
	if p.added == 1 {
		v.title, v.list = p.drawn[0].name(), nil
	}
	var page markup.Page
	page.Add(Magic)
	v.html(&page)
	return page.Bytes()
}

// view has what a page shows.
type view struct {
	title              string
	list               []listed
	unlisted, notBegun int
	undrawn, pictures  bool // some downloads have no section; some have charts
	drawn              map[int]bool
	sections           []section
}
