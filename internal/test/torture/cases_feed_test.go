//go:build linux

package torture

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
)

// lists are lists of digests (--checksums) that lie (rules 31, 32 and 61).
func lists() (all []torment) {
	listed := func(options ...option) func(*world) {
		return func(w *world) {
			w.ask(mirrortest.New(w.t, content)) // which is asked if the list is good
			w.req.flags = []string{"--checksums", w.serve(append(options, mirrortest.Name("SHA256SUMS"))...).URL}
		}
	}
	for _, c := range []struct {
		does, text string
		want       want
	}{
		{"is in order", "HEX  file.bin\n", isRight},
		{"does not know the file", wrongHex + "  other.bin\n", fails(12, "")},
		{"knows the file as another one", wrongHex + "  file.bin\n", fails(11, "sha-256")},
		{"says two digests", wrongHex + "  file.bin\nHEX  file.bin\n", fails(7, "")},
		{"says a digest that is too short", "abcd  file.bin\n", want{refused, []int{7, 12}, ""}},
		{"is empty", "", want{refused, []int{7, 12}, ""}},
		{"is a page", "<html>404</html>", want{refused, []int{7, 12}, ""}},
		{"has control characters", "\x1b]0;pwned\a" + wrongHex + "  \x1b[31mfile.bin\n", want{refused, []int{7, 12}, ""}},
		{"is nonsense", "\x00\xff\x00\xff", want{refused, []int{7, 12}, ""}},
	} {
		all = append(all, torment{"31", "list: " + c.does, func(w *world) {
			listed(mirrortest.Handler(page(w.fill(c.text, ""))))(w)
		}, c.want})
	}
	return append(all,
		torment{"31", "list: has no end", listed(flood(ok+"\r\n", wrongHex+"  other.bin\n")), want{refused, []int{7, 14}, ""}},
		torment{"31", "list: has a line without end", listed(flood(ok+"\r\n", "x")), want{refused, []int{7, 14}, ""}},
		torment{"31", "list: is not there", listed(mirrortest.Status(404)), fails(8, "404")},
		torment{"31", "list: comes slowly", listed(drip(ok+"\r\n", "#\n")), want{refused, []int{4, 7, 12, 13}, ""}},
	)
}

// ftps are FTP servers that misbehave (rules 58 and 59).
func ftps() (all []torment) {
	alone := func(url string, options ...ftptest.Option) func(*world) {
		return func(w *world) {
			s := w.serveFTP(options...)
			w.req.urls, w.req.sha256, w.req.alone = []string{s.URL + url}, w.hex(), url != ""
		}
	}
	long := "200 " + strings.Repeat("x", 9<<10) + "\r\n"
	many := "200-a\r\n" + strings.Repeat("b\r\n", 101) + "200 c\r\n"
	type fault struct {
		does    string
		options []ftptest.Option
		alone   want // how it ends where there is nobody else
	}
	reply := func(command, text string) []ftptest.Option { return []ftptest.Option{ftptest.Reply(command, text)} }
	for _, f := range []fault{
		{"says another address", []ftptest.Option{ftptest.PassiveHost("10,0,0,1")}, isRight},
		{"says another address in PASV", []ftptest.Option{ftptest.PassiveHost("10,0,0,1"),
			ftptest.Reply("EPSV", "502 no\r\n")}, isRight},
		{"says another size", []ftptest.Option{ftptest.Size(99)}, want{refused, []int{7, 11}, ""}},
		{"says a larger size", []ftptest.Option{ftptest.Size(fileSize + 9)}, isRight}, // by --sha256 (rule 17)
		{"ends early", []ftptest.Option{ftptest.EndAfter(9000)}, fails(13, "")},
		{"begins at the beginning", []ftptest.Option{ftptest.IgnoreRest(), ftptest.EndAfter(200_000)},
			want{refused, []int{7, 11, 13}, ""}},
		{"sends too much", []ftptest.Option{ftptest.Longer(9)}, fails(7, "longer")},
		{"sends wrong bytes", []ftptest.Option{ftptest.Corrupt(9)}, fails(11, "sha-256")},
		{"stops", []ftptest.Option{ftptest.StallAfter(9000)}, fails(13, "")},
		{"resets", []ftptest.Option{ftptest.ResetAfter(0)}, fails(4, "")},
		{"sends a long reply", reply("FEAT", long), want{refused, []int{7, 14}, ""}},
		{"sends a reply of many lines", reply("SIZE", many), want{refused, []int{7, 14}, ""}},
		{"sends a greeting without end", reply("greeting", strings.Repeat("220-x\r\n", 100_000)),
			want{refused, []int{7, 14}, ""}},
		{"says nothing", reply("greeting", ""), fails(4, "")},
		{"speaks HTTP", reply("greeting", "HTTP/1.1 400 Bad Request\r\n\r\n"), fails(7, "")},
		{"is full", reply("greeting", "421 too many\r\n"), fails(8, "421")},
		{"knows nobody", reply("PASS", "530 no \x1b]0;pwned\a\r\n"), fails(6, "530")},
		{"has no file", append(reply("SIZE", "550 no \x1b[31msuch \xe2\x80\xaefile\r\n"),
			reply("MDTM", "550 no \x1b[31msuch file\r\n")...), fails(8, "550")},
		{"says a negative size", reply("SIZE", "213 -5\r\n"), fails(7, "")},
		{"says port 0", reply("EPSV", "229 (|||0|)\r\n"), fails(7, "")},
		{"says nonsense as a port", []ftptest.Option{ftptest.Reply("EPSV", "229 x\r\n"),
			ftptest.Reply("PASV", "227 (1,2)\r\n")}, fails(7, "")},
		{"changes its mind", reply("RETR", "550 gone\r\n"), fails(8, "550")},
		{"says that it is done at once", reply("RETR", "226 done\r\n"), fails(7, "")},
	} {
		all = append(all,
			torment{"59", "an FTP server " + f.does, alone("", f.options...), f.alone},
			torment{"59", "an FTP mirror " + f.does, func(w *world) {
				m := w.serveFTP(f.options...)
				w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
			}, isRight})
	}
	for _, path := range []string{"a%0d%0aDELE%20b", "a%0ab", "a%00b", "%0d"} {
		all = append(all, torment{"58", "the path of an FTP URL has " + path, func(w *world) {
			var came atomic.Bool
			addr := w.listen(func(c net.Conn) { came.Store(true); c.Close() })
			w.asked = append(w.asked, func() string {
				if came.Load() {
					return "an FTP server was asked for it"
				}
				return ""
			})
			w.req.urls = []string{"ftp://" + addr + "/" + path}
		}, fails(2, "")})
	}
	return append(all, torment{"59", "an FTP mirror, and there are credentials for the server", func(w *world) {
		m := w.serveFTP()
		w.confidant = w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
		w.req.user = "me:" + secret
	}, isRight}, torment{"59", "an FTP server that is told a wrong password", func(w *world) {
		s := w.serveFTP(ftptest.User("me", "other"))
		w.ftp = nil // it may know
		w.req.urls = []string{strings.Replace(s.URL, "//", "//me:"+secret+"@", 1)}
	}, fails(6, "530")})
}

// feeds are feeds that lie, or are bombs (rules 52 to 57).
func feeds() (all []torment) {
	lirs := func(url, title string) string {
		return "LIRS,1794261900,1794279490,32400,7," + url + "," + title + ",author,http://antenna.example.jp/,\n"
	}
	checks := func(options ...option) func(*world) {
		return func(w *world) {
			w.req.command = []string{"feed", "check", "--max-size", "2M", "--timeout", "2s", w.serve(options...).URL}
		}
	}
	body := func(kind, text string) option {
		return mirrortest.RawString(fmt.Sprintf("%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", ok, kind, len(text), text))
	}
	packed := func(c byte) option { return mirrortest.RawString(ok + "\r\n" + string(bomb(64, c))) }
	item := "<item><title>x</title><link>http://example.org/x</link></item>"
	for _, c := range []struct {
		rule, does string
		option     option
		want       want
	}{
		{"52", "is in order", body("text/plain", lirs("http://example.org/a", "a")), isRight},
		{"52", "has no end", flood(ok+"\r\n", lirs("http://example.org/a", "a")), fails(14, "")},
		{"52", "has a line without end", flood(ok+"\r\nLIRS,", "x"), want{refused, []int{7, 14}, ""}},
		{"52", "is gzip that grows to 64 MiB", packed('\n'), want{refused, []int{7, 14}, ""}},
		{"52", "is gzip of one line that grows to 64 MiB", packed('x'), want{refused, []int{7, 14}, ""}},
		{"52", "goes silent", mirrortest.StallAfter(0), fails(4, "no byte for")},
		{"52", "is RSS without end", flood(ok+"\r\n<rss version=\"2.0\"><channel>", item), want{refused, []int{7, 14}, ""}},
		{"52", "is RSS with one title without end", flood(ok+"\r\n<rss version=\"2.0\"><channel><item><title>", "x"),
			want{refused, []int{7, 14}, ""}},
		{"52", "is RSS with elements in elements", flood(ok+"\r\n<rss version=\"2.0\"><channel><item>", "<x>"),
			want{refused, []int{7, 14}, ""}},
		{"52", "is RSS with entities", body("application/rss+xml",
			`<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><rss version="2.0"><channel>&c;</channel></rss>`),
			fails(7, "entities")},
		{"52", "is JSON in JSON", flood(ok+"\r\n{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":", "["),
			want{refused, []int{7, 14}, ""}},
		{"52", "is a sitemap without end", flood(ok+
			"\r\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">",
			"<url><loc>http://example.org/</loc></url>"), want{refused, []int{7, 14}, ""}},
		{"52", "is an index page without end", flood(ok+"\r\n<title>Index of /</title>", "<a href=\"a\">a</a>\n"),
			want{refused, []int{7, 14}, ""}},
		{"52", "is an index in JSON without end", flood(ok+"\r\n[", `{"name":"a","type":"file","mtime":""},`),
			want{refused, []int{7, 14}, ""}},
		{"52", "is a list of releases without end", flood(ok+"\r\n[", `{"tag_name":"v1","assets":[]},`),
			want{refused, []int{7, 14}, ""}},
		{"52", "is a release with files without end", flood(ok+"\r\n{\"tag_name\":\"v1\",\"assets\":[",
			`{"browser_download_url":"http://example.org/a"},`),
			want{refused, []int{7, 14}, ""}},
		{"79", "is an index page that leads elsewhere",
			body("text/html", `<title>Index of /</title><a href="file:///etc/passwd">a</a>`+
				`<a href="//169.254.169.254/a">b</a><a href="../../etc/passwd">c</a>`), isRight},
		{"53", "has URLs of files", body("text/plain", lirs("file:///etc/passwd", "a")), isRight},
		{"55", "is SOIF with a count that is too long",
			body("text/plain", "@FILE { http://example.org/a\nTitle{9999}:\tx\n}\n"), fails(7, "")},
		{"55", "is SOIF with a negative count", body("text/plain", "@FILE { http://example.org/a\nTitle{-1}:\tx\n}\n"),
			fails(7, "")},
		{"55", "is SOIF with a count beyond 64 bits",
			body("text/plain", "@FILE { http://example.org/a\nTitle{99999999999999999999}:\tx\n}\n"),
			want{refused, []int{7, 14}, ""}},
		{"55", "has too few fields", body("text/plain", "LIRS,1,2,3,\n"), fails(7, "")},
		{"55", "is of an unknown charset", body("text/plain; charset=x-evil", lirs("http://example.org/a",
			"\x1b]0;pwned\a\x9b31m")), want{class: refused, codes: []int{7}}},
		{"57", "is not there", mirrortest.Status(404), fails(8, "404")},
		{"57", "fails", mirrortest.Status(500), fails(8, "500")},
		{"57", "is a page", body("text/html", "<html><title>x</title>"), fails(7, "")},
		{"57", "is empty", body("text/plain", ""), fails(7, "")},
		{"26", "redirects to a file", mirrortest.Redirect("file:///etc/passwd"), fails(8, "")},
		{"26", "redirects in a loop", mirrortest.Redirect("/file.bin"), fails(8, "")},
		{"20", "sends header fields without end", flood(ok, "X: y\r\n"), fails(14, "")},
		{"63", "redirects to a neighbour at 169.254.169.254", mirrortest.Redirect("http://169.254.169.254/latest"),
			want{refused, []int{4, 8}, "link-local"}},
	} {
		all = append(all, torment{c.rule, "feed: " + c.does, checks(c.option), c.want})
	}
	return append(all, watches(lirs)...)
}

// watches are feeds that a watch follows once: what they say must not lead anywhere (rules 53, 54 and 56).
func watches(lirs func(url, title string) string) (all []torment) {
	for _, c := range []struct {
		rule, does, text string
	}{
		{"53", "reports another file", lirs("http://127.0.0.1:1/other.bin", "other")},
		{"53", "reports a file on disk", lirs("file:///etc/passwd", "x")},
		{"53", "reports a name with dots", lirs("http://127.0.0.1:1/../../evil", "x")},
		{"54", "reports dates of 1970", strings.ReplaceAll(lirs("URL", "x"), "1794261900", "1")},
		{"54", "reports dates of 2999", strings.ReplaceAll(lirs("URL", "x"), "1794261900", "32472144000")},
		{"55", "is nonsense", "\x00\x01\x02"},
		{"61", "has control characters in titles", lirs("URL", "\x1b]0;pwned\a\x9b31m\u202e")},
		{"62", "reports a URL with a secret", lirs("http://me:"+secret+"@127.0.0.1:1/x?key="+secret, "x")},
	} {
		then := isRight
		if c.does == "is nonsense" {
			then = fails(7, "not a feed") // and the file is there: the watch has asked for it
		}
		all = append(all, torment{c.rule, "watch: a feed " + c.does, func(w *world) {
			origin := w.serve(mirrortest.Digest())
			f := w.serve(mirrortest.Handler(page(w.fill(c.text, origin.URL))), mirrortest.Name("antenna.lirs"))
			w.confidant = nil
			w.req.command = []string{"watch", "--once", "-v", "--feed", f.URL, "--url", origin.URL, "--dir",
				w.yard.work, "--check-every", "1h"}
			w.req.names = []string{fileName}
		}, then})
	}
	return all
}

// escapes are control characters in whatever is ever printed (rule 61).
func escapes() (all []torment) {
	const evil = "\u202e\u0085\u009b31mpwned\u2066"
	for does, head := range map[string]string{
		"reason phrase":         "HTTP/1.1 404 " + evil + "\x1b[31m\r\nContent-Length: 0\r\n\r\n",
		"Location":              "HTTP/1.1 302 Found\r\nLocation: " + evil + "://x\r\nContent-Length: 0\r\n\r\n",
		"path of a Location":    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/" + evil + "\r\nContent-Length: 0\r\n\r\n",
		"host of a Location":    "HTTP/1.1 302 Found\r\nLocation: http://" + evil + "/x\r\nContent-Length: 0\r\n\r\n",
		"Content-Encoding":      ok + "Content-Encoding: " + evil + "\r\nContent-Length: SIZE\r\n\r\n",
		"Transfer-Encoding":     ok + "Transfer-Encoding: " + evil + "\r\n\r\n",
		"Digest":                ok + "Digest: SHA-256=" + evil + "\r\nContent-Length: SIZE\r\n\r\n",
		"Repr-Digest":           ok + "Repr-Digest: " + evil + "\r\nContent-Length: SIZE\r\n\r\n",
		"Retry-After":           "HTTP/1.1 503 Busy\r\nRetry-After: " + evil + "\r\nContent-Length: 0\r\n\r\n",
		"WWW-Authenticate":      "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"" + evil + "\"\r\nContent-Length: 0\r\n\r\n",
		"Content-Length":        ok + "Content-Length: " + evil + "\r\n\r\n",
		"status line":           evil + "\x1b[31m\r\n\r\n",
		"name of a field":       ok + evil + ": x\r\nContent-Length: SIZE\r\n\r\n",
		"field without a colon": ok + "\x1b]0;" + evil + "\r\n\r\n",
		"size of a chunk":       ok + "Transfer-Encoding: chunked\r\n\r\n" + evil + "\r\n",
	} {
		for _, flag := range []string{"", "--json"} {
			all = append(all, torment{"61", strings.TrimSpace("control characters in the " + does + " " + flag), func(w *world) {
				spoken(head)(w)
				if flag != "" {
					w.req.flags = []string{flag}
				}
			}, want{refused, []int{4, 6, 7, 8}, ""}})
		}
	}
	for does, head := range map[string]string{
		"Content-Disposition": "Content-Disposition: attachment; filename=\"" + evil + "\"",
		"ETag":                "ETag: \"" + evil + "\"", "Last-Modified": "Last-Modified: " + evil,
		"Server": "Server: " + evil, "Content-Type": "Content-Type: " + evil,
		"Link": "Digest: SHA-256=DIGEST\r\nLink: <http://127.0.0.1:1/" + evil + ">; rel=duplicate; geo=" + evil +
			", <http://" + evil + "/>; rel=describedby; type=\"" + evil + "\"",
	} {
		then := isUnverified
		if does == "Link" {
			then = isRight
		}
		all = append(all, torment{"61", "control characters in the " + does,
			spoken(ok + head + "\r\nContent-Length: SIZE\r\n\r\n"), then})
	}
	return all
}
