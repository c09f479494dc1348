package soif

import (
	"net/url"
	"strconv"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// typeField is the name of the first field of a record. That field has the template type of the object. Identifiers
// cannot contain @.
const typeField = "@"

// record returns the record of o. Bytes that are not valid in the charset are escaped. The fields have the original
// values.
func (o object) record(set *feedtext.Charset) feed.Record {
	r := feed.Record{
		Format: feed.SOIF, Line: o.line, Offset: o.offset, URL: o.URL, Warnings: o.Warnings,
		Title:        strings.Join(o.lines(set, "Title", "\r\n"), " "),
		Author:       strings.Join(o.lines(set, "Author", "\r\n"), ", "),
		Keywords:     o.lines(set, "Keywords", "\r\n,"),
		LastModified: o.time(lastModificationTime), Detected: o.time(updateTime),
		Agent: strings.Join(o.lines(set, "Gatherer-Name", "\r\n"), " "), AgentURL: o.gatherer(set),
	}
	if expires, ok := o.expires(); ok {
		r.Expires = feed.Time(expires)
	}
	r.Size, _ = o.number(fileSize)
	r.MD5 = o.digest()
	if t := o.lines(set, "Type", "\r\n"); len(t) > 0 && strings.Contains(t[0], "/") { // otherwise the type is a name of Harvest's
		r.ContentType = t[0]
	}
	r.Fields = o.fields()
	return r
}

// fields returns the template type and the attributes. All values share one string.
func (o object) fields() []feed.Field {
	size := 0
	for _, a := range o.Attributes {
		size += len(a.Value)
	}
	var all strings.Builder
	all.Grow(size)
	for _, a := range o.Attributes {
		all.Write(a.Value)
	}
	list := make([]feed.Field, 0, len(o.Attributes)+1)
	list = append(list, feed.Field{Name: typeField, Value: o.Type})
	text := all.String()
	for _, a := range o.Attributes {
		list = append(list, feed.Field{Name: a.Name, Value: text[:len(a.Value)]})
		text = text[len(a.Value):]
	}
	return list
}

func (o object) time(name string) feed.Time {
	n, _ := o.number(name)
	return feed.Time(n)
}

// lines returns the values of an attribute as text. It accepts multi-values (RFC 2655), and one value that separators
// divide, as Harvest writes it.
func (o object) lines(set *feedtext.Charset, name, separators string) (list []string) {
	var scratch []byte
	for _, a := range o.named(name) {
		text := string(a.Value)
		if !feedtext.IsASCII(text) || set == feedtext.ISO2022JP {
			scratch, _ = set.Append(scratch[:0], a.Value)
			text = string(scratch)
		}
		for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// gatherer returns the host of the gatherer that made the summary, and its port if known. A gatherer has no URL,
// because gatherers have a protocol of their own.
func (o object) gatherer(set *feedtext.Charset) string {
	host := strings.Join(o.lines(set, "Gatherer-Host", "\r\n"), " ")
	if port, ok := o.number("Gatherer-Port"); ok && host != "" {
		return host + ":" + strconv.FormatInt(port, 10)
	}
	return host
}

// fromRecord returns the object for a record. A record read from SOIF keeps its attributes; any other record becomes a
// FILE. ok is false for a record that SOIF cannot represent: a failure, or metadata from another URL.
func fromRecord(r feed.Record) (o object, ok bool) {
	if r.Failed || r.Virtual != "" {
		return object{}, false
	}
	o = object{Type: "FILE", URL: r.URL}
	if r.Format == feed.SOIF {
		for i, f := range r.Fields {
			if i == 0 && f.Name == typeField {
				o.Type = f.Value
				continue
			}
			o.Attributes = append(o.Attributes, attribute{f.Name, []byte(f.Value)})
		}
		return o, true
	}
	if r.Detected != 0 && r.Expires > r.Detected {
		o.addNumber(timeToLive, int64(r.Expires-r.Detected))
	}
	o.addNumber(lastModificationTime, int64(r.LastModified))
	o.addNumber(updateTime, int64(r.Detected))
	o.add("Type", r.ContentType)
	o.addNumber(fileSize, r.Size)
	o.add(md5, r.MD5)
	o.add("Title", r.Title)
	o.add("Author", r.Author)
	o.add("Keywords", strings.Join(r.Keywords, "\n"))
	o.add("Gatherer-Name", r.Agent)
	if u, err := url.Parse(r.AgentURL); err == nil {
		o.add("Gatherer-Host", u.Hostname())
		o.add("Gatherer-Port", u.Port())
	}
	return o, true
}

// add adds an attribute, unless its value is empty.
func (o *object) add(name, value string) {
	if value != "" {
		o.Attributes = append(o.Attributes, attribute{name, []byte(value)})
	}
}

func (o *object) addNumber(name string, n int64) {
	if n > 0 {
		o.add(name, strconv.FormatInt(n, 10))
	}
}
