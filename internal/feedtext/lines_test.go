package feedtext

import (
	"braid/antenna/feed"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// split returns all lines of text, each followed by its end.
func split(r io.Reader, limits feed.Limits) (list []string, ends string, err error) {
	s := NewLines(r, limits)
	for {
		l, err := s.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return list, s.Input().LineEnds, err
		}
		list = append(list, fmt.Sprintf("%d %s|%s", l.Number, l.Raw, l.End))
	}
}

func TestLineEnds(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
		ends string
	}{
		{"", nil, ""},
		{"a", []string{"1 a|"}, ""},
		{"a\nb\n", []string{"1 a|lf", "2 b|lf"}, "lf"},
		{"a\r\n\r\nb\r\n", []string{"1 a|crlf", "2 |crlf", "3 b|crlf"}, "crlf"},
		{"a\rb\r\rc", []string{"1 a|cr", "2 b|cr", "3 |cr", "4 c|"}, "cr"},
		{"a\r", []string{"1 a|cr"}, "cr"},
		{"a\r\r", []string{"1 a|cr", "2 |cr"}, "cr"},
		{"a\r\r\nb\r\r\n", []string{"1 a|mixed", "2 b|mixed"}, "mixed"},
		{"\r\r\r\n", []string{"1 |cr", "2 |mixed"}, "mixed"},
		{"a\nb\r\nc", []string{"1 a|lf", "2 b|crlf", "3 c|"}, "mixed"},
		{"a\r\nb", []string{"1 a|crlf", "2 b|"}, "crlf"},
		{"\xEF\xBB\xBFa\n\xEF\xBB\xBFb\n", []string{"1 a|lf", "2 \xEF\xBB\xBFb|lf"}, "lf"},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.text), "octets": iotest.OneByteReader(strings.NewReader(tt.text)),
			"data with EOF": iotest.DataErrReader(strings.NewReader(tt.text)),
		} {
			got, ends, err := split(r, feed.Limits{})
			if !slices.Equal(got, tt.want) || ends != tt.ends || err != nil {
				t.Errorf("%q, %s: %q, %s, %v, want %q, %s", tt.text, name, got, ends, err, tt.want, tt.ends)
			}
		}
	}
}

// rule 52: 64 KiB a line.
func TestLineLimit_Rule52(t *testing.T) {
	for _, limit := range []int{0, 10, 9000} {
		n := limit
		if limit == 0 {
			n = 64 << 10
		}
		for _, end := range []string{"", "\n", "\r\n", "\r", "\r\r\n"} {
			for _, more := range []string{"", "x\n"} {
				if end == "" && more != "" {
					continue
				}
				text := "a\n" + strings.Repeat("x", n) + end + more
				if _, _, err := split(strings.NewReader(text), feed.Limits{Line: limit}); err != nil {
					t.Errorf("%d octets and %q: %v", n, end, err)
				}
				_, _, err := split(strings.NewReader("a\nx"+text[2:]), feed.Limits{Line: limit})
				var reject *feed.RejectError
				if !errors.As(err, &reject) || reject.Code != "line-too-long" || reject.Line != 2 {
					t.Errorf("%d octets and %q: %v", n+1, end, err)
				}
			}
		}
	}
}

// TestEndless shows that the memory for an endless line is bounded.
func TestEndless(t *testing.T) {
	for _, what := range []string{"x", "\r", "\xc4\xab"} {
		r := &endless{what: []byte(what)}
		s := NewLines(r, feed.Limits{Bytes: 1 << 40})
		for range 3 {
			l, err := s.Next()
			if err == nil {
				s.Text(l.Raw)
			}
		}
		if r.n > 2<<20 {
			t.Errorf("%q: %d octets were read", what, r.n)
		}
	}
}

type endless struct {
	what []byte
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.what[(e.n+i)%len(e.what)]
	}
	e.n += len(p)
	return len(p), nil
}

// TestFinder shows that no position is examined twice, so that a feed of line ends only is read in linear time. Changes
// to examined positions are not noticed.
func TestFinder(t *testing.T) {
	f := finder{octet: '\n'}
	buf := []byte("aaaa\naa\n")
	for _, step := range []struct{ start, end, want int }{
		{0, 3, 3}, {0, 4, 4}, {1, 8, 4}, {2, 8, 4}, {4, 8, 4}, {5, 7, 7}, {5, 8, 7}, {8, 8, 8},
	} {
		if got := f.next(buf, step.start, step.end); got != step.want {
			t.Errorf("from %d to %d: %d, want %d", step.start, step.end, got, step.want)
		}
		for i := range step.want {
			if i != 4 && i != 7 {
				buf[i] = '\n'
			}
		}
	}
	f.shift(8)
	if got := f.next([]byte("a\n"), 0, 2); got != 1 {
		t.Errorf("after a shift: %d", got)
	}
}

func TestManyLines(t *testing.T) {
	for _, what := range []string{"\n", "\r", "\r\n", "\n\r", "a\r"} {
		const octets = 1 << 20
		s := NewLines(io.LimitReader(&endless{what: []byte(what)}, octets), feed.Limits{})
		n := 0
		for {
			if _, err := s.Next(); err != nil {
				break
			}
			n++
		}
		want := octets / 2
		switch what {
		case "\n", "\r":
			want = octets
		case "\n\r":
			want = octets/2 + 1 // LF, then CR LF, and a CR at the end
		}
		if n != want {
			t.Errorf("%q: %d lines, want %d", what, n, want)
		}
	}
}

func TestErrors(t *testing.T) {
	torn := errors.New("connection reset")
	got, _, err := split(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(torn)), feed.Limits{})
	if !slices.Equal(got, []string{"1 a|lf"}) || err != torn {
		t.Errorf("%q, %v: a line that breaks off is none", got, err)
	}
	_, _, err = split(strings.NewReader("a\nbc\ndef\n"), feed.Limits{Bytes: 5})
	var reject *feed.RejectError
	if !errors.As(err, &reject) || reject.Code != "too-large" || reject.Line != 3 {
		t.Errorf("%v, want the line of the limit", err)
	}
	_, _, err = split(stuck{}, feed.Limits{})
	if err != io.ErrNoProgress {
		t.Errorf("a reader that brings nothing: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// texts decodes all lines.
func texts(s *Lines) (list []string) {
	for {
		l, err := s.Next()
		if err != nil {
			return list
		}
		text, _ := s.Text(l.Raw)
		list = append(list, text)
	}
}

func TestCharset(t *testing.T) {
	ascii := strings.Repeat("a\n", 200_000)
	for _, tt := range []struct {
		name, declared, text string
		want                 string
		last                 string
	}{
		{"nothing", "", "", "euc-jp", ""},
		{"ASCII", "", "a\n", "euc-jp", "a"},
		{"the default", "", "\xc4\xab\n", "euc-jp", "朝"},
		{"the lines behind decide", "", "\xc4\xa3\xc5\xb7\n朝顔\n", "utf-8", "朝顔"},
		{"they do, far into the feed", "", ascii + "\xc4\xa3\xc5\xb7\n朝顔", "utf-8", "朝顔"},
		{"declared", "Shift_JIS", "\x92\xa9\n", "cp932", "朝"},
		{"declared, stateful", "ISO-2022-JP", "\x1b$BD+\x1b(B\n", "iso-2022-jp", "朝"},
		{"marked", "", "\xEF\xBB\xBFa\nģŷ\n", "utf-8", "ģŷ"},
		{"old line ends", "", "\xc4\xa3\xc5\xb7\r朝顔\r朝顔", "utf-8", "朝顔"},
	} {
		s := NewLines(strings.NewReader(tt.text), feed.Limits{})
		if tt.declared != "" {
			s.Declare(tt.declared)
		}
		list := texts(s)
		last := ""
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		if chosen := s.charset; chosen != nil && (chosen.String() != tt.want || s.mark != (tt.name == "marked")) {
			t.Errorf("%s: chosen is %v", tt.name, chosen)
		}
		if in := s.Input(); in.Charset != tt.want || last != tt.last || in.Declared != tt.declared {
			t.Errorf("%s: %+v, %q, want %s, %q", tt.name, in, last, tt.want, tt.last)
		}
	}
}

// TestCutCharacter shows that an incomplete line does not count against a charset. The whole line is EUC-JP, but its
// beginning may end within a character, which would leave only CP932.
func TestCutCharacter(t *testing.T) {
	for _, shift := range []string{"", "a"} {
		text := "\xb1\xb1\n" + shift + strings.Repeat(strings.Repeat("\xb1\xb1", 1000)+"aa", 200)
		s := NewLines(iotest.OneByteReader(strings.NewReader(text)), feed.Limits{Line: 1 << 20})
		if l, err := s.Next(); err != nil {
			t.Fatal(err)
		} else if got, clean := s.Text(l.Raw); !clean || s.Input().Charset != "euc-jp" {
			t.Errorf("%q, %v, %s", got, clean, s.Input().Charset)
		}
	}
}

// FuzzScanner compares the lines with those of a simple splitter, however the feed is cut.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{"a\r\nb\rc\r\r\n\nd", "\r\r\r\n", "\xEF\xBB\xBFa\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, chunk int) {
		if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) || len(raw) > 60<<10 {
			return
		}
		want := simpleSplit(raw)
		s := NewLines(&chunks{raw, max(1, chunk%1000)}, feed.Limits{})
		for i := 0; ; i++ {
			l, err := s.Next()
			if err == io.EOF && i == len(want) {
				break
			}
			if err != nil || i >= len(want) || string(l.Raw) != want[i] {
				t.Fatalf("line %d is %q, %v, of %q", i+1, l.Raw, err, want)
			}
			s.Text(l.Raw)
		}
	})
}

type chunks struct {
	rest []byte
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func simpleSplit(raw []byte) (list []string) {
	s := strings.NewReplacer("\r\r\n", "\n", "\r\n", "\n", "\r", "\n").Replace(longRuns(string(raw)))
	list = strings.Split(s, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	if len(list) > 0 {
		list[0] = strings.TrimPrefix(list[0], "\xEF\xBB\xBF")
	}
	return list
}

// longRuns ends a line at the first of more than two CRs: the last two belong to the LF after them.
func longRuns(s string) string {
	for strings.Contains(s, "\r\r\r\n") {
		s = strings.ReplaceAll(s, "\r\r\r\n", "\n\r\r\n")
	}
	return s
}
