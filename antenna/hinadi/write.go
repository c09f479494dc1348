package hinadi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Encode writes a feed in a form that all known agents can read: EUC-JP, or UTF-8 if EUC-JP cannot encode the text,
// with a declaration of the charset; CRLF; one space after the colon; a blank line after every block, including the
// last. From h only User-Agent, which is required, and Date are written. Encode iterates over records twice.
//
// A record that was read from hina-di is written with its own fields, URL first, without empty ones, because blocks of
// other agents must be passed on complete and unchanged (section 12). Other records are summarized.
func Encode(w io.Writer, h Header, records iter.Seq[feed.Record]) error {
	if clean(h.UserAgent) == "" {
		return errors.New("hina-di: a feed needs a User-Agent")
	}
	e := encoder{w: bufio.NewWriter(w), charset: feedtext.EUCJP}
	head := []feed.Field{{Name: "User-Agent", Value: clean(h.UserAgent)}}
	if !e.fits(head, records) {
		e.charset = feedtext.UTF8
	}
	if date, ok := formatDate(h.Date); ok {
		head = append(head, feed.Field{Name: "Date", Value: date})
	}
	label := strings.ToUpper(e.charset.String())
	head = append(head, feed.Field{Name: "Content-Type", Value: "text/plain; charset=" + label})
	e.buf = append(e.buf, hinaLine+"\r\n"...)
	if err := e.block(head); err != nil {
		return err
	}
	for r := range records {
		fields, err := Fields(r)
		if err != nil {
			return err
		}
		if err := e.block(fields); err != nil {
			return err
		}
	}
	return e.w.Flush()
}

type encoder struct {
	w       *bufio.Writer
	charset *feedtext.Charset
	buf     []byte
}

// fits reports whether e.charset can encode head and records.
func (e *encoder) fits(head []feed.Field, records iter.Seq[feed.Record]) bool {
	has := func(fields []feed.Field) (ok bool) {
		for _, f := range fields {
			if e.buf, ok = e.charset.Encode(e.buf[:0], f.Value); !ok {
				return false
			}
		}
		return true
	}
	ok := has(head)
	for r := range records {
		if !ok {
			break
		}
		fields, _ := Fields(r)
		ok = has(fields)
	}
	e.buf = e.buf[:0]
	return ok
}

// block writes fields and a blank line.
func (e *encoder) block(fields []feed.Field) error {
	for _, f := range fields {
		e.buf = append(append(e.buf, f.Name...), ": "...)
		var ok bool
		if e.buf, ok = e.charset.Encode(e.buf, f.Value); !ok {
			return fmt.Errorf("hina-di: %s %q changed while it was written", f.Name, f.Value)
		}
		e.buf = append(e.buf, "\r\n"...)
	}
	e.buf = append(e.buf, "\r\n"...)
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// Fields returns the block of a record, as written by Encode. It returns an error if the URL is not valid.
func Fields(r feed.Record) ([]feed.Field, error) {
	if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL {
		return nil, fmt.Errorf("hina-di: %q is not a URL", r.URL)
	}
	b := blockWriter{seen: map[string]bool{}}
	b.add("URL", r.URL)
	if r.Format != feed.HinaDI {
		b.summarise(&r)
		b.tooLong = "" // a summary may omit values that are too long
	}
	if r.Format == feed.HinaDI || r.Format == feed.Own {
		for _, f := range r.Fields {
			b.add(f.Name, f.Value)
		}
	}
	if b.tooLong != "" {
		return nil, fmt.Errorf("hina-di: the block of %s has a %s of more than %d octets", r.URL, b.tooLong, maxValue)
	}
	return b.fields, nil
}

// maxValue limits the bytes of a value, so that its line is below the limit of readers in any charset.
const maxValue = 40 << 10

// A blockWriter collects the fields of a block, without duplicates.
type blockWriter struct {
	fields  []feed.Field
	seen    map[string]bool
	tooLong string // name of a field
}

// add adds a field, unless its value is empty or its name was already used.
func (b *blockWriter) add(name, value string) {
	value = clean(value)
	key := keyOf(canonicalName(name))
	if value == "" || b.seen[key] || !isFieldName(name) {
		return
	}
	if len(value) > maxValue {
		b.tooLong = name
		return
	}
	b.seen[key] = true
	b.fields = append(b.fields, feed.Field{Name: name, Value: value})
}

// summarise adds the fields of section 5 for which r has values.
func (b *blockWriter) summarise(r *feed.Record) {
	if r.Complete {
		b.add("HINA-Version", "HINA/2.2")
	}
	b.addURI("Virtual", r.Virtual)
	if isContentType(r.ContentType) {
		b.add("Content-Type", r.ContentType)
	}
	b.addDate("Date", r.Date)
	b.add("Title", r.Title)
	b.add("Author-Name", r.Author)
	b.addDate("Expires", r.Expires)
	b.addDate("Expire", r.Expires) // section 5.11
	b.addDate("Last-Modified", r.LastModified)
	b.addDate("Last-Modified-Detected", r.Detected)
	b.add("Server", r.Server)
	b.add("Authorized", r.Agent)
	b.addURI("Authorized-url", r.AgentURL)
	b.addMethod(r)
	b.add("Keyword", strings.Join(r.Keywords, ", "))
	if r.Size > 0 {
		b.add("Content-Length", strconv.FormatInt(r.Size, 10))
	}
}

func (b *blockWriter) addURI(name, uri string) {
	if feed.IsURI(uri) && len(uri) <= feed.MaxURL {
		b.add(name, uri)
	}
}

func (b *blockWriter) addDate(name string, t feed.Time) {
	if date, ok := formatDate(t); ok {
		b.add(name, date)
	}
}

// addMethod adds the Method of r if the Method is valid and r has a Result.
func (b *blockWriter) addMethod(r *feed.Record) {
	for _, word := range r.Method {
		if !methodWords[word] {
			return
		}
	}
	if len(r.Method) > 0 && len(r.Result) == 3 && feedtext.IsNumber(r.Result) {
		b.add("Method", strings.Join(r.Method, "/")+"/"+r.Result)
	}
}

// clean converts s to a TOKEN: without control characters, leading blanks and invalid UTF-8.
func clean(s string) string {
	if !isText(s) {
		s = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, s)
	}
	return strings.TrimLeft(strings.ToValidUTF8(s, "\uFFFD"), " \t")
}
