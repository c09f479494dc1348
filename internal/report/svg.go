package report

import "braid/internal/markup"

func (s *strip) html(p *markup.Page) {
	p.Add("\n<figure>\n<figcaption><b>Received parts:</b> the file, by source")
	p.If(len(s.Asked) > 0, "; lighter: being fetched")
	p.If(s.Void != "", `; <span class="failed">red</span>: wrong`)
	p.Add("</figcaption>\n"+`<svg class="strip" width="100%" height="22" viewBox="{}" preserveAspectRatio="none">`, s.Box)
	for _, b := range s.Prior {
		p.Add(`<rect class="prior" x="{}" width="{}" y="0" height="1"/>`, b.X, b.W)
	}
	for _, l := range s.Asked {
		l.html(p, "asked ")
	}
	for _, l := range s.Here {
		l.html(p, "")
	}
	p.If(s.Void != "", `<path class="void" d="{}"><title>wrong bytes that were discarded</title></path>`, s.Void)
	p.Add("\n</svg>\n</figure>")
}

// html adds l to p. kind is another CSS class of the layer, followed by a space, or "".
func (l *layer) html(p *markup.Page, kind string) {
	p.Add(`<path class="shade {}{}" d="{}"><title>{}</title></path>`, kind, l.Class, l.Path, l.Title)
}

func (c *charts) html(p *markup.Page) {
	if len(c.legend) > 0 {
		p.Add("\n" + `<p class="legend">`)
		for _, m := range c.legend {
			p.Add(`<span title="{}"><i class="swatch {}"></i>{} <small>{}</small></span> `, m.URL, m.Class, m.Name,
				share(m.Bytes, c.fetched))
		}
		p.Add("</p>")
	}
	if len(c.speed) > 0 {
		c.speedChart(p)
	}
	c.useChart(p)
	if len(c.parts) > 0 {
		c.partsChart(p)
	}
}

func (c *charts) speedChart(p *markup.Page) {
	p.Add(`
<figure>
<figcaption><b>Speed:</b> bytes a second, the sources stacked</figcaption>
<div class="plot">
<svg class="side" height="200">`)
	addHeights(p, c.speeds)
	p.Add("</svg>\n" + `<svg class="field" height="200">`)
	c.grid(p)
	addLevels(p, c.speeds)
	p.Add("\n"+`<svg width="100%" height="100%" viewBox="{}" preserveAspectRatio="none">`, c.box)
	for _, l := range c.speed {
		p.Add("\n")
		l.html(p, "")
	}
	p.Add("\n</svg>")
	c.lines(p)
	for _, t := range c.rules {
		dx, anchor := "4", "start"
		if t.Last {
			dx, anchor = "-4", "end"
		}
		p.Add(`<text class="rulename" x="{}" dx="{}" y="11" text-anchor="{}">{}</text>`, t.At, dx, anchor, t.Text)
	}
	p.Add("\n</svg></div>")
	c.axis(p)
	p.Add("\n</figure>")
}

func (c *charts) useChart(p *markup.Page) {
	p.Add(`
<figure>
<figcaption><b>Use of the sources:</b> each from its first request on</figcaption>
<p class="legend marks"><span><i class="sample bar"></i>bytes arrive</span> ` +
		`<span><i class="sample wait"></i>waiting for the answer</span>`)
	p.If(c.quiet(), ` <span><i class="sample quiet"></i>silent</span>`)
	p.If(c.paused(), ` <span><i class="sample pause"></i>pause after a failure</span>`)
	p.Add("\n")
	for _, k := range kinds(c.rows) {
		p.Add(`<span><svg class="shape" width="14" height="14"><svg x="7" y="7" overflow="visible">`)
		k.shape(p)
		p.Add("</svg></svg>{}</span> ", k.Title)
	}
	p.Add("</p>")
	for i := range c.rows {
		c.row(p, &c.rows[i])
	}
	p.If(c.unshown > 0, `<p class="hint">{} more sources sent less.</p>`, c.unshown)
	p.Add("\n" + `<div class="plot row"><div class="side name"><span>requests</span></div>` + "\n" +
		`<svg class="field" height="34">`)
	c.grid(p)
	p.Add("\n"+`<svg width="100%" height="100%" viewBox="{}" preserveAspectRatio="none"><path class="work" d="{}">`+
		`<title>the number of running requests</title></path></svg>`, c.box, c.requests)
	c.lines(p)
	p.Add(`<text class="rulename" x="4" y="11">at most {}</text>`+"\n</svg></div>", c.most)
	c.axis(p)
	p.Add("\n</figure>")
}

// row adds the time line of a source to p.
func (c *charts) row(p *markup.Page, r *row) {
	p.Add("\n"+`<div class="plot row"><div class="side name" title="{}"><i class="swatch {}"></i><span>{}</span></div>`+"\n"+
		`<svg class="field" height="24">`, r.URL, r.Class, r.Name)
	c.grid(p)
	rects := func(class string, list []bar) {
		for _, b := range list {
			p.Add(`<rect class="{}" x="{}" width="{}" y="{}" height="{}"><title>{}</title></rect>`+"\n",
				class, b.X, b.W, b.Y, b.H, b.Title)
		}
	}
	rects("shade "+r.Class, r.Waits)
	for _, b := range r.Pauses {
		p.Add(`<line class="pause" x1="{}" x2="{}" y1="{}" y2="{}"><title>{}</title></line>`+"\n", b.X, b.End, b.Y, b.Y, b.Title)
	}
	rects("shade bar "+r.Class, r.Bars)
	rects("quiet", r.Quiet)
	c.lines(p)
	for _, m := range r.Marks {
		p.Add(`<svg x="{}" y="5" overflow="visible"><g>`, m.At)
		m.shape(p)
		p.Add("<title>{}</title></g></svg>\n", m.Title)
	}
	p.Add("</svg></div>")
}

func (c *charts) partsChart(p *markup.Page) {
	p.Add("\n<figure>\n<figcaption><b>Parts of the file:</b> its beginning is at the bottom; " +
		"the steeper, the faster</figcaption>")
	p.If(len(c.prior) > 0, `<p class="legend"><span><i class="swatch prior"></i>from an earlier run</span></p>`)
	p.Add("\n" + `<div class="plot">` + "\n" + `<svg class="side" height="280">`)
	addHeights(p, c.sizes)
	p.Add("</svg>\n" + `<svg class="field" height="280">`)
	for _, b := range c.prior {
		p.Add(`<rect class="prior" x="0" width="100%" y="{}" height="{}"/>`, b.Y, b.H)
	}
	c.grid(p)
	addLevels(p, c.sizes)
	p.Add("\n"+`<svg width="100%" height="100%" viewBox="{}" preserveAspectRatio="none">`, c.partsBox)
	for _, l := range c.parts {
		p.Add("\n")
		l.html(p, "part ")
	}
	p.Add("\n</svg>")
	c.lines(p)
	p.Add("\n</svg></div>")
	c.axis(p)
	p.Add("\n</figure>")
}

// lines adds the vertical lines across a chart to p, with their names.
func (c *charts) lines(p *markup.Page) {
	for _, t := range c.rules {
		p.Add(`<line class="rule" x1="{}" x2="{}" y1="0" y2="100%"><title>{}</title></line>`, t.At, t.At, t.Title)
	}
}

// grid adds a vertical line at each tick of the time axis to p.
func (c *charts) grid(p *markup.Page) {
	for _, t := range c.times {
		p.Add(`<line class="grid" x1="{}" x2="{}" y1="0" y2="100%"/>`, t.At, t.At)
	}
}

// axis adds the time axis to p.
func (c *charts) axis(p *markup.Page) {
	p.Add("\n" + `<div class="plot"><div class="side unit">time</div><svg class="field times" height="16">`)
	for _, t := range c.times {
		anchor := "middle"
		switch {
		case t.Last:
			anchor = "end"
		case t.Text == "0":
			anchor = "start"
		}
		p.Add(`<text x="{}" y="12" text-anchor="{}">{}</text>`, t.At, anchor, t.Text)
	}
	p.Add("</svg></div>")
}

// addHeights adds the texts of ticks, those of a vertical axis, to p.
func addHeights(p *markup.Page, ticks []tick) {
	for _, t := range ticks {
		dy := 4
		switch t.At {
		case "0%":
			dy = 10
		case "100%":
			dy = 0
		}
		p.Add(`<text x="100%" dx="-6" y="{}" dy="{}" text-anchor="end">{}</text>`, t.At, dy, t.Text)
	}
}

// addLevels adds a horizontal line at each of ticks, those of a vertical axis, to p.
func addLevels(p *markup.Page, ticks []tick) {
	for _, t := range ticks {
		p.Add(`<line class="grid" x1="0" x2="100%" y1="{}" y2="{}"/>`, t.At, t.At)
	}
}

// shape adds the shape of m to p.
func (m *mark) shape(p *markup.Page) {
	switch m.Kind {
	case "first":
		p.Add(`<circle class="m-start" r="3.2"/>`)
	case "more":
		p.Add(`<path class="m-start" d="M-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z"/>`)
	case "again":
		p.Add(`<circle class="m-again" r="2.8"/>`)
	case "took":
		p.Add(`<path class="m-start" d="M-3-4l6.500 4l-6.500 4z"/>`)
	case "less":
		p.Add(`<path class="m-start" d="M-4-1h8v2h-8z"/>`)
	case "slow":
		p.Add(`<path class="m-bad" d="M-4-3.500h8l-4 7z"/>`)
	case "silent":
		p.Add(`<path class="m-bad" d="M-1.200-4.500h2.400v5.500h-2.400zM-1.200 2.300h2.400v2.200h-2.400z"/>`)
	case "failed":
		p.Add(`<path class="m-cross" d="M-3-3l6 6M-3 3l6-6"/>`)
	case "banned":
		p.Add(`<path class="m-bad" d="M-4-4h8v8h-8z"/><path class="m-white" d="M-2-2l4 4M-2 2l4-4"/>`)
	}
}
