// Package report draws what happened in downloads: a page of HTML that needs nothing but itself, for somebody who asks
// why it was slow.
//
// Events and times go in, bytes of HTML come out; it has no clock and opens no file. A [Recorder] takes down one download
// in bounded memory, a [Page] shows one or many. It refuses to be a log of everything: what cannot be seen in a picture
// is merged. There is no script in the page and nothing that a browser would fetch; every text from outside is escaped
// (rule 61) by html/template.
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
	_ "embed"
	"html/template"
	"slices"
	"strconv"
	"time"

	"braid/internal/option"
)

// Magic is what every page begins with.
const Magic = "<!DOCTYPE html>\n<!-- braid report -->\n"

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

//go:embed charts.css
var chartsText string // what only pictures need

var pageTemplate = template.Must(template.New("page").Parse(pageText))

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
	drawn []*Recorder
}

// A listed download is a line of the list.
type listed struct {
	number                            int
	Anchor, Name, URL, Class, Outcome string
	Size, Time, Rate, Text            string
}

// Add shows a download that ended.
func (p *Page) Add(r *Recorder) {
	p.added++
	r.number = p.added
	if len(p.list) < maxListed {
		p.list = append(p.list, r.listed())
	}
	p.drawn = append(p.drawn, r)
	if len(p.drawn) > maxSections {
		least := slices.MinFunc(p.drawn, func(a, b *Recorder) int { return -order(a, b) })
		p.drawn = slices.DeleteFunc(p.drawn, func(r *Recorder) bool { return r == least })
	}
}

// order says which of two downloads is sooner drawn: one that failed, then one that took longer, then the first one.
func order(a, b *Recorder) int {
	rank := func(r *Recorder) time.Duration {
		if r.err != nil {
			return r.end + 1<<60
		}
		return r.end
	}
	switch x, y := rank(a), rank(b); {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return a.number - b.number
}

func (r *Recorder) listed() listed {
	class, outcome := r.outcome()
	l := listed{number: r.number, Name: r.name(), URL: r.url, Class: class, Outcome: outcome, Time: option.TimeText(r.end)}
	if r.size >= 0 {
		l.Size = option.SizeText(r.size)
	}
	if n := r.fetched(); n > 0 && r.end > 0 {
		l.Rate = option.RateText(float64(n) / r.end.Seconds())
	}
	if r.err != nil {
		l.Text = option.Shorten(r.failure(), 160)
	}
	return l
}

// HTML is the page.
func (p *Page) HTML() []byte {
	view := struct {
		Title    string
		Style    template.CSS
		List     []listed
		Unlisted int
		NotBegun int
		Undrawn  bool
		Pictures bool
		Sections []section
	}{Style: template.CSS(styleText), Unlisted: p.added - len(p.list), NotBegun: p.NotBegun, Undrawn: p.added > len(p.drawn)}
	anchors := map[int]string{}
	for _, r := range p.drawn {
		anchors[r.number] = "d" + strconv.Itoa(r.number)
		s := r.section(anchors[r.number])
		view.Pictures = view.Pictures || s.Charts != nil
		view.Sections = append(view.Sections, s)
	}
	view.Title = option.Count(p.added, "download")
	if p.added == 1 {
		view.Title = view.Sections[0].Title
	} else {
		for _, l := range p.list {
			l.Anchor = anchors[l.number]
			view.List = append(view.List, l)
		}
	}
	if view.Pictures {
		view.Style = template.CSS(chartsText) + view.Style
	}
	var b bytes.Buffer
	b.WriteString(Magic)
	if err := pageTemplate.Execute(&b, view); err != nil {
		panic("report: " + err.Error()) // the template and its data are of this package
	}
	return b.Bytes()
}
