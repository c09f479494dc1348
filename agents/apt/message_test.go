package apt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// A Reader parses the messages of apt. Message.String formats those that are sent to it.
func ExampleReader() {
	m, err := NewReader(strings.NewReader("600 URI Acquire\nURI: braid+https://deb.example.org/a.deb\nFilename: " +
		"/var/cache/apt/archives/partial/a.deb\n\n")).Next()
	fmt.Println(m.Code, m.Get("uri"), err)
	done := Message{Code: 201, Text: "URI Done", Fields: []Field{{"URI", m.Get("URI")}, {"Size", "7"}}}
	io.WriteString(os.Stdout, done.String())
	// Output:
	// 600 braid+https://deb.example.org/a.deb <nil>
	// 201 URI Done
	// URI: braid+https://deb.example.org/a.deb
	// Size: 7
}

func TestReaderNext(t *testing.T) {
	r := NewReader(strings.NewReader("\n\n601 Configuration\nConfig-Item: a=b\nConfig-Item: c=d:e\r\n\n600  URI Acquire " +
		"\nURI:x\nLong: 1\n  2\n\t3\n\n"))
	first, err := r.Next()
	if err != nil || first.Code != 601 || first.Text != "Configuration" ||
		!slices.Equal(first.Fields, []Field{{"Config-Item", "a=b"}, {"Config-Item", "c=d:e"}}) {
		t.Fatalf("%v %v", first, err)
	}
	second, err := r.Next()
	if err != nil || second.Text != "URI Acquire" || second.Get("uri") != "x" || second.Get("LONG") != "1\n2\n3" ||
		second.Get("none") != "" {
		t.Fatalf("%v %v", second, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReaderNextHostile(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"half a line", "600 URI", "unexpected EOF"},
		{"half a message", "600 URI Acquire\nURI: x\n", "unexpected EOF"},
		{"no code", "URI: x\n\n", "three digits"},
		{"two digits", "60 URI Acquire\n\n", "three digits"},
		{"a sign", "+60 URI Acquire\n\n", "three digits"},
		{"NUL", "600 URI Acquire\nURI: x\x00y\n\n", `it has a control character: '\x00'`},
		{"escape", "600 URI Acquire\nURI: \x1b[2J\n\n", "a control character"},
		{"no field", "600 URI Acquire\nURI\n\n", "not a field"},
		{"no name", "600 URI Acquire\n: x\n\n", "not a field"},
		{"goes on", "600 URI Acquire\n x\n\n", "continuation line"},
		{"huge", "600 URI Acquire\nURI: " + strings.Repeat("x", mostMessage) + "\n\n", "more than 8388608 bytes"},
		{"many", "600 URI Acquire\n" + strings.Repeat("A: b\n", mostMessage/5) + "\n", "more than 8388608 bytes"},
	} {
		_, err := NewReader(strings.NewReader(tt.text)).Next()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if _, format := errors.AsType[*FormatError](err); !format && err != io.ErrUnexpectedEOF {
			t.Errorf("%s: the error is a %T", tt.name, err)
		}
	}
}

// FuzzMessage checks that a message survives a round trip, and that no value in it can add a field or another message.
func FuzzMessage(f *testing.F) {
	f.Add("600 URI Acquire\nURI: x\nLong: 1\n 2\n\n", "a\n\n201 URI Done\nURI: y")
	f.Add("601 Configuration\nConfig-Item: a=b\n\n", "\x00\x7f\r")
	f.Fuzz(func(t *testing.T, text, value string) {
		if m, err := NewReader(strings.NewReader(text)).Next(); err == nil {
			again, err := NewReader(strings.NewReader(m.String())).Next()
			if err != nil || again.Code != m.Code || again.Text != oneLine(m.Text) || len(again.Fields) != len(m.Fields) {
				t.Fatalf("%q: %q: %v, %v", text, m.String(), again, err)
			}
		}
		sent := Message{Code: 400, Text: value, Fields: []Field{{"Message", value}, {"Last", "x"}}}
		r := NewReader(strings.NewReader(sent.String()))
		m, err := r.Next()
		if err != nil || len(m.Fields) != 2 || m.Get("Last") != "x" {
			t.Fatalf("%q: %v, %v", sent.String(), m, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("%q is more than a message: %v", sent.String(), err)
		}
	})
}
