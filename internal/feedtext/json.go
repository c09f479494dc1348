package feedtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"braid/antenna/feed"
)

const (
	// maxPiece limits the size of one string, or of white space, because it is kept in memory.
	maxPiece = 4 << 20
	// chunk is the size of one read.
	chunk = 32 << 10
	// maxDepth limits the nesting of objects and arrays. maxMember limits the length of names that are kept.
	maxDepth  = 100
	maxMember = 300
)

// Codes of documents that cannot be read to their end.
var (
	codeLargePiece = Fatal("line-too-long", "a text is longer than 4 MiB")
	codeDeep       = Fatal("nested-too-deep", "objects or arrays are nested more than 100 deep")
	codeTruncated  = Fatal("truncated", "the document ends within a value")
	codeMalformed  = Fatal("not-well-formed", "not well-formed JSON")
)

// A Kind is the kind of an Event.
type Kind int

const (
	Scalar Kind = iota // a string, a number, true, false or null
	Begin              // of an object
	End                // of an object
	BeginArray
	EndArray
)

// An Event is a part of a JSON document.
type Event struct {
	Kind Kind
	// Text is the value of a scalar as text, and empty for null.
	Text string
}

// JSON reads a JSON document event by event, in constant memory. Its errors are *feed.RejectError or errors of the
// reader.
type JSON struct {
	in   *window
	json *json.Decoder
	// open has a level for each open object and array, and names a name for each open object.
	open  []level
	names []string
	path  []string
	whole bool // the document has been read completely
}

// A level is an open object or array.
type level struct {
	array bool
	named bool // the name of the next value has been read
}

// NewJSON returns a JSON that reads from r. It skips a byte order mark.
func NewJSON(r *Reader) *JSON {
	if head, _ := r.Peek(3); string(head) == "\xef\xbb\xbf" {
		r.Read(make([]byte, 3)) // of what was peeked
	}
	j := &JSON{in: &window{r: r, line: 1}}
	j.json = json.NewDecoder(j.in)
	j.json.UseNumber()
	return j
}

// Path returns the names of the members that lead to the value of the last event. Elements of arrays have no name. The
// slice is valid until the next event.
func (j *JSON) Path() []string { return j.path }

// InArray reports whether the object that the last event began is an element of an array.
func (j *JSON) InArray() bool { return len(j.open) > 1 && j.open[len(j.open)-2].array }

// Depth returns the number of open objects and arrays.
func (j *JSON) Depth() int { return len(j.open) }

// Line returns the line of the last event, from 1.
func (j *JSON) Line() int { return j.in.line }

// Next returns the next event. At the end of the document the error is io.EOF.
func (j *JSON) Next() (Event, error) {
	for {
		token, err := j.json.Token()
		j.in.forget(j.json.InputOffset())
		if err != nil {
			return Event{}, j.failed(err)
		}
		if j.whole {
			return Event{}, codeMalformed.Reject(j.Line()) // the document has more than one value
		}
		if e, is, err := j.event(token); is || err != nil {
			return e, err
		}
	}
}

// event converts a token. It reports false for the name of a member.
func (j *JSON) event(token json.Token) (e Event, is bool, err error) {
	top := len(j.open) - 1
	switch t := token.(type) {
	case json.Delim:
		return j.delimiter(t)
	case string:
		if top >= 0 && !j.open[top].array && !j.open[top].named {
			j.open[top].named = true
			j.names[len(j.names)-1] = t[:min(len(t), maxMember)]
			return e, false, nil
		}
		e.Text = t
	case json.Number:
		e.Text = t.String()
	case bool:
		e.Text = map[bool]string{true: "true", false: "false"}[t]
	}
	j.ended()
	j.path = j.names
	return e, true, nil
}

func (j *JSON) delimiter(d json.Delim) (e Event, is bool, err error) {
	switch d {
	case '{', '[':
		if len(j.open) == maxDepth {
			return e, false, codeDeep.Reject(j.Line())
		}
		j.open = append(j.open, level{array: d == '['})
		j.path = j.names
		if e.Kind = BeginArray; d == '{' {
			e.Kind = Begin
			j.names = append(j.names, "")
		}
		return e, true, nil
	}
	j.open = j.open[:len(j.open)-1]
	if e.Kind = EndArray; d == '}' {
		e.Kind = End
		j.names = j.names[:len(j.names)-1]
	}
	j.ended()
	j.path = j.names
	return e, true, nil
}

func (j *JSON) ended() {
	if top := len(j.open) - 1; top >= 0 {
		j.open[top].named = false
	} else {
		j.whole = true
	}
}

// failed returns the reason for an error of reading a token.
func (j *JSON) failed(err error) error {
	switch {
	case j.in.err != nil && j.in.err != io.EOF:
		return j.in.err
	case err == io.EOF && j.whole:
		return io.EOF
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return codeTruncated.Reject(j.Line())
	}
	return codeMalformed.Reject(j.Line())
}

// Members returns the paths of the members in the beginning of a document: the names that lead to a member, joined by
// dots.
func Members(head []byte) map[string]bool {
	found := map[string]bool{}
	j := NewJSON(NewReader(bytes.NewReader(head), feed.Limits{}))
	for {
		switch e, err := j.Next(); {
		case err != nil: // at the latest at the end of head
			return found
		case e.Kind != End && e.Kind != EndArray && len(j.Path()) > 0 && len(j.Path()) <= deepest:
			found[strings.Join(j.Path(), ".")] = true
		}
	}
}

// deepest is how deep Members looks.
const deepest = 3

// HasSet reports whether all members of one of the sets were found.
func HasSet(found map[string]bool, sets [][]string) bool {
	return slices.ContainsFunc(sets, func(set []string) bool {
		return !slices.ContainsFunc(set, func(name string) bool { return !found[name] })
	})
}

// A window is a reader that counts the lines up to an offset. It keeps the bytes read beyond the offset, up to a limit.
type window struct {
	r      io.Reader
	err    error // first error of r
	kept   []byte
	offset int64 // of kept
	line   int   // of the first byte of kept
}

func (w *window) Read(p []byte) (n int, err error) {
	if len(w.kept) > maxPiece && w.err == nil {
		w.err = codeLargePiece.Reject(w.line)
	}
	if w.err != nil {
		return 0, w.err
	}
	for range 100 {
		if n, w.err = w.r.Read(p[:min(len(p), chunk)]); n > 0 || w.err != nil || len(p) == 0 {
			w.kept = append(w.kept, p[:n]...)
			return n, w.err
		}
	}
	w.err = io.ErrNoProgress
	return 0, w.err
}

// forget drops the bytes before an offset.
func (w *window) forget(offset int64) {
	n := int(min(offset-w.offset, int64(len(w.kept))))
	if n <= 0 {
		return
	}
	w.line += bytes.Count(w.kept[:n], []byte("\n"))
	w.kept, w.offset = w.kept[n:], w.offset+int64(n)
}
