package releaseapi

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A release has the members of one release that were read so far.
type release struct {
	list  *releases
	line  int
	depth int // of the JSON around the release
	tag   string
	// values has the members that the table names. size is the sum of their lengths, plus assetSize for each file.
	values map[string]string
	size   int
	assets []*asset
	// asset is the file that is being read, or nil. within is the depth around that file.
	asset  *asset
	within int
}

// An asset has the members of a file read so far.
type asset struct {
	list   *assets
	line   int
	values map[string]string
}

func newRelease(l *releases, j *feedtext.JSON) *release {
	return &release{list: l, line: j.Line(), depth: j.Depth() - 1, values: map[string]string{}}
}

// event handles an event in the release. path is relative to the release.
func (r *release) event(e feedtext.Event, path []string, j *feedtext.JSON) {
	if len(path) > 4 {
		return
	}
	name := strings.Join(path, ".")
	switch {
	case r.asset != nil && e.Kind == feedtext.End && j.Depth() == r.within:
		r.asset = nil
	case e.Kind == feedtext.Begin && r.asset == nil:
		r.begin(name, j)
	case e.Kind != feedtext.Scalar:
	case r.asset == nil:
		r.set(r.list.wants, r.values, name, e.Text)
	default:
		r.set(r.asset.list.wants, r.asset.values, strings.TrimPrefix(name, r.asset.list.In+"."), e.Text)
	}
}

// begin begins a file, if name is the path of a list of files in the table.
func (r *release) begin(name string, j *feedtext.JSON) {
	for _, l := range r.list.Assets {
		if l.In == name && j.InArray() {
			r.size += assetSize
			r.within = j.Depth() - 1
			r.asset = &asset{list: l, line: j.Line(), values: map[string]string{}}
			if r.size <= maxRelease {
				r.assets = append(r.assets, r.asset)
			}
		}
	}
}

// set sets a value that the table names, unless the release is too large.
func (r *release) set(wants map[string]bool, values map[string]string, name, text string) {
	if !wants[name] || r.size > maxRelease {
		return
	}
	text = clip(text)
	r.size += len(text)
	values[name] = text
}

// finish makes the records of a release.
func (d *Decoder) finish(r *release) error {
	for _, name := range r.list.Out {
		if r.values[name] == "true" {
			d.reading.Problem(codeOut, r.line, "", "")
			return nil
		}
	}
	base, ok, err := d.describe(r)
	if !ok || err != nil {
		return err
	}
	for _, l := range r.list.Assets {
		if l.In == "" {
			r.assets = append(r.assets, &asset{l, r.line, r.values})
		}
	}
	before := len(d.queue)
	for _, a := range r.assets {
		if err := d.file(base, a); err != nil {
			return err
		}
	}
	if len(d.queue) == before && len(r.list.Page) > 0 {
		return d.emit(base, "page", first(r.values, r.list.Page))
	}
	return nil
}

// describe returns a record with the members that all files of a release share.
func (d *Decoder) describe(r *release) (base feed.Record, ok bool, err error) {
	base = feed.Record{Format: feed.ReleaseAPI, Line: r.line, Tag: strings.TrimSpace(r.tag)}
	if r.list.wants[r.list.Tag] {
		base.Tag = strings.TrimSpace(r.values[r.list.Tag])
	}
	switch {
	case r.size > maxRelease:
		d.reading.Find(codeTooLarge, 0, "", "")
	case base.Tag == "":
		d.reading.Find(codeNoTag, 0, "", "")
	case !isTag(base.Tag):
		d.reading.Find(codeBadTag, 0, "", base.Tag)
	}
	base.PreRelease = r.values[r.list.Pre] == "true"
	base.Title = oneLine(r.values[r.list.Title])
	base.Fields = []feed.Field{{Name: "tag", Value: base.Tag}}
	base.LastModified = d.date(r.values, r.list.Date)
	if d.reading.Failed() {
		if err := d.reading.Count(r.line, "releases and files"); err != nil {
			return base, false, err
		}
	}
	return base, d.reading.Judge(&base, ""), nil
}

const maxTag = 256

// isTag reports whether a text may be a tag: git has no spaces and control characters in tags.
func isTag(s string) bool {
	return len(s) <= maxTag && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f && c <= 0xa0 }) < 0
}

// oneLine returns a text in one line, without control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f && c <= 0xa0 }), " ")
}

// first returns the first value that is not empty.
func first(values map[string]string, names []string) string {
	for _, name := range names {
		if values[name] != "" {
			return values[name]
		}
	}
	return ""
}

// date parses the value of the first of names that has one.
func (d *Decoder) date(values map[string]string, names []string) feed.Time {
	text := first(values, names)
	if text == "" {
		return 0
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.reading.Find(codeBadDate, 0, "date", text)
		return 0
	}
	return feed.At(at)
}

// file adds the record of a file to the queue, if the file is complete.
func (d *Decoder) file(r feed.Record, a *asset) error {
	for name, want := range a.list.Only {
		if value, there := a.values[name]; there && value != want {
			d.reading.Problem(codeNotReady, a.line, "", "")
			return nil
		}
	}
	r.Line = a.line
	if modified := d.date(a.values, a.list.Date); modified != 0 {
		r.LastModified = modified
	}
	if text := a.values[a.list.Size]; text != "" {
		size, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			d.reading.Find(codeBadNumber, 0, "size", text)
		}
		r.Size = int64(size)
	}
	if kind := oneLine(a.values[a.list.Type]); strings.Contains(kind, "/") {
		r.ContentType = kind
	}
	r.Fields = r.Fields[:1:1]
	if digest := a.values[a.list.Digest]; digest != "" {
		r.Fields = append(r.Fields, feed.Field{Name: feed.DigestField, Value: digest})
	} else if digits := a.values[a.list.SHA256]; digits != "" {
		r.Fields = append(r.Fields, feed.Field{Name: feed.DigestField, Value: "sha256:" + digits})
	}
	return d.emit(r, "asset", first(a.values, a.list.URL))
}

// emit sets the URL of r to spelled, and adds r to the queue if r is valid. what is the name of the field for spelled.
func (d *Decoder) emit(r feed.Record, what, spelled string) error {
	if err := d.reading.Count(r.Line, "releases and files"); err != nil {
		return err
	}
	r.URL = d.url(strings.TrimSpace(spelled))
	r.Fields = append([]feed.Field{{Name: what, Value: spelled}}, r.Fields...)
	r.Warnings = append([]string(nil), r.Warnings...)
	if d.reading.Judge(&r, r.URL) {
		d.queue = append(d.queue, r)
	}
	return nil
}

// url parses a URL that may be relative to the URL of the API.
func (d *Decoder) url(text string) string {
	if text == "" {
		d.reading.Find(codeNoURL, 0, "", "")
		return ""
	}
	if ref, err := url.Parse(text); d.base != nil && err == nil && !ref.IsAbs() {
		text = d.base.ResolveReference(ref).String()
	}
	uri, foreign, sloppy := feedtext.URI(text)
	if !feed.IsWeb(uri) || len(uri) > feed.MaxURL {
		d.reading.Find(codeBadURL, 0, "", text)
		return ""
	}
	if sloppy {
		d.reading.Find(codeEscaped, 0, "", text)
	}
	if foreign {
		d.reading.Find(codeIRI, 0, "", text)
	}
	return uri
}
