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

// Err returns the error that stopped l. It returns nil for a nil JSONWriter.
func (l *JSONWriter) Err() error {
	if l == nil {
		return nil
	}
	return l.err
}

// Write writes one event. A nil event is not written. A nil JSONWriter writes nothing.
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

// Fail writes a problem with its exit code, and the path of the file unless that is "".
func (l *JSONWriter) Fail(f *problem.Problem, code int, path string) {
	e := newErrorEvent(moment{at: time.Now()}, f, code)
	e.Path = path
	l.Write(e)
}

// Note writes a message for the user.
func (l *JSONWriter) Note(text string) { l.Write(noteEvent{NewHead(time.Now(), "note"), text}) }

// escapeJSON replaces characters that could move a terminal's cursor or reverse its text by \u escapes, which have the
// same meaning in JSON (rule 61). Characters outside ASCII occur only inside strings, and the encoder has replaced
// invalid UTF-8.
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
