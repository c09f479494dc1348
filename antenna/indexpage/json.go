package indexpage

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A list reads the index that nginx and Caddy write as JSON: an array of objects, one for each file and sub-folder.
type list struct {
	d    *Decoder
	json *feedtext.JSON
	line int
	// entry has the members of the current entry.
	entry map[string]string
}

func (l *list) next() (feed.Record, error) {
	for {
		e, err := l.json.Next()
		if err != nil {
			return feed.Record{}, l.d.end(err)
		}
		if ended, err := l.event(e); err != nil {
			return feed.Record{}, err
		} else if !ended {
			continue
		}
		if r, ok, err := l.record(); ok || err != nil {
			return r, err
		}
	}
}

// Depths of the document after an event: in the array, and in an entry.
const (
	inArray = 1 + iota
	inEntry
)

// event reads an event, and reports whether an entry has ended.
func (l *list) event(e feedtext.Event) (ended bool, err error) {
	depth := l.json.Depth()
	switch {
	case depth == inArray && e.Kind == feedtext.Scalar, l.entry == nil && depth == inEntry && e.Kind == feedtext.BeginArray:
		return false, codeForeign.Reject(l.json.Line())
	case depth == inEntry && e.Kind == feedtext.Begin:
		l.line, l.entry = l.json.Line(), map[string]string{}
	case depth == inEntry && e.Kind == feedtext.Scalar && len(l.json.Path()) == 1:
		switch name := l.json.Path()[0]; name {
		case "name", "type", "is_dir", "mtime", "mod_time", "size":
			l.entry[name] = e.Text[:min(len(e.Text), feed.MaxURL)]
		}
	case depth == inArray && e.Kind == feedtext.End:
		return true, nil
	}
	return false, nil
}

// record makes a record of the current entry, if it is a file.
func (l *list) record() (r feed.Record, ok bool, err error) {
	entry := l.entry
	l.entry = nil
	r.Line = l.line
	isFolder := entry["is_dir"] == "true" || entry["type"] == "directory"
	if isFolder && !l.d.reading.Folders || !isFolder && entry["type"] != "" && entry["type"] != "file" {
		return r, false, nil
	}
	name := entry["name"]
	if isFolder {
		name = strings.TrimSuffix(name, "/")
	}
	if name == "" {
		if err := l.d.reading.Count(r.Line, "files"); err != nil {
			return r, false, err
		}
		l.d.reading.Find(codeNoName, 0, "", "")
		l.d.reading.Judge(&r, "")
		return r, false, nil
	}
	if !plain(name) {
		return r, false, nil
	}
	href := "./" + url.PathEscape(name)
	if isFolder {
		href += "/"
	}
	if ok, err := l.d.record(&r, href); !ok {
		return r, false, err
	}
	r.Fields = []feed.Field{{Name: "name", Value: name}}
	l.fill(&r, entry)
	return r, l.d.reading.Judge(&r, r.URL), nil
}

func (l *list) fill(r *feed.Record, entry map[string]string) {
	for _, f := range []struct{ name, form string }{{"mtime", timeFormat}, {"mod_time", time.RFC3339}} {
		text := entry[f.name]
		if text == "" {
			continue
		}
		r.Fields = append(r.Fields, feed.Field{Name: f.name, Value: text})
		at, err := time.Parse(f.form, text)
		if err != nil {
			l.d.reading.Find(codeBadDate, 0, f.name, text)
			continue
		}
		r.LastModified = feed.At(at)
	}
	text := entry["size"]
	if text == "" {
		return
	}
	r.Fields = append(r.Fields, feed.Field{Name: "size", Value: text})
	size, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		l.d.reading.Find(codeBadNumber, 0, "size", text)
		return
	}
	r.Size = int64(size)
}
