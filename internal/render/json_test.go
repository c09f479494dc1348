package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"braid/source"
)

func TestJSONLine(t *testing.T) {
	var b bytes.Buffer
	l := NewJSONWriter(&b)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600))
	l.Write(startEvent{NewHead(at, "start"), "http://h/?a=***&b=***", "a\x1b\u202e\u009b😀\U000e0001\xff<b>.iso"})
	want := `{"v":1,"time":"2026-01-02T02:04:05.678901Z","event":"start","url":"http://h/?a=***&b=***",` +
		`"path":"a\u001b\u202e\u009b😀\udb40\udc01\ufffd<b>.iso"}` + "\n"
	if b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

// FuzzJSON_Rule61: a line is valid UTF-8 and valid JSON, moves no cursor, and means what went in.
func FuzzJSON_Rule61(f *testing.F) {
	f.Add("a\x00\x1b\u202e\xff\U000e0001 \u2028<>&")
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		l := NewJSONWriter(&b)
		l.Write(noteEvent{NewHead(time.Now(), "note"), s})
		line, ok := strings.CutSuffix(b.String(), "\n")
		if !ok || !utf8.ValidString(line) || source.Escape(line) != line {
			t.Fatalf("%q", line)
		}
		var e noteEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Text != encoded(s) {
			t.Fatalf("%q: %v, text %q", line, err, e.Text)
		}
	})
}

// encoded is s as encoding/json keeps it: with U+FFFD for each byte that is not UTF-8.
func encoded(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

type fullDisk struct{ writes int }

func (p *fullDisk) Write([]byte) (int, error) {
	p.writes++
	return 0, errors.New("no space left")
}

func TestJSONStopsAtAnError(t *testing.T) {
	var p fullDisk
	l := NewJSONWriter(&p)
	l.Write(noteEvent{})
	l.Write(noteEvent{})
	if l.Err() == nil || p.writes != 1 {
		t.Errorf("%v after %d writes", l.Err(), p.writes)
	}
	var none *JSONWriter
	none.Write(noteEvent{}) // without --json
}
