// Package releaseapi reads the releases of a project as a feed, in the JSON of GitHub, Forgejo, Gitea, GitLab, PyPI and
// crates.io. The shapes of the documents are rows of a table, shapes.json.
//
//	for r, err := range releaseapi.NewDecoder(body, feed.Options{}).Records() { fmt.Println(r.Tag, r.URL) }
//
// Each file of a release is a record, with the tag of the release. A release without files is a record of its page.
// Drafts, withdrawn releases and files that are not uploaded completely are left out. Documents are read event by event:
// one release is in memory, without its notes.
package releaseapi

import (
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

const (
	// headSize is the number of bytes used to detect the shape of a document.
	headSize = 16 << 10
	// maxRelease limits the memory of a release, in bytes. assetSize is counted for each file.
	maxRelease = 4 << 20
	assetSize  = 512
)

// A Decoder reads the releases of one project, in constant memory.
type Decoder struct {
	reading feedtext.Reading
	in      *feedtext.Reader
	base    *url.URL // base of relative URLs, or nil
	json    *feedtext.JSON
	next    func() (feed.Record, error)

	shape *shape
	// document has those members of the document that are tags. skipped has the ignored lists.
	document map[string]string
	skipped  map[*releases]bool
	release  *release
	queue    []feed.Record
}

// NewDecoder returns a Decoder that reads from r. It detects the shape from the beginning of the document.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{reading: feedtext.NewReading(o), in: feedtext.NewReader(r, o.Limits), document: map[string]string{},
		skipped: map[*releases]bool{}}
	if u, err := url.Parse(o.Base); err == nil && u.Host != "" {
		d.base = u
	}
	d.next = d.open
	return d
}

// Records returns an iterator over the records. If the document has no shape of the table or is rejected, the last pair
// has an error and no record. The records before it are valid.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return feedtext.Sequence(func() (feed.Record, error) { return d.next() })
}

// Input describes the encoding of the document.
func (d *Decoder) Input() feed.Input { return feed.Input{Gzip: d.in.Gzip(), Charset: "utf-8"} }

// open detects the shape.
func (d *Decoder) open() (feed.Record, error) {
	head, err := d.in.Peek(headSize)
	if err != nil {
		return feed.Record{}, err
	}
	members := feedtext.Members(head)
	i := slices.IndexFunc(shapes, func(s *shape) bool { return feedtext.HasSet(members, s.Known) })
	switch {
	case i >= 0:
		d.shape = shapes[i]
	case strings.Join(strings.Fields(string(head)), "") == "[]":
		d.shape = &shape{} // a project without releases
	default:
		return feed.Record{}, codeForeign.Reject(1)
	}
	d.json = feedtext.NewJSON(d.in)
	d.next = d.read
	return d.next()
}

func (d *Decoder) read() (feed.Record, error) {
	for len(d.queue) == 0 {
		e, err := d.json.Next()
		if err == io.EOF && d.reading.Entries() == 0 {
			d.reading.Problem(codeNone, 0, "", "")
		}
		if err == nil {
			err = d.event(e)
		}
		if err != nil {
			return feed.Record{}, err
		}
	}
	r := d.queue[0]
	d.queue = d.queue[1:]
	return r, nil
}

// event handles an event, which may end a release.
func (d *Decoder) event(e feedtext.Event) error {
	path := d.json.Path()
	switch r := d.release; {
	case r == nil:
		return d.outside(e, path)
	case e.Kind == feedtext.End && d.json.Depth() == r.depth:
		d.release = nil
		return d.finish(r)
	default:
		r.event(e, path[len(r.list.each):], d.json)
	}
	return nil
}

// outside handles an event outside of releases.
func (d *Decoder) outside(e feedtext.Event, path []string) error {
	if e.Kind == feedtext.End || e.Kind == feedtext.EndArray {
		return nil
	}
	name := strings.Join(path, ".")
	for _, l := range d.shape.Lists {
		switch {
		case l.Unless == name && name != "":
			d.skipped[l] = true
		case e.Kind == feedtext.Scalar && l.Tag == "/"+name:
			d.document[name] = clip(e.Text)
		case e.Kind == feedtext.Begin && l.is(path) && !d.skipped[l]:
			if err := d.reading.Stopped(); err != nil {
				return err
			}
			d.release = newRelease(l, d.json)
			if l.Tag == "*" {
				d.release.tag = clip(path[slices.Index(l.each, "*")])
			} else if name, ok := strings.CutPrefix(l.Tag, "/"); ok {
				d.release.tag = d.document[name]
			}
			return nil
		}
	}
	return nil
}

// clip returns the beginning of text, at most one byte more than the longest URL, so that a URL that is too long stays
// too long.
func clip(text string) string { return strings.Clone(text[:min(len(text), feed.MaxURL+1)]) }
