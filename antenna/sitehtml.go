package antenna

import "braid/internal/markup"

// html returns the page, which has no scripts and loads nothing.
func (v *view) html() []byte {
	var p markup.Page
	p.Add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="braid">
<title>{}</title>
<link rel="alternate" type="application/x-lirs" title="LIRS" href="antenna.lirs.gz">
<link rel="alternate" type="application/atom+xml" title="Atom" href="atom.xml">
`, v.Title)
	p.Style(style)
	sites := "sites"
	if v.Sites == 1 {
		sites = "site"
	}
	p.Add(`</head>
<body>
<header>
<h1>{}</h1>
<p>{} {}, as <bdi>{}</bdi> knew them on <time datetime="{}">{}, {}</time>. Times are UTC.</p>
<nav>For readers and other antennas: <a href="atom.xml">Atom</a> <a href="antenna.lirs.gz">LIRS</a> `+
		`<a href="hina.di">hina-di</a> <a href="antenna.soif">SOIF</a></nav>
</header>
<main>
`, v.Title, v.Sites, sites, v.Agent, v.Now.RFC3339, v.Now.Day, v.Now.Clock)
	for _, day := range v.Days {
		p.Add("<section>\n<h2>{}</h2>\n<ul>\n", day.Name)
		for i := range day.Sites {
			day.Sites[i].html(&p)
		}
		p.Add("</ul>\n</section>\n")
	}
	p.If(len(v.Days) == 0, "<p>Nothing is known yet.</p>\n")
	p.If(v.More > 0, "<p>More updates in the feeds: {}.</p>\n", v.More)
	p.Add("</main>\n</body>\n</html>\n")
	return p.Bytes()
}

func (s *pageSite) html(p *markup.Page) {
	switch {
	case s.Time.Clock != "":
		p.Add(`<li><time class="clock" datetime="{}">{}</time>`, s.Time.RFC3339, s.Time.Clock)
	case s.Failed:
		p.Add(`<li><span class="clock">?</span>`)
	default:
		p.Add(`<li><span class="clock">-</span>`)
	}
	p.Add("\n" + `<div><bdi class="name">`)
	addLink(p, s.Link, s.Name)
	p.Add("</bdi>\n" + `<p class="more">`)
	p.If(s.Author != "", "<bdi>{}</bdi> ", s.Author)
	p.If(s.Size != "", "<span>{}</span> ", s.Size)
	p.If(s.Checked.Clock != "", `<span>seen <time datetime="{}">{}, {}</time></span> `, s.Checked.RFC3339, s.Checked.Day,
		s.Checked.Clock)
	if s.Via != "" {
		p.Add("<span>via <bdi>")
		addLink(p, s.ViaLink, s.Via)
		p.Add("</bdi></span>")
	}
	p.Add("</p>\n")
	p.If(s.Name != s.URL, `<p class="url"><bdi>{}</bdi></p>`+"\n", s.URL)
	p.Add("</div></li>\n")
}

// addLink adds text, as a link if url is not empty. url must be a result of link.
func addLink(p *markup.Page, url, text string) {
	if url == "" {
		p.Add("{}", text)
		return
	}
	p.Add(`<a href="{}">{}</a>`, url, text)
}
