//go:build linux

package torture

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"braid/byterange"
	"braid/internal/test/mirrortest"
)

// statuses are answers that are no file.
func statuses() (all []torment) {
	for _, s := range []struct {
		rule   string
		status int
		want   want
	}{
		{"24", 204, fails(8, "204")}, {"24", 205, fails(8, "205")}, {"24", 304, fails(8, "304")}, {"24", 300, fails(8, "300")},
		{"24", 404, fails(8, "404")}, {"24", 403, fails(8, "403")}, {"24", 410, fails(8, "410")}, {"24", 451, fails(8, "451")},
		{"24", 418, fails(8, "418")}, {"24", 999, fails(8, "999")}, {"24", 201, fails(8, "201")}, {"24", 203, fails(8, "203")},
		{"27", 401, fails(6, "401")}, {"27", 407, fails(6, "407")}, {"22", 500, fails(8, "500")}, {"22", 408, fails(8, "408")},
		{"35", 412, fails(8, "412")}, {"25", 416, fails(8, "416")}, {"24", 600, fails(8, "600")},
	} {
		set := alone(mirrortest.Status(s.status))
		all = append(all, torment{s.rule, fmt.Sprintf("answers %d", s.status), set, s.want})
	}
	return append(all, waits()...)
}

// waits are servers that say when they would be back (rule 23).
func waits() (all []torment) {
	busy := func(value string) func(*world) {
		return alone(mirrortest.Status(503), mirrortest.RetryAfter(value))
	}
	all = []torment{
		{"22", "fails once with 500", alone(mirrortest.Once(mirrortest.Status(500))), isUnverified},
		{"23", "is busy once, for a second", alone(mirrortest.Once(mirrortest.Status(503), mirrortest.RetryAfter("1"))),
			isUnverified},
		{"23", "is asked too often once, for a second",
			alone(mirrortest.Once(mirrortest.Status(429), mirrortest.RetryAfter("1"))), isUnverified},
		{"23", "is busy once, until a date that has passed", alone(mirrortest.Once(mirrortest.Status(503),
			mirrortest.RetryAfter(time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)))), isUnverified},
		{"23", "is busy until a date in a year", alone(mirrortest.Status(503),
			mirrortest.RetryAfter(time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))), fails(8, "asked to wait until")},
		{"23", "is busy for 100 seconds, which is more patience than there is", busy("100"), fails(8, "")},
		{"24", "answers a part that nobody asked for",
			spoken("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3145727/3145728\r\nContent-Length: " +
				"SIZE\r\n\r\n"), fails(7, "206")},
	}
	for _, value := range []string{"3600", "-1", "soon", "1e30", "99999999999999999999", "", "1.5",
		"Sun, 99 Nov 2094 08:49:37 GMT"} {
		all = append(all, torment{"23", fmt.Sprintf("is busy, for %q", value), busy(value), fails(8, "503")})
	}
	return all
}

// A lie is a wrong answer to a range.
type lie struct {
	rule    string
	does    string
	options []option
}

func contentRange(format func(r byterange.ContentRange) string) []option {
	return []option{mirrortest.ContentRange(format)}
}

// lies are the wrong answers to a request for a range (rules 13, 14, 15, 18 and 25).
func lies() []lie {
	type cr = byterange.ContentRange
	return []lie{
		{"13", "says another start", contentRange(func(r cr) string { r.Range.Start++; return r.String() })},
		{"13", "says another end", contentRange(func(r cr) string { r.Range.End--; return r.String() })},
		{"16", "says another total", contentRange(func(r cr) string { r.Size += 7; return r.String() })},
		{"13", "says no total", contentRange(func(r cr) string {
			return fmt.Sprintf("bytes %d-%d/*", r.Range.Start,
				r.Range.End-1)
		})},
		{"13", "says another unit", contentRange(func(r cr) string { return strings.Replace(r.String(), "bytes", "items", 1) })},
		{"13", "leaves out Content-Range", contentRange(func(cr) string { return "" })},
		{"13", "says that it cannot", contentRange(func(r cr) string { return fmt.Sprintf("bytes */%d", r.Size) })},
		{"13", "says a range backwards", contentRange(func(r cr) string {
			return fmt.Sprintf("bytes %d-%d/%d", r.Range.End-1, r.Range.Start, r.Size)
		})},
		{"13", "says a range beyond 64 bits",
			contentRange(func(r cr) string { return fmt.Sprintf("bytes %d-99999999999999999999/%d", r.Range.Start, r.Size) })},
		{"13", "says a negative range", contentRange(func(r cr) string {
			return fmt.Sprintf("bytes -%d-%d/%d", r.Range.Start, r.Range.End-1, r.Size)
		})},
		{"13", "says nonsense as a range", contentRange(func(cr) string { return "bytes of yours" })},
		{"13", "says multipart/byteranges", []option{mirrortest.ContentRange(func(cr) string { return "" }),
			mirrortest.Header("Content-Type", "multipart/byteranges; boundary=x")}},
		{"18", "says gzip", []option{mirrortest.ContentEncoding("gzip")}},
		{"15", "sends more than it says", []option{mirrortest.BodyLonger(100)}},
		{"15", "sends less than it says", []option{mirrortest.CutAfter(200_000)}},
		{"25", "answers 416", []option{mirrortest.Status(416)}},
		{"14", "answers with the whole file", []option{mirrortest.IgnoreRange()}},
		{"24", "answers 204", []option{mirrortest.Status(204)}},
		{"24", "answers 404", []option{mirrortest.Status(404)}},
	}
}

func ranged(r *http.Request) bool { return r.Header.Get("Range") != "" }

// ranges are the lies, of a mirror, which must not matter, and of the only server, which has cut the first answer.
func ranges() (all []torment) {
	for _, l := range lies() {
		all = append(all,
			torment{l.rule, "a mirror, asked for a range, " + l.does, beside(l.options...), isRight},
			torment{l.rule, "the only server, asked to go on, " + l.does, alone(mirrortest.ETag(`"v"`), mirrortest.Digest(),
				mirrortest.Once(mirrortest.CutAfter(100_000)), mirrortest.When(ranged, l.options...)), l.lonely()})
	}
	return all
}

// lonely is how that ends where there is nobody else.
func (l lie) lonely() want {
	switch l.does {
	case "sends less than it says", "answers with the whole file", "says another total", "answers 416":
		return isRight // for the last two the file seems to have changed, and is asked for once more (rule 34)
	case "answers 204", "answers 404":
		return fails(8, "")
	}
	return fails(7, "")
}

// beside is a slow server in order that names a mirror, which misbehaves.
func beside(options ...option) func(*world) {
	return func(w *world) {
		bad := w.serve(options...)
		w.ask(w.serve(mirrortest.Rate(slow), mirrortest.ETag(`"v"`), mirrortest.Digest(), mirrortest.Mirrors(bad.URL)))
	}
}

// lengths are files that have no end, or another one than is known.
func lengths() []torment {
	endless := func(head string, again string) func(*world) {
		return func(w *world) {
			w.ask(w.serve(flood(ok+head+"\r\n", again)))
			w.req.maxSize, w.limits.disk = 3<<20, 4<<20
		}
	}
	limited := func(options ...option) func(*world) {
		return func(w *world) {
			w.ask(w.serve(options...))
			w.req.maxSize = 100_000
		}
	}
	const block = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	return []torment{
		{"19", "sends a body without end", endless("", block), fails(14, "max-size|limit")},
		{"19", "sends chunks without end", endless("Transfer-Encoding: chunked\r\n", "40\r\n"+block+"\r\n"),
			fails(14, "max-size|limit")},
		{"19", "says more than the limit", limited(), fails(14, "limit|larger")},
		{"19", "sends more than the limit, in chunks", limited(mirrortest.Chunked()), fails(14, "limit|larger")},
		{"19", "says 1 TiB and sends a byte", func(w *world) {
			w.ask(w.serve(mirrortest.RawString(ok + "Content-Length: 1099511627776\r\n\r\nx")))
		}, want{refused, []int{3, 13}, ""}},
		{"21", "stops in the middle, and keeps the connection", proven(mirrortest.ETag(`"v"`),
			mirrortest.Once(mirrortest.StallAfter(100_000))), isRight},
		{"21", "stops in the middle, always at the same place", proven(mirrortest.ETag(`"v"`), mirrortest.IgnoreRange(),
			mirrortest.StallAfter(100_000)), fails(13, "")},
		{"21", "stops before the first byte", alone(mirrortest.StallAfter(0)), fails(4, "")},
		{"34", "has another ETag after a cut, once", changes([]option{mirrortest.ETag(`"old"`)},
			mirrortest.ETag(`"new"`)), isUnverified},
		{"34", "has another digest after a cut", changes([]option{mirrortest.Digest()},
			mirrortest.Digest(anotherDigest())), fails(11, "")},
		{"34", "has another ETag at each request", alone(mirrortest.CutAfter(1_000_000),
			mirrortest.Choose(each(func(n int) []option {
				return []option{mirrortest.ETag(fmt.Sprintf(`"%d"`, n))}
			}))), fails(11, "")},
		{"18", "says gzip", alone(mirrortest.ContentEncoding("gzip")), fails(7, "gzip")},
		{"18", "says gzip, with the right digest", proven(mirrortest.ContentEncoding("gzip")), fails(7, "gzip")},
		{"18", "says br and gzip", alone(mirrortest.ContentEncoding("br, gzip")), fails(7, "br")},
		{"18", "says aes128gcm", alone(mirrortest.ContentEncoding("aes128gcm")), fails(7, "aes128gcm")},
		{"18", "says identity", alone(mirrortest.ContentEncoding("identity")), isUnverified},
	}
}

// changes is a server that cuts the first answer, and is another one afterwards.
func changes(first []option, then ...option) func(*world) {
	return alone(mirrortest.Choose(each(func(n int) []option {
		if n == 1 {
			return append(first, mirrortest.CutAfter(100_000))
		}
		return then
	})))
}

// each counts requests, of which a server may ask several times.
func each(options func(n int) []option) func(*http.Request) []option {
	var last *http.Request
	n := 0
	return func(r *http.Request) []option {
		if r != last {
			last = r
			n++
		}
		return options(n)
	}
}
