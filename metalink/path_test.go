package metalink

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCheckPath_Rule10 checks which paths CheckPath refuses (rule 10).
func TestCheckPath_Rule10(t *testing.T) {
	for _, name := range []string{
		"a", "a.iso", "a/b/c.iso", "Debian 12.iso", "a..b", "a~", "a-~b/c", "\u00e4\u65e5\u672c.iso", "C", "com",
		"COM10", "console.txt", "lpt0",
		"nul-file", "a'b\"c<d>|?*", "%2e%2e", strings.Repeat("x", 255) + "/" + strings.Repeat("y", 255), "a\u200db", "COM\u2074",
	} {
		if err := CheckPath(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"":          "the name is empty",
		"/a":        "an absolute path",
		"//h/a":     "an absolute path",
		"/":         "an absolute path",
		"..":        "begins with a dot",
		"../a":      "begins with a dot",
		"a/..":      "begins with a dot",
		"a/../b":    "begins with a dot",
		"./a":       "begins with a dot",
		"a/./b":     "begins with a dot",
		"a/.":       "begins with a dot",
		".bashrc":   "begins with a dot",
		"a/.ssh/b":  "begins with a dot",
		"a//b":      "is empty",
		"a/":        "is empty",
		"~":         "begins with a tilde",
		"~root/a":   "begins with a tilde",
		"a/~b":      "begins with a tilde",
		`a\b`:       "a backslash or a colon",
		`..\a`:      "a backslash or a colon",
		`\\h\a`:     "a backslash or a colon",
		"C:":        "a backslash or a colon",
		"c:/a":      "a backslash or a colon",
		"a:b":       "a backslash or a colon",
		"a.":        "ends with a dot or a space",
		"a ":        "ends with a dot or a space",
		"a./b":      "ends with a dot or a space",
		"a /b":      "ends with a dot or a space",
		"a/ ":       "ends with a dot or a space",
		"CON":       "reserved",
		"con.txt":   "reserved",
		"a/nul":     "reserved",
		"aux/b":     "reserved",
		"prn .x.y":  "reserved",
		"Com1":      "reserved",
		"lpt9.iso":  "reserved",
		"COM\u00b2": "reserved", "lpt\u00b3.x": "reserved",
		"conin$": "reserved", "CONOUT$.a": "reserved",
		"a\x00b": "control characters", "a\nb": "control characters", "a\x1b[2J": "control characters",
		"a\x7f":    "control characters",
		"a\u0085b": "control characters", "a\u009b": "control characters",
		"exe.\u202etxt": "control characters", "\u2066a": "control characters", "a\u200e": "control characters",
		"a\u061c":  "control characters",
		"a\u2028b": "control characters", "a\ufffd": "control characters",
		"\xff":                           "not valid UTF-8",
		"a/\xc0\xae\xc0\xae/b":           "not valid UTF-8",
		"\xed\xa0\x80":                   "not valid UTF-8",
		strings.Repeat("x", 256):         "longer than 255 bytes",
		"a/" + strings.Repeat("ä", 128):  "longer than 255 bytes",
		strings.Repeat("a/", 3000) + "a": "longer than 4096 bytes",
	} {
		if err := CheckPath(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %s", name, err, want)
		}
	}
}

// forbidden is a second implementation of rule 10: a name that matches one of these expressions is not safe.
var forbidden = []*regexp.Regexp{
	regexp.MustCompile(`^$|^/|/$|//`),                                                 // empty, absolute, empty parts
	regexp.MustCompile(`(^|/)[.~]`),                                                   // leading dot (and so ..), tilde
	regexp.MustCompile(`[. ](/|$)`),                                                   // trailing dot or space
	regexp.MustCompile(`[\\:]`),                                                       // Windows paths and drives
	regexp.MustCompile(`[\x00-\x1f\x7f]|[\x{80}-\x{9f}]`),                             // C0, DEL, C1
	regexp.MustCompile(`[\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`), // bidi controls
	regexp.MustCompile(`(?i)(^|/)(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]) *(\.|/|$)`),
}

// safe reports whether name is safe, without the code under test.
func safe(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	for _, re := range forbidden {
		if re.MatchString(name) {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return false
		}
	}
	return true
}

// FuzzCheckPath checks that every path that CheckPath accepts is safe, and that CheckPath accepts each of its folders.
func FuzzCheckPath(f *testing.F) {
	for _, s := range []string{"a/b.iso", "../x", "a/..", "C:\\x", "con.txt", "a\u202eb", "x.", "~", "com\u00b9",
		"\xff", "nul .a", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckPath(name) != nil {
			return
		}
		if !safe(name) {
			t.Fatalf("%q is let through", name)
		}
		for i, c := range name {
			if c == '/' && CheckPath(name[:i]) != nil {
				t.Fatalf("%q is let through, its folder %q is not", name, name[:i])
			}
		}
	})
}

// TestUnsafeNames_Rule10 checks that Parse leaves out a file with an unsafe name and keeps the others (rule 10).
func TestUnsafeNames_Rule10(t *testing.T) {
	s := `<metalink xmlns="` + namespace4 + `">
		<file name="../etc/passwd"><size>1</size><url>http://h/</url></file>
		<file name="good"/>
		<file/>
		<file name="../etc/passwd"/>
		<file name=" a &#x202e;"/>
		<file name="` + strings.Repeat("x", 1000) + `"/>
		<file name="dir/good"/>
	</metalink>`
	wantText(t, parse(t, s), `
		file good
		file dir/good
		refused "../etc/passwd" in line 2: a part of the name begins with a dot
		refused "" in line 4: the name is empty
		refused "../etc/passwd" in line 5: a part of the name begins with a dot
		refused " a \u202e" in line 6: a part of the name contains control characters
		refused "`+strings.Repeat("x", 200)+`..." in line 7: a part of the name is longer than 255 bytes`)
	d := parse(t, strings.Replace(doc3(""), `"f"`, `"/f"`, 1))
	if len(d.Files) != 0 || len(d.Refused) != 1 {
		t.Errorf("got %s", textOf(d))
	}
}
