package feedtext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct {
		charset    *Charset
		line, want string
		clean      bool
	}{
		{EUCJP, "\xc4\xab\xb4\xe9", "朝顔", true},
		{EUCJP, "\x8e\xb1\x8f\xb0\xa1", "ｱ丂", true},
		{EUCJP, "\xad\xa1\xf5\xa1", "①\\xF5\\xA1", false}, // as in Windows, without the private use area
		{EUCJP, "\xa1\xc1\xa1\xdd", "～－", true},           // as in browsers; iconv's EUC-JP has U+301C and U+2212
		{EUCJP, "a\xc4", `a\xC4`, false},
		{EUCJP, "\xc4,\xb4\xe9", `\xC4,顔`, false}, // a comma is not part of a broken character
		{EUCJP, "\xc4\xab\xff\xb4\xe9\x80", `朝\xFF顔\x80`, false},
		{CP932, "\x92\xa9\x8a\xe7", "朝顔", true},
		{CP932, "\x95\\\x87@\xb1", "表①ｱ", true}, // the second octet of the first is a backslash
		{CP932, "\x81", `\x81`, false},
		{CP932, "\x81,", `\x81,`, false},
		{UTF8, "朝顔", "朝顔", true},
		{UTF8, "\uFFFD", "\uFFFD", true},
		{UTF8, "\xe6\x9c\x9d\xe9\xa1", `朝\xE9\xA1`, false},
		{ISO2022JP, "\x1b$BD+4i\x1b(B!", "朝顔!", true},
		{ISO2022JP, "\x1b$B\x7f\x7f\x1b(B", `\x1B$B\x7F\x7F\x1B(B`, false},
		{UnknownCharset, "a\xc4\xab", `a\xC4\xAB`, false},
		{UnknownCharset, "a", "a", true},
	} {
		got, clean := tt.charset.Append([]byte("> "), []byte(tt.line))
		if string(got) != "> "+tt.want || clean != tt.clean {
			t.Errorf("%v %q is %q, %v, want %q, %v", tt.charset, tt.line, got, clean, tt.want, tt.clean)
		}
		if fits, _ := tt.charset.fits([]byte(tt.line), nil); fits != tt.clean {
			t.Errorf("%v %q fits: %v", tt.charset, tt.line, fits)
		}
	}
}

// TestEncode encodes and decodes every character.
func TestEncode(t *testing.T) {
	for _, c := range []*Charset{EUCJP, CP932, ISO2022JP, UTF8} {
		n := 0
		for r := rune(' '); r <= 0x2FFFF; r++ {
			if !utf8.ValidRune(r) {
				continue
			}
			encoded, ok := c.Encode([]byte{'>'}, string(r))
			if !ok {
				if string(encoded) != ">" {
					t.Fatalf("%v: something of %U was written", c, r)
				}
				continue
			}
			n++
			if r >= utf8.RuneSelf && strings.ContainsAny(string(encoded[1:]), ",\\") && c == EUCJP {
				t.Errorf("%v: %U has a comma or a backslash in it: %q", c, r, encoded)
			}
			if got, clean := c.Append(nil, encoded[1:]); string(got) != string(r) || !clean {
				t.Errorf("%v: %U became %q", c, r, got)
			}
		}
		if n < 6000 {
			t.Errorf("%v has %d characters", c, n)
		}
	}
	// The encoders of the WHATWG encode these as a backslash or as another character.
	for _, s := range []string{"¥", "‾", "〜", "😀", "\xff", "\uFFFD"} {
		if got, ok := EUCJP.Encode(nil, s); ok {
			t.Errorf("%q is %q", s, got)
		}
	}
	if _, ok := UTF8.Encode(nil, "\xff"); ok {
		t.Error("an octet that is no text is UTF-8")
	}
	if _, ok := UnknownCharset.Encode(nil, "é"); ok {
		t.Error("what is unknown has more than ASCII")
	}
}

func TestLookup(t *testing.T) {
	for label, want := range map[string]string{
		"EUC-JP": "euc-jp", "x-euc-jp": "euc-jp", "euc": "euc-jp", " ujis ": "euc-jp", "eucJP-ms": "euc-jp",
		"Shift_JIS": "cp932", "CP932": "cp932", "x-sjis": "cp932", "Windows-31J": "cp932",
		"UTF-8": "utf-8", "utf8": "utf-8", "ISO-2022-JP": "iso-2022-jp", "US-ASCII": "unknown-8bit",
		"iso-8859-1": "windows-1252", "KOI8-R": "koi8-r", "GB2312": "gbk",
		"utf-16": "", "utf-16be": "", "iso-2022-kr": "", "none": "", "": "",
	} {
		c, ok := LookupCharset(label)
		if ok != (want != "") || ok && c.String() != want {
			t.Errorf("%q is %v, want %q", label, c, want)
		}
	}
}

func TestGuess(t *testing.T) {
	const (
		euc    = "\xc4\xab\xb4\xe9"
		sjis   = "\x92\xa9\x8a\xe7"
		utf    = "朝顔"
		both   = "\xc4\xa3\xc5\xb7" // two Polish letters, or two Chinese characters
		broken = "\xc4\xab\xb4"
		koi8   = "\xf0\xd2\xc9\xd7\xc5\xd4"
	)
	for _, tt := range []struct {
		declared string
		lines    []string
		want     string
	}{
		{"", nil, "euc-jp"},
		{"", []string{euc}, "euc-jp"},
		{"", []string{utf}, "utf-8"},
		{"", []string{sjis}, "cp932"},
		{"", []string{both}, "euc-jp"}, // the default precedes UTF-8
		{"UTF-8", []string{both}, "utf-8"},
		{"", []string{both, utf}, "utf-8"},
		{"", []string{euc, euc, broken}, "euc-jp"}, // not CP932, which accepts almost everything
		{"", []string{"ascii", "ascii"}, "euc-jp"},
		{"EUC-JP", []string{utf}, "utf-8"},
		{"UTF-8", []string{euc}, "euc-jp"},
		{"UTF-8", []string{sjis}, "cp932"},
		{"Shift_JIS", []string{sjis}, "cp932"},
		{"KOI8-R", []string{koi8}, "koi8-r"},
		{"ISO-2022-JP", []string{"\x1b$BD+4i\x1b(B"}, "iso-2022-jp"},
		{"US-ASCII", []string{euc}, "euc-jp"},
		{"x-nobody", []string{euc}, "euc-jp"},
		{"x-nobody", []string{"\x81\x81\xff", euc}, "unknown-8bit"},
	} {
		g := newGuess(tt.declared)
		for _, line := range tt.lines {
			g.observe([]byte(line))
		}
		if got := g.charset().String(); got != tt.want {
			t.Errorf("%q, declared %q, is %s, want %s", tt.lines, tt.declared, got, tt.want)
		}
	}
}

// FuzzAppend decodes arbitrary bytes in any charset: the result is valid text, and clean text can be encoded again.
func FuzzAppend(f *testing.F) {
	f.Add("euc-jp", []byte("\xc4\xab\xb4\xe9\xff"))
	f.Add("cp932", []byte("\x95\\"))
	f.Add("iso-2022-jp", []byte("\x1b$BD+4i\x1b(B"))
	f.Add("gb18030", []byte("\x81\x30\x81\x30"))
	f.Fuzz(func(t *testing.T, label string, line []byte) {
		c, ok := LookupCharset(label)
		if !ok {
			return
		}
		text, clean := c.Append(nil, line)
		if !utf8.Valid(text) {
			t.Fatalf("%v %q is %q, which is no text", c, line, text)
		}
		if len(text) > 6*len(line) {
			t.Fatalf("%v %q is %d octets", c, line, len(text))
		}
		if strings.Count(string(text), ",") > strings.Count(string(line), ",") {
			t.Fatalf("%v %q has more commas: %q", c, line, text)
		}
		if fits, _ := c.fits(line, nil); fits != clean {
			t.Fatalf("%v %q: fits %v, clean %v", c, line, fits, clean)
		}
		if encoded, ok := c.Encode(nil, string(text)); ok {
			if again, _ := c.Append(nil, encoded); string(again) != string(text) {
				t.Fatalf("%q became %q", text, again)
			}
		}
	})
}
