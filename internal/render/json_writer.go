package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"braid/internal/problem"
	"braid/source"
)

// A JSONWriter writes JSON, one object per line. After an error it writes nothing more.
type JSONWriter struct {
	w   io.Writer
	err error
}

func NewJSONWriter(w io.Writer) *JSONWriter { return &JSONWriter{w: w} }

// Err returns the error that stopped l, or nil. l may be nil.
func (l *JSONWriter) Err() error {
	if l == nil {
		return nil
	}
	return l.err
}

// Write writes event as a line, unless event is nil. If l is nil, it does nothing.
func (l *JSONWriter) Write(event any) {
	if l == nil || l.err != nil || event == nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if l.err = e.Encode(event); l.err == nil {
		_, l.err = l.w.Write(escapeJSON(b.Bytes()))
	}
}

// Fail writes a line about f with its exit code and, unless path is "", the path of the file.
func (l *JSONWriter) Fail(f *problem.Problem, code int, path string) {
	e := newErrorEvent(moment{at: time.Now()}, f, code)
	e.Path = path
	l.Write(e)
}

// Note writes a line with a message for the user.
func (l *JSONWriter) Note(text string) { l.Write(noteEvent{NewHead(time.Now(), "note"), text}) }

// escapeJSON replaces characters that could move the cursor of a terminal or reverse its text by \u escapes, which mean the
// same in JSON (rule 61). Characters outside ASCII are only in strings, and the encoder has already replaced invalid UTF-8.
func escapeJSON(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for _, r := range string(line) {
		if ' ' <= r && r < 0x7f || r == '\n' || source.Escape(string(r)) == string(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
