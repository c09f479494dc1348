package report

import (
	"braid/internal/markup"
	"braid/internal/option"
)

// html adds the head, the list of downloads and the sections to p.
func (v *view) html(p *markup.Page) {
	p.Add(`<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>braid: {}</title>
`, v.title)
	p.Style(sheet(v.pictures))
	p.Add("</head>\n<body>")
	if len(v.list) > 0 {
		v.table(p)
	}
	were := "were"
	if v.notBegun == 1 {
		were = "was"
	}
	p.If(v.notBegun > 0, "<p>{} more of the downloads {} not begun.</p>", v.notBegun, were)
	for i := range v.sections {
		v.sections[i].html(p)
	}
	p.Add("\n<footer>Drawn by braid.")
	p.If(v.pictures, " Point at a part of a chart for details.")
	p.Add("</footer>\n</body>\n</html>\n")
}

// table adds the list of downloads to p.
func (v *view) table(p *markup.Page) {
	p.Add(`
<h1>{}</h1>
<table class="list">
<thead><tr><th>file</th><th>outcome</th><th class="n">size</th><th class="n">time</th>`+
		`<th class="n">mean speed</th><th></th></tr></thead>
<tbody>`, v.title)
	for _, l := range v.list {
		p.Add("\n"+`<tr><td title="{}">`, l.URL)
		if v.drawn[l.Number] {
			p.Add(`<a href="#d{}">{}</a>`, l.Number, l.Name)
		} else {
			p.Add("{}", l.Name)
		}
		p.Add(`</td><td><span class="badge {}">{}</span></td><td class="n">`, l.Class, l.Outcome)
		p.If(l.Size >= 0, "{}", option.SizeText(l.Size))
		p.Add(`</td><td class="n">{}</td><td class="n">`, option.TimeText(l.Time))
		p.If(l.Rate != 0, "{}", option.RateText(l.Rate))
		p.Add(`</td><td class="t">{}</td></tr>`, l.Text)
	}
	p.Add("\n</tbody></table>")
	p.If(v.unlisted > 0, "<p>{} more of the downloads are not listed.</p>", v.unlisted)
	p.If(v.undrawn, `<p class="hint">Downloads with a link have charts below: failed ones first, then the longest.</p>`)
}

// html adds the section about one download to p.
func (s *section) html(p *markup.Page) {
	p.Add(`
<section id="d{}">
<h2>{} <span class="badge {}">{}</span></h2>
<p class="headline">{}</p>
<p class="from">{}`, s.number, s.title, s.class, s.outcome, s.headline, s.url)
	p.If(s.path != "", " to {}", s.path)
	p.Add(", begun {}</p>", s.begun)
	if len(s.words) > 0 {
		p.Add("\n" + `<ul class="words">`)
		for _, w := range s.words {
			p.Add("\n<li")
			addBad(p, w.Bad)
			p.Add(">{}</li>", w.Text)
		}
		p.Add("\n</ul>")
	}
	if s.strip != nil {
		s.strip.html(p)
	}
	if s.charts != nil {
		s.charts.html(p)
	}
	if len(s.table) > 0 {
		s.accounts(p)
	}
	if len(s.log.Entries) > 0 {
		s.log.html(p)
	}
	if len(s.places) > 0 {
		p.Add("\n<details><summary>A digest was looked for at {}</summary>\n"+`<ul class="words">`,
			option.Count(len(s.places), "place"))
		for _, place := range s.places {
			p.Add("\n<li>{}</li>", place)
		}
		p.Add("\n</ul></details>")
	}
	p.Add("\n</section>")
}

// addBad marks lines about lost time with an attribute.
func addBad(p *markup.Page, bad bool) { p.If(bad, ` class="bad"`) }

// accounts adds the table of sources to p.
func (s *section) accounts(p *markup.Page) {
	p.Add(`
<div class="wide"><table class="accounts">
<thead><tr><th>source</th><th class="n">bytes</th><th class="n">share</th><th class="n">speed in use</th>` +
		`<th class="n">in use</th><th class="n">silent</th><th class="n">round trip</th><th class="n">requests</th>` +
		`<th class="n">failures</th><th></th></tr></thead>
<tbody>`)
	for _, m := range s.table {
		p.Add("\n"+`<tr><td title="{}">`, m.URL)
		p.If(s.charts != nil, `<i class="swatch {}"></i>`, m.Class)
		p.Add(`{}</td><td class="n">{}</td><td class="n">{}</td><td class="n">`, m.Name, option.SizeText(m.Bytes),
			share(m.Bytes, s.fetched))
		p.If(m.Bytes != 0, "{}", option.RateText(m.Rate()))
		p.Add(`</td><td class="n">{}</td><td class="n">`, option.TimeText(m.Working))
		p.If(m.Quiet != 0, "{}", option.TimeText(m.Quiet))
		p.Add(`</td><td class="n">`)
		p.If(m.RTT > 0, "{}", option.TimeText(m.RTT))
		p.Add(`</td><td class="n">{}</td><td class="n">{}</td><td class="t">{}</td></tr>`, m.Asked, m.Failures, s.states[m])
	}
	p.Add("\n</tbody></table></div>")
}

func (l *log) html(p *markup.Page) {
	p.Add("\n<details><summary>Events in their order</summary>\n" + `<div class="wide"><table class="log"><tbody>`)
	for i, e := range l.Entries {
		p.If(l.Dropped > 0 && i == maxEntries, "\n<tr><td></td><td>({} lines are left out)</td></tr>", l.Dropped)
		p.Add("\n<tr")
		addBad(p, e.Bad)
		p.Add(`><td class="n">{}</td><td>{}</td></tr>`, clock(e.At), e.Text)
	}
	p.Add("\n</tbody></table></div></details>")
}
