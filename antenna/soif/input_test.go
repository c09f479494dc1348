package soif

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
)

const (
	plain     = "@FILE { http://h.example/1\nTitle{2}:\tHi\nIcon{3}:\t\x00\xff\n\n}\n"
	plainRead = `1/0 @FILE http://h.example/1 Title="Hi" Icon="\x00\xff\n"` + "\n"
)

func compress(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inBase64 encodes text in lines of 76 characters, as mail programs do.
func inBase64(text string) string {
	var b strings.Builder
	for code := base64.StdEncoding.EncodeToString([]byte(text)); code != ""; {
		n := min(76, len(code))
		b.WriteString(code[:n] + "\r\n")
		code = code[n:]
	}
	return b.String()
}

// TestUnwrap checks the encodings that a whole stream may have. They are the same in both modes, because RFC 2655,
// section 3, requires base64.
func TestUnwrap(t *testing.T) {
	entity := func(contentType, encoding, body string) string {
		return "MIME-Version: 1.0\r\nContent-Type: " + contentType + "\r\nContent-Transfer-Encoding: " + encoding +
			"\r\n\r\n" + body
	}
	const ours = "application/index.obj.HARVEST-SOIF-1"
	for _, tt := range []struct{ name, text, want string }{
		{"plain", plain, plainRead},
		{"gzip", compress(t, plain), plainRead},
		{"gzip in two members", compress(t, plain[:9]) + compress(t, plain[9:]), plainRead},
		{"base64", inBase64(plain), plainRead},
		{"base64 without line ends", base64.StdEncoding.EncodeToString([]byte(plain)), plainRead},
		{"base64 with blanks around", "\n " + strings.ReplaceAll(inBase64(plain), "\r", " \t"), plainRead},
		{"base64 in gzip", compress(t, inBase64(plain)), plainRead},
		{"base64 of a short object", inBase64("@A { u://h/ }"), "1/0 @A u://h/\n"},
		{"an entity", entity(ours+"; dsi=1.3.6.1; base-uri=\"http://h.example/\"", "base64", inBase64(plain)), plainRead},
		{"folded, in other letters, old line ends",
			"content-transfer-ENCODING: Base64\ncontent-type:\n\tAPPLICATION/index.obj.harvest-soif-1;\n dsi=1.3\n\n" +
				inBase64(plain), plainRead},
		{"the type in a parameter", entity("application/index.obj; type=HARVEST-SOIF-1", "base64", inBase64(plain)), plainRead},
		{"binary", entity(ours, "binary", plain), plainRead},
		{"8bit, of an old search program", entity("Application/X-SOIF", "8bit", plain), plainRead},
		{"quoted-printable", entity(ours, "quoted-printable", "@A { u://h/ a{2}:=09=C3=\r\n=A9 }"), "1/0 @A u://h/ a=\"é\"\n"},
		{"an entity that is empty", entity(ours, "base64", ""), "1/0 no-object\n"},
		{"an unknown encoding", entity(ours, "x-uuencode", plain),
			"error: feed: unknown Content-Transfer-Encoding \"x-uuencode\"\n"},
		{"something else", entity("text/html", "base64", inBase64(plain)), "1/0 junk\nerror: feed: not SOIF\n"},
		{"a header without end is junk", "Content-Type: " + ours + "\r\n" + plain,
			"1/0 junk\n2/52 @FILE http://h.example/1 Title=\"Hi\" Icon=\"\\x00\\xff\\n\"\n"},
		{"base64 of something else", inBase64("<html>"), "1/0 junk\nerror: feed: not SOIF\n"},
		{"broken base64", inBase64(plain) + "!", plainRead + "error: feed: unexpected EOF\n"},
		{"cut base64", inBase64(plain)[:21], "1/0 truncated: discards @FILE \nerror: feed: unexpected EOF\n"},
		{"gzip of nothing", compress(t, ""), "1/0 no-object\n"},
		{"gzip in gzip is no feed", compress(t, compress(t, plain)), "1/0 junk\nerror: feed: not SOIF\n"},
		{"cut gzip", compress(t, plain)[:30], "1/0 truncated: discards @FILE \nerror: feed: unexpected EOF\n"},
		{"no gzip", "\x1f\x8bplain", "error: feed: unexpected EOF\n"},
	} {
		for _, strict := range []bool{false, true} {
			if got := read(tt.text, feed.Options{Strict: strict}); got != tt.want {
				t.Errorf("%s:\n%swant\n%s", tt.name, got, tt.want)
			}
		}
		// The result does not depend on how many bytes a read returns.
		slow := iotest.OneByteReader(strings.NewReader(tt.text))
		objects := 0
		for _, err := range NewDecoder(slow, feed.Options{}).objects() {
			if err == nil {
				objects++
			}
		}
		if want := strings.Count(tt.want, " @") - strings.Count(tt.want, "discards @"); objects != want {
			t.Errorf("%s: %d objects octet by octet, want %d", tt.name, objects, want)
		}
	}
}

// TestLimits_Rule52 checks that each limit ends the feed and that the objects before it are kept (rule 52).
func TestLimits_Rule52(t *testing.T) {
	const first = "@A { u://h/\n}\n"
	octets := func(n int) limits { l := limitsOf(feed.Limits{}); l.object = n; return l }
	attributes := func(n int) limits { l := limitsOf(feed.Limits{}); l.attributes = n; return l }
	for _, tt := range []struct {
		name, text string
		l          limits
		want       string
	}{
		{"octets, reached", first, limitsOf(feed.Limits{Bytes: 14}), ""},
		{"octets, exceeded", first + "\n", limitsOf(feed.Limits{Bytes: 14}), "error: feed: more than 14 octets\n"},
		{"octets, inside an object", first + first, limitsOf(feed.Limits{Bytes: 20}),
			"3/14 truncated: discards @A \nerror: feed: more than 20 octets\n"},
		{"objects, reached", first + "x", limitsOf(feed.Limits{Entries: 1}), "3/14 junk\n"},
		{"objects, exceeded", first + first, limitsOf(feed.Limits{Entries: 1}),
			"error: feed, line 3: octet 14: more than 1 objects\n"},
		{"objects that are discarded", first + "@B { }" + first, limitsOf(feed.Limits{Entries: 2}),
			"3/14 no-url: discards @B \nerror: feed, line 3: octet 20: more than 2 objects\n"},
		{"a value, reached", first + "@A { u://h/ a{2}:\txx }", limitsOf(feed.Limits{Value: 2}), "3/14 @A u://h/ a=\"xx\"\n"},
		{"a value, exceeded", first + "@A { u://h/ a{3}:\txxx }", limitsOf(feed.Limits{Value: 2}),
			"3/14 too-large a: discards @A u://h/\nerror: feed, line 3: octet 27: a value of more than 2 octets\n"},
		{"an object, reached", first + "@A { u://h/ a{2}:\txx b{1}:\ty }", octets(3), "3/14 @A u://h/ a=\"xx\" b=\"y\"\n"},
		{"an object, exceeded", first + "@A { u://h/ a{2}:\txx b{2}:\tyy }", octets(3),
			"3/14 too-large b: discards @A u://h/\nerror: feed, line 3: octet 41: an object of more than 3 octets\n"},
		{"attributes, reached", first + "@A { u://h/ a{0}:\tb{0}:\t}", attributes(2), "3/14 @A u://h/ a=\"\" b=\"\"\n"},
		{"attributes, exceeded", first + "@A { u://h/ a{0}:\tb{0}:\tc{0}:\t}", attributes(2),
			"3/14 too-large: discards @A u://h/\nerror: feed, line 3: octet 38: an object of more than 2 attributes\n"},
	} {
		if got, want := readWithin(tt.text, feed.Options{}, tt.l), "1/0 @A u://h/\n"+tt.want; got != want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, want)
		}
	}
}

// TestBomb_Rule52 checks that a feed with a compression ratio of 1000 is rejected unless it is small (rule 52).
func TestBomb_Rule52(t *testing.T) {
	small := compress(t, "@A { u://h/1\n}"+strings.Repeat(" ", 1<<20-100))
	if got := read(small, feed.Options{}); got != "1/0 @A u://h/1\n" {
		t.Errorf("less than a MiB:\n%s", got)
	}
	bomb := compress(t, "@A { u://h/1\n}"+strings.Repeat(" ", 8<<20))
	var reject *feed.RejectError
	objects, last := 0, error(nil)
	for _, err := range NewDecoder(strings.NewReader(bomb), feed.Options{}).objects() {
		if last = err; err == nil {
			objects++
		}
	}
	if objects != 1 || !errors.As(last, &reject) || reject.Code != "compressed-too-well" {
		t.Errorf("%d objects, then %v", objects, last)
	}
	if got := read(bomb, feed.Options{Limits: feed.Limits{Ratio: 2000}}); got != "1/0 @A u://h/1\n" {
		t.Errorf("where 2000 to 1 is allowed:\n%s", got)
	}
}
