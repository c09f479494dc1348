//go:build linux

package torture

import (
	"fmt"
	"net/url"
	"strings"

	"braid/internal/test/mirrortest"
)

// leftovers are part files and journals that are not what they seem (rule 8).
func leftovers() (all []torment) {
	for does, c := range map[string]struct{ part, journal string }{
		"garbage":                      {strings.Repeat("x", 1000), "garbage\x00\xff"},
		"nothing":                      {"", ""},
		"a journal and no part":        {"-", "garbage"},
		"a part and no journal":        {strings.Repeat("x", 4<<20), "-"},
		"a journal of control codes":   {"x", "\x1b]0;pwned\a\n\u202e"},
		"a journal that has no end":    {"x", strings.Repeat("{\"v\":1,", 1<<18)},
		"a part that is much too long": {strings.Repeat("x", 5<<20), "{}"},
	} {
		all = append(all, torment{"8", "an earlier run left " + does, func(w *world) {
			proven()(w)
			w.limits.disk = 4 * fileSize // what is set aside counts
			for name, data := range map[string]string{".part": c.part, ".part.journal": c.journal} {
				if data != "-" {
					w.write(fileName+name, []byte(data))
				}
			}
			w.req.alone = true
		}, isRight})
	}
	return all
}

// shared are mirrors that are one server, or that have another file (rules 16, 35 and 38).
func shared() []torment {
	sized := func(size int64, options ...option) func(*world) {
		return func(w *world) {
			m := mirrortest.New(w.t, mirrortest.Generate(size, 1), options...)
			w.web = append(w.web, m)
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.ETag(`"v"`), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
			w.asked = append(w.asked, func() string {
				if m.Connections() == 0 {
					return "the mirror was not asked"
				}
				return ""
			})
		}
	}
	return []torment{
		{"35", "a mirror has a longer file", sized(fileSize + 1), isRight},
		{"35", "a mirror has a shorter file", sized(fileSize - 1), isRight},
		{"35", "a mirror has an empty file", sized(0), isRight},
		{"35", "a mirror has a file of 8 EiB", sized(1<<62, mirrortest.ETag(`"v"`)), isRight},
		{"35", "a mirror has a shorter file, and sends it whole", sized(fileSize-1, mirrortest.IgnoreRange()), isRight},
		{"38", "names one mirror under many names", func(w *world) {
			m := w.serve(mirrortest.Rate(slow))
			var all []string
			for i := range 20 {
				all = append(all, fmt.Sprintf("%s?%d", m.URL, i))
			}
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(all...)))
			w.req.alone = true // aria2 and others have limits of their own
			w.asked = append(w.asked, func() string {
				if n := m.MaxConcurrent(); n > 1 {
					return fmt.Sprintf("one server had %d requests at once", n)
				}
				return ""
			})
		}, isRight},
		{"16", "sends a longer file than a document says, in chunks",
			follows(doc(entry(fileName, strings.Replace(good, "SIZE", "3145727", 1))), mirrortest.Chunked()), fails(11, "")},
		{"16", "sends a shorter file than a document says, in chunks",
			follows(doc(entry(fileName, strings.Replace(good, "SIZE", "3145729", 1))), mirrortest.Chunked()),
			want{refused, []int{4, 7, 11, 13}, ""}},
	}
}

// smimes are S/MIME signatures that are none, or bombs (rules 49 and 51).
func smimes() (all []torment) {
	for does, text := range map[string]string{
		"is empty":                    "",
		"is nonsense":                 "\x30\x03\x02\x01\x01",
		"is sequences in sequences":   strings.Repeat("\x30\x80", 400_000),
		"has a length of 4 GiB":       "\x30\x84\xff\xff\xff\xff\x02",
		"has a length beyond 64 bits": "\x30\x89\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"is another thing in PEM":     "-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----\n",
		"is PEM without end":          "-----BEGIN PKCS7-----\n" + strings.Repeat("AAAA", 1000),
	} {
		all = append(all, torment{"49", "S/MIME signature: " + does, func(w *world) {
			s := w.serve(mirrortest.RawString(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(text), text)))
			w.ask(w.serve(mirrortest.Digest(),
				mirrortest.Link(fmt.Sprintf("<%s>; rel=describedby; type=\"application/pkcs7-signature\"", s.URL))))
			_, pem := mirrortest.Certify(w.t, nil)
			w.req.flags = []string{"--smime-ca", w.beside("root.pem", pem)}
		}, want{refused, []int{10, 12, 14}, ""}})
	}
	return append(all, torment{"51", "describes a signature that nobody can check, and one is demanded", func(w *world) {
		w.req.urls = []string{w.canary().URL} // it makes no sense to begin
		w.req.flags = []string{"--require", "signature"}
	}, fails(12, "--key FILE")})
}

// others are commands that only look at a server.
func others() (all []torment) {
	const evil = "\u202e\u009b31mpwned"
	command := func(words ...string) func(options ...option) func(*world) {
		return func(options ...option) func(*world) {
			return func(w *world) {
				s := w.serve(options...)
				for _, word := range words {
					word = strings.NewReplacer("URL", s.URL, "FILE", w.write("mine.bin", []byte("mine")), "DIR",
						w.yard.work).Replace(word)
					w.req.command = append(w.req.command, word)
				}
			}
		}
	}
	for name, c := range map[string]func(options ...option) func(*world){
		"probe":  command("probe", "--timeout", "2s", "--json", "URL"),
		"verify": command("verify", "--timeout", "2s", "--from", "URL", "FILE"),
		"find":   command("feed", "find", "--timeout", "2s", "URL"),
		"show":   command("feed", "show", "--timeout", "2s", "--max-size", "1M", "URL"),
	} {
		for does, option := range map[string]option{
			"sends header fields without end":         flood(ok, "X: y\r\n"),
			"sends answers of status 100 without end": flood("", "HTTP/1.1 100 Continue\r\n\r\n"),
			"says nothing":        drip("", ""),
			"redirects to a file": mirrortest.Redirect("file:///etc/passwd"),
			"redirects in a loop": mirrortest.Redirect("/file.bin"),
			"answers 404 with control characters": mirrortest.RawString("HTTP/1.1 404 " + evil +
				"\r\nContent-Length: 0\r\nServer: " + evil + "\r\n\r\n"),
		} {
			all = append(all, torment{"20", name + ": a server " + does, c(option), want{refused, []int{4, 7, 8, 12, 14}, ""}})
		}
	}
	for name, words := range map[string][]string{
		"check": {"feed", "check"}, "show": {"feed", "show"}, "find": {"feed", "find"},
		"convert": {"feed", "convert", "--to", "lirs"},
	} {
		all = append(all, torment{"52", name + ": a server sends a line now and then, without end",
			command(append(words, "--max-time", "3s", "URL")...)(drip(ok+"\r\n", "LIRS,1,2,3,4,5,6,7,8,\n")),
			fails(14, "not done within")})
	}
	fields := mirrortest.Link("<http://127.0.0.1:1/"+evil+">; rel=duplicate; geo="+evil,
		"</"+url.PathEscape(evil)+">; rel=describedby; type=\""+evil+"\"")
	return append(all,
		torment{"61", "probe: control characters in links", command("probe", "URL")(mirrortest.Digest(), fields,
			mirrortest.ETag("\""+evil+"\"")), isRight},
		torment{"61", "verify: control characters in a digest",
			command("verify", "--from", "URL", "FILE")(mirrortest.Header("Digest", "SHA-256="+evil)), fails(7, "")},
		torment{"61", "show: control characters in a title",
			command("feed", "show",
				"URL")(mirrortest.Handler(page("LIRS,1794261900,1794279490,32400,7,http://example.org/" + evil + "," +
				evil + ",a,http://a.example/,\n"))), isRight},
		torment{"61", "find: control characters in a page",
			command("feed", "find", "URL")(mirrortest.RawString(ok + "Content-Type: text/html\r\n\r\n<link " +
				"rel=alternate type=application/rss+xml title='" + evil + "\x1b[31m' href='/" + evil + "'>")), isRight},
	)
}
