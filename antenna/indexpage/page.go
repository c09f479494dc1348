package indexpage

import (
	"bytes"

	"golang.org/x/net/html"

	"braid/antenna/feed"
)

const (
	// maxToken limits the size of a tag, of a text and of a script, because they are kept in memory.
	maxToken = 1 << 20
	// maxText limits the text of a row that is kept.
	maxText = 512
)

type page struct {
	d    *Decoder
	z    *html.Tokenizer
	line int
	row  *row
	open bool  // the element html has begun and not ended
	err  error // error that ended the page; a row before the error is still returned
}

// A row is a link to a file, and the text after the link. The text has the file's date and size.
type row struct {
	feed.Record
	inLink bool
	text   []byte
	// size is the exact size in the current cell of the table, and time the machine-readable time of the row.
	size, time string
}

func newPage(d *Decoder) *page {
	p := &page{d: d, z: html.NewTokenizer(d.in), line: 1}
	p.z.SetMaxBuf(maxToken)
	return p
}

func (p *page) next() (feed.Record, error) {
	for p.err == nil {
		kind := p.z.Next()
		line := p.line
		p.line += bytes.Count(p.z.Raw(), []byte("\n"))
		var done *row
		if done, p.err = p.token(kind, line); done == nil {
			continue
		}
		p.d.columns(done)
		if p.d.reading.Judge(&done.Record, done.URL) {
			return done.Record, nil
		}
	}
	return feed.Record{}, p.d.end(p.err)
}

// token reads a token, and returns the row that it ends.
func (p *page) token(kind html.TokenType, line int) (done *row, err error) {
	switch kind {
	case html.ErrorToken:
		return p.finish(), p.failed(line)
	case html.TextToken:
		if p.row != nil && !p.row.inLink {
			p.row.add(p.d.decode(p.z.Text()))
		}
	case html.EndTagToken:
		switch name, _ := p.z.TagName(); string(name) {
		case "a":
			if p.row != nil {
				p.row.inLink = false
			}
		case "td":
			if p.row != nil {
				p.row.size = ""
			}
		case "tr", "li", "pre":
			return p.finish(), nil
		case "html":
			p.open = false
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		return p.start(line)
	}
	return nil, nil
}

// failed returns the error that ended the page.
func (p *page) failed(line int) error {
	err := p.z.Err()
	if err == html.ErrBufferExceeded {
		return codeLargeText.Reject(line)
	}
	return err
}

func (p *page) start(line int) (done *row, err error) {
	name, more := p.z.TagName()
	switch string(name) {
	case "html":
		p.open = true
	case "base":
		return nil, codeBase.Reject(line)
	case "a":
		if href := attribute(p.z, more, "href"); href != "" {
			return p.link(p.d.decode([]byte(href)), line)
		}
	case "td":
		if p.row != nil {
			p.row.size = attribute(p.z, more, "data-order")
		}
	case "time":
		if p.row != nil && p.row.time == "" {
			p.row.time = attribute(p.z, more, "datetime")
		}
	}
	return nil, nil
}

// link reads a link, and returns the row before it. A row may have several links to its file.
func (p *page) link(href string, line int) (done *row, err error) {
	next := &row{Record: feed.Record{Line: line}, inLink: true}
	ok, err := p.d.record(&next.Record, href)
	if err != nil {
		return p.finish(), err
	}
	if ok && p.row != nil && p.row.URL == next.URL {
		p.row.inLink = true
		return nil, nil
	}
	done = p.finish()
	if ok {
		next.Fields = []feed.Field{{Name: "href", Value: href[:min(len(href), feed.MaxURL)]}}
		p.row = next
	}
	return done, nil
}

// finish returns the current row, or nil, and ends it.
func (p *page) finish() *row {
	done := p.row
	p.row = nil
	return done
}

func (r *row) add(text string) {
	if exact(r.size, text) {
		text = " " + r.size + " "
	}
	r.text = append(r.text, text[:min(len(text), maxText-len(r.text))]...)
	if len(r.text) < maxText {
		r.text = append(r.text, ' ')
	}
}
