package ftpsource

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func replyOf(s string) (reply, error) { return readReply(newLines(strings.NewReader(s))) }

func TestReadReply(t *testing.T) {
	for _, tt := range []struct {
		in   string
		code int
		text string
	}{
		{"220 hi\r\n", 220, "hi"},
		{"220 hi\n", 220, "hi"},
		{"226\r\n", 226, ""},
		{"220-a\r\n220-b\r\n220 c\r\n", 220, "a b c"},
		{"211-x\r\n REST STREAM\r\n212 no end\r\n211 end\r\n", 211, "x REST STREAM 212 no end end"},
		{"230-\r\n\r\n2\r\n230\r\n", 230, "2"},
		{"200 " + strings.Repeat("x", maxLine-4) + "\r\n", 200, strings.Repeat("x", maxLine-4)},
		{"200-a\r\n" + strings.Repeat("b\r\n", maxLines-2) + "200 c\r\n", 200, "a " + strings.Repeat("b ", maxLines-2) + "c"},
	} {
		p, err := replyOf(tt.in)
		if err != nil || p.code != tt.code || p.text() != tt.text {
			t.Errorf("%.40q: %d %.40q, %v", tt.in, p.code, p.text(), err)
		}
	}
}

func TestReadReplyRefuses_Rule58(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", io.EOF},
		{"220 hi", io.ErrUnexpectedEOF},
		{"220-hi\r\n", io.ErrUnexpectedEOF},
		{"220-hi\r\n220", io.ErrUnexpectedEOF},
		{"hi\r\n", errShortReply},
		{"\r\n", errShortReply},
		{"22\r\n", errShortReply},
		{"+20 hi\r\n", errShortReply},
		{"1+2 hi\r\n", errShortReply},
		{"620 hi\r\n", errShortReply},
		{"020 hi\r\n", errShortReply},
		{"220hi\r\n", errShortReply},
		{"200 " + strings.Repeat("x", maxLine-3) + "\r\n", errLongLine},
		{"200 " + strings.Repeat("x", maxLine-3) + "\n", errLongLine},
		{"200 " + strings.Repeat("x", 1<<20), errLongLine},
		{"200-a\r\n" + strings.Repeat("b\r\n", maxLines-1) + "200 c\r\n", errManyLines},
	} {
		if _, err := replyOf(tt.in); !errors.Is(err, tt.want) {
			t.Errorf("%.40q: %v, want %v", tt.in, err, tt.want)
		}
	}
}

func TestPorts(t *testing.T) {
	for _, tt := range []struct {
		text         string
		epsv, passiv int // 0 if refused
	}{
		{"Entering Extended Passive Mode (|||6446|)", 6446, 0},
		{"ok (|1|10.0.0.1|6446|).", 6446, 0},
		{"(!!!65535!)", 65535, 0},
		{"(|||0|)", 0, 0},
		{"(|||65536|)", 0, 0},
		{"(|||-1|)", 0, 0},
		{"(|||6446)", 0, 0},
		{"|||6446|", 0, 0},
		{"(|||6446|x)", 0, 0},
		{"(", 0, 0},
		{")(", 0, 0},
		{"", 0, 0},
		{"Entering Passive Mode (127,0,0,1,195,80).", 0, 195<<8 | 80},
		{"Entering Passive Mode. 10,1,2,3,0,21", 0, 21},
		{"mode 2 (9,9,9,9,1,0)", 0, 256},
		{"(127,0,0,1,0,0)", 0, 0},
		{"(127,0,0,1,256,1)", 0, 0},
		{"(127,0,0,1,1)", 0, 0},
		{"(1,2,3,4,5,6,7)", 0, 0},
		{"(,,,,,)", 0, 0},
	} {
		p := reply{lines: []string{tt.text}}
		if n, err := p.extendedPort(); n != tt.epsv || (err == nil) != (tt.epsv > 0) {
			t.Errorf("EPSV %q: %d, %v", tt.text, n, err)
		}
		if n, err := p.passivePort(); n != tt.passiv || (err == nil) != (tt.passiv > 0) {
			t.Errorf("PASV %q: %d, %v", tt.text, n, err)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "123": 123, " 7 ": 7, "9223372036854775807": 1<<63 - 1,
		"": -1, "-1": -1, "+1": -1, "9223372036854775808": -1, "1e3": -1, "12 bytes": -1,
	} {
		n, err := reply{lines: []string{text}}.size()
		if (err == nil) != (want >= 0) || err == nil && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, err, want)
		}
	}
}

// FuzzReply checks that a reply is within the limits, has a valid code, and gives only valid ports and sizes (rule 58).
func FuzzReply(f *testing.F) {
	f.Add([]byte("220-hi\r\n220 x\r\n"))
	f.Add([]byte("229 (|||6446|)\r\n"))
	f.Add([]byte("227 )(\r\n227 (1,2,3,4,5,6)\r\n"))
	f.Add([]byte("213 77\r\n"))
	f.Add([]byte("211-\r\n REST STREAM\r\n211\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newLines(strings.NewReader(string(data)))
		for {
			p, err := readReply(r)
			if err != nil {
				if fault, _ := classify(err); fault == 0 {
					t.Errorf("%v is nobody's fault", err)
				}
				return
			}
			checkReply(t, p)
			checkAgain(t, p)
		}
	})
}

// checkAgain checks that a reply, written as a server would, is read as the same reply.
func checkAgain(t *testing.T, p reply) {
	var b strings.Builder
	code := strconv.Itoa(p.code)
	for i, line := range p.lines {
		if len(line)+len("220 ") > maxLine {
			return
		}
		mark := " "
		if i < len(p.lines)-1 {
			mark = "-"
		}
		b.WriteString(code + mark + line + "\r\n")
	}
	r := newLines(strings.NewReader(b.String()))
	again, err := readReply(r)
	if err != nil || again.code != p.code || !slices.Equal(again.lines, p.lines) || r.Buffered() > 0 {
		t.Errorf("%q became %v, %v", b.String(), again, err)
	}
}

func checkReply(t *testing.T, p reply) {
	if p.code < 100 || p.code > 599 || len(p.lines) == 0 || len(p.lines) > maxLines {
		t.Fatalf("code %d, %d lines", p.code, len(p.lines))
	}
	for _, line := range p.lines {
		if len(line) > maxLine || strings.Contains(line, "\n") {
			t.Fatalf("a line of %d bytes: %.40q", len(line), line)
		}
	}
	for _, read := range []func() (int, error){p.extendedPort, p.passivePort} {
		if n, err := read(); (err == nil) != (n >= 1 && n <= 65535) {
			t.Errorf("port %d, %v", n, err)
		}
	}
	if n, err := p.size(); n < 0 || err != nil && n != 0 {
		t.Errorf("size %d, %v", n, err)
	}
	p.has("REST STREAM")
	if e := (&control{}).refused("X", p); len(e.Text) > 200 {
		t.Errorf("a message of %d bytes", len(e.Text))
	}
}

func TestErrorText(t *testing.T) {
	for text, want := range map[string]string{"": "RETR: reply 550", "no such file": "RETR: reply 550 no such file"} {
		if got := (&Error{Command: "RETR", Code: 550, Text: text}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLongLine_Rule59 checks the limit of 8 KiB for a line of a reply (rule 59).
func TestLongLine_Rule59(t *testing.T) {
	for n, fits := range map[int]bool{maxLine: true, maxLine + 1: false, 20 * maxLine: false} {
		text := "220 " + strings.Repeat("x", n-len("220 ")) + "\r\n"
		if _, err := readReply(newLines(strings.NewReader(text))); (err == nil) != fits {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
