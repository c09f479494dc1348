package soif

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"braid/antenna/feed"
)

// TypeField is the name under which the template type of an object stands before its attributes, among the fields of a
// record. No identifier has an @.
const TypeField = "@"

// record is what o reports. Octets that are no text in the charset are escaped. The fields have the values as they
// came.
func (o Object) record(set *feed.Charset) feed.Record {
	r := feed.Record{
		Format: feed.SOIF, Line: o.Line, Offset: o.Offset, URL: o.URL, Warnings: o.Warnings,
		Title:        strings.Join(o.lines(set, "Title", "\r\n"), " "),
		Author:       strings.Join(o.lines(set, "Author", "\r\n"), ", "),
		Keywords:     o.lines(set, "Keywords", "\r\n,"),
		LastModified: o.time(LastModificationTime), Detected: o.time(UpdateTime),
		Agent: strings.Join(o.lines(set, "Gatherer-Name", "\r\n"), " "), AgentURL: o.gatherer(set),
	}
	if expires, ok := o.Expires(); ok {
		r.Expires = feed.Time(expires)
	}
	r.Size, _ = o.Number(FileSize)
	if sum, ok := o.Digest(); ok {
		r.MD5 = hex.EncodeToString(sum[:])
	}
	if t := o.lines(set, "Type", "\r\n"); len(t) > 0 && strings.Contains(t[0], "/") { // else one of Harvest's words
		r.ContentType = t[0]
	}
	r.Fields = o.fields()
	return r
}

// fields returns the template type and the attributes, with all values in one piece of memory.
func (o Object) fields() []feed.Field {
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
	list = append(list, feed.Field{Name: TypeField, Value: o.Type})
	text := all.String()
	for _, a := range o.Attributes {
		list = append(list, feed.Field{Name: a.Name, Value: text[:len(a.Value)]})
		text = text[len(a.Value):]
	}
	return list
}

func (o Object) time(name string) feed.Time {
	n, _ := o.Number(name)
	return feed.Time(n)
}

// lines returns the values of an attribute as text: both the multi-values of RFC 2655 and those that Harvest writes into one
// value, a line each.
func (o Object) lines(set *feed.Charset, name, separators string) (list []string) {
	var scratch []byte
	for _, a := range o.named(name) {
		text := string(a.Value)
		if !feed.IsASCII(text) || set == feed.ISO2022JP {
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

// gatherer returns the host, with the port if there is one, of the gatherer that made the summary. It is no URL: gatherers have
// a protocol of their own.
func (o Object) gatherer(set *feed.Charset) string {
	host := strings.Join(o.lines(set, "Gatherer-Host", "\r\n"), " ")
	if port, ok := o.Number("Gatherer-Port"); ok && host != "" {
		return host + ":" + strconv.FormatInt(port, 10)
	}
	return host
}

// FromRecord makes the object that says what r says. What was read from SOIF becomes what it was, attribute by attribute; anything
// else becomes a FILE. It is false for what SOIF cannot say: that a site could not be reached, and what was found elsewhere
// than at the URL.
func FromRecord(r feed.Record) (o Object, ok bool) {
	if r.Failed || r.Virtual != "" {
		return Object{}, false
	}
	o = Object{Type: "FILE", URL: r.URL}
	if r.Format == feed.SOIF {
		for i, f := range r.Fields {
			if i == 0 && f.Name == TypeField {
				o.Type = f.Value
				continue
			}
			o.Attributes = append(o.Attributes, Attribute{f.Name, []byte(f.Value)})
		}
		return o, true
	}
	if r.Detected != 0 && r.Expires > r.Detected {
		o.addNumber(TimeToLive, int64(r.Expires-r.Detected))
	}
	o.addNumber(LastModificationTime, int64(r.LastModified))
	o.addNumber(UpdateTime, int64(r.Detected))
	o.add("Type", r.ContentType)
	o.addNumber(FileSize, r.Size)
	o.add(MD5, r.MD5)
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

// add adds an attribute, unless nothing is known of it.
func (o *Object) add(name, value string) {
	if value != "" {
		o.Attributes = append(o.Attributes, Attribute{name, []byte(value)})
	}
}

func (o *Object) addNumber(name string, n int64) {
	if n > 0 {
		o.add(name, strconv.FormatInt(n, 10))
	}
}
