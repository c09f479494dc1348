//go:build linux

package torture

import (
	"crypto/md5"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"time"

	"braid/internal/test/mirrortest"
)

const (
	zeros  = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" // a SHA-256 that no file has
	zeros5 = "AAAAAAAAAAAAAAAAAAAAAA=="                     // an MD5
)

// says is a server whose answers have some fields more. In them HEX, B64, HEX64, MD5 and B512 stand for digests of the file.
func says(fields ...string) func(*world) {
	return func(w *world) {
		m, long := md5.Sum(w.body), sha512.Sum512(w.body)
		values := strings.NewReplacer("HEX64", base64.StdEncoding.EncodeToString([]byte(w.hex())), "HEX", w.hex(),
			"B64", w.base64(),
			"MD5SUM", base64.StdEncoding.EncodeToString(m[:]), "B512", base64.StdEncoding.EncodeToString(long[:]))
		var options []option
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			options = append(options, mirrortest.Header(name, values.Replace(value)))
		}
		w.ask(w.serve(options...))
	}
}

// digests are digests that lie, or say nothing (rules 30 to 33, 64).
func digests() []torment {
	all := []torment{
		{"31", "sends a digest of another file", says("Digest: SHA-256=" + zeros), fails(11, "sha-256")},
		{"31", "sends a Repr-Digest of another file", says("Repr-Digest: sha-256=:" + zeros + ":"), fails(11, "sha-256")},
		{"31", "sends an MD5 of another file", says("Digest: MD5=" + zeros5), fails(11, "md5")},
		{"31", "sends an MD5 of this file", says("Digest: MD5=MD5SUM"), isUnverified},
		{"31", "sends digests of unknown kinds", says("Digest: CRC32c=AAAAAA==, UNIXsum=1, SHA-3=x"), isUnverified},
		{"32", "sends two digests of one kind", says("Digest: SHA-256=B64,SHA-256=" + zeros), fails(7, "sha-256")},
		{"32", "sends two digests of one kind in two fields", says("Digest: SHA-256=B64", "Digest: SHA-256="+zeros),
			fails(7, "sha-256")},
		{"32", "sends a right SHA-256 and a wrong MD5", says("Digest: SHA-256=B64,MD5=" + zeros5), fails(11, "md5")},
		{"32", "sends a right SHA-512 and a wrong SHA-256", says("Digest: SHA-512=B512,SHA-256=" + zeros), fails(11, "sha-256")},
		{"32", "sends a Digest and a Repr-Digest that differ", says("Digest: SHA-256=B64",
			"Repr-Digest: sha-256=:"+zeros+":"), fails(7, "sha-256")},
		{"33", "sends the hex digits in base64, as in the RFC", says("Digest: SHA-256=HEX64"), isRight},
		{"33", "sends the hex digits", says("Digest: SHA-256=HEX"), isRight},
		{"33", "sends a Content-Digest of other bytes", says("Content-Digest: sha-256=:" + zeros + ":"),
			fails(11, "content-digest")},
		{"33", "sends a Content-Digest of its bytes", says("Content-Digest: sha-256=:B64:"), isRight},
		{"30", "sends a digest in a trailer", spoken(ok + "Trailer: Digest\r\nContent-Length: SIZE\r\n\r\n"), isUnverified},
		{"64", "sends a digest that differs from the user's", func(w *world) {
			says("Digest: SHA-256=" + zeros)(w)
			w.req.sha256 = w.hex()
		}, want{refused, []int{7, 11}, "sha-256"}},
		{"64", "has a file that is not the user's", func(w *world) {
			w.ask(w.serve(mirrortest.Corrupt(77)))
			w.req.sha256 = w.hex()
		}, fails(11, "sha-256")},
		{"30", "sends no digest, and one is demanded", func(w *world) {
			w.ask(w.serve())
			w.req.flags = []string{"--require", "digest"}
		}, fails(12, "digest")},
		{"30", "sends an MD5, and a digest is demanded", func(w *world) {
			says("Digest: MD5=MD5SUM")(w)
			w.req.flags = []string{"--require", "digest"}
		}, fails(12, "md5|digest")},
		{"2", "sends wrong bytes, and there is an old file", func(w *world) {
			w.ask(w.serve(mirrortest.Digest(), mirrortest.Corrupt(9)))
			w.write(fileName, []byte(oldBytes))
			w.req.flags = []string{"--overwrite"}
		}, fails(11, "sha-256")},
		{"3", "has the file, and so have we another one", func(w *world) {
			w.ask(w.serve())
			w.write(fileName, []byte(oldBytes))
			w.req.alone = true
		}, fails(3, "exists")},
	}
	for _, bad := range []string{"SHA-256=", "SHA-256=short", "SHA-256=" + zeros + zeros, "SHA-256=!!!!", "SHA-256",
		"SHA-256=:" + zeros + ":", "SHA-256=" + strings.Repeat("A", 100_000)} {
		all = append(all, torment{"31", fmt.Sprintf("sends Digest: %.60s", bad), says("Digest: " + bad), fails(7, "digest")})
	}
	for _, bad := range []string{"sha-256=" + zeros, "sha-256=:AAAA:", "sha-256=1", `sha-256="x"`, "((", "sha-256=:!!:"} {
		all = append(all, torment{"31", "sends Repr-Digest: " + bad, says("Repr-Digest: " + bad), fails(7, "digest")})
	}
	return all
}

// linking is a slow server in order with a digest and Link fields; CANARY in them is a server that must be left alone.
func linking(fields ...string) func(*world) {
	return func(w *world) {
		options := []option{mirrortest.Rate(slow), mirrortest.ETag(`"v"`), mirrortest.Digest()}
		for _, f := range fields {
			if strings.Contains(f, "CANARY") {
				f = strings.ReplaceAll(f, "CANARY", w.canary().URL)
			}
			options = append(options, mirrortest.Link(f))
		}
		w.ask(w.serve(options...))
	}
}

// links are Link fields that are odd, or dangerous (rules 30, 36 and 37, C2 and C4).
func links() (all []torment) {
	all = []torment{
		{"30", "names mirrors and sends no digest", func(w *world) {
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Mirrors(w.canary().URL)))
		}, isUnverified},
		{"30", "names mirrors and sends an MD5 only", func(w *world) {
			m := w.canary()
			says("Digest: MD5=MD5SUM")(w)
			w.web[len(w.web)-1].Set(mirrortest.Rate(slow), mirrortest.Mirrors(m.URL))
		}, isUnverified},
		{"36", "names itself as a mirror", func(w *world) {
			s := w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest()))
			s.Set(mirrortest.Mirrors(s.URL))
		}, isRight},
		{"36", "has a mirror that names further mirrors", func(w *world) {
			far := w.canary()
			m := w.serve(mirrortest.Digest(), mirrortest.Mirrors(far.URL))
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
		}, isRight},
		{"36", "names 3000 mirrors that are not there",
			linking(strings.Repeat("<http://127.0.0.1:1/a>; rel=duplicate, ",
				3000) + "<http://127.0.0.1:2/b>; rel=duplicate"), isRight},
		{"36", "names 1000 mirrors that are not there, at ports of their own", linking(ports(1000)), isRight},
		{"62", "names a mirror with a secret in its URL", func(w *world) {
			m := w.serve(mirrortest.Status(404))
			w.confidant = m
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(),
				mirrortest.Mirrors(strings.Replace(m.URL, "//", "//me:"+secret+"@", 1)+"?key="+secret)))
		}, isRight},
	}
	for _, f := range []string{
		"<CANARY>; rel=duplicate; anchor=\"http://example.org/other\"", "<CANARY>; rel=stylesheet",
		"<CANARY>; rel=\"prev\"; rel=duplicate", "<CANARY>",
		"<CANARY; rel=duplicate", "CANARY; rel=duplicate", "<CANARY?" + strings.Repeat("x", 9<<10) + ">; rel=duplicate",
	} {
		all = append(all, torment{"36", fmt.Sprintf("sends Link: %.60s", f), linking(f), isRight})
	}
	for _, f := range []string{
		"<file:///etc/passwd>; rel=duplicate", "<gopher://127.0.0.1/>; rel=duplicate",
		"<javascript:alert(1)>; rel=duplicate", "<>; rel=duplicate", "<http://>; rel=duplicate",
		"<http://127.0.0.1:1/x>; rel=duplicate; pri=-5; geo=\"\x1b[31m\"; depth=99999999999",
		"<http://[::1>; rel=duplicate", "<http://127.0.0.1:1/x\x00y>; rel=duplicate",
		strings.Repeat(",;\"<", 5000), "<http://127.0.0.1:1/x>; rel=\"" + strings.Repeat("duplicate ", 5000) + "\"",
		"<http://nosuch.invalid/x>; rel=duplicate; pref", "<ftp://127.0.0.1:1/x>; rel=duplicate",
	} {
		t := torment{"37", fmt.Sprintf("sends Link: %.60q", f), linking(f), isRight}
		if strings.Contains(f, "\x00") || strings.Contains(f, "\x1b") {
			t.want = want{refused, []int{7}, ""} // no field may have these (RFC 9110, section 5.5)
		}
		all = append(all, t)
	}
	return all
}

// ports are Link fields of n mirrors.
func ports(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<http://127.0.0.1:%d/x>; rel=duplicate; pri=%d, ", 1+i%900, i+1)
	}
	return b.String() + "<http://127.0.0.1:1/y>; rel=duplicate"
}

// everywhere is an offset in each 4 KiB of the file.
func everywhere() (offsets []int64) {
	for off := int64(0); off < fileSize; off += 4 << 10 {
		offsets = append(offsets, off)
	}
	return offsets
}

// trickles sends as much as it can for a while, and then some bytes a second.
func trickles(after time.Duration, rate int64) option {
	return mirrortest.RateFunc(func(elapsed time.Duration) int64 {
		if elapsed < after {
			return 4 * slow
		}
		return rate
	})
}

// mirrors are mirrors that misbehave beside a server in order, which must not matter (rules 35, 38 and 39).
func mirrors() (all []torment) {
	lie := anotherDigest()
	for does, options := range map[string][]option{
		"has wrong bytes":                      {mirrortest.Corrupt(everywhere()...)},
		"has another digest":                   {mirrortest.Digest(lie)},
		"has another digest and the same ETag": {mirrortest.ETag(`"v"`), mirrortest.Digest(lie)},
		"sends nothing":                        {mirrortest.StallAfter(0)},
		"stops in the middle":                  {mirrortest.StallAfter(1000)},
		"resets connections":                   {mirrortest.ResetAfter(1000)},
		"wants a password": {mirrortest.Status(401), mirrortest.Header("WWW-Authenticate",
			"Basic realm=x")},
		"is busy":                                 {mirrortest.Status(503), mirrortest.RetryAfter("3600")},
		"fails":                                   {mirrortest.Status(500)},
		"redirects in a loop":                     {mirrortest.Redirect("/file.bin")},
		"redirects without end":                   {wander(1 << 30)},
		"redirects to a file on disk":             {mirrortest.Redirect("file:///etc/passwd")},
		"sends header fields without end":         {flood("HTTP/1.1 206 Partial Content\r\n", "X-Field: value\r\n")},
		"sends answers of status 100 without end": {flood("", "HTTP/1.1 100 Continue\r\n\r\n")},
		"sends a body without end":                {flood("HTTP/1.1 200 OK\r\n\r\n", "0123456789")},
		"sends chunks without end": {flood("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "+
			"0-3145727/3145728\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")},
		"sends a header section byte by byte": {drip("HTTP/1.1 206 Partial Content\r\nX: ", "x")},
		"answers with nonsense":               {flood("", "nonsense")},
		"closes without an answer":            {mirrortest.RawString("")},
		"answers everything with a page": {mirrortest.RawString("HTTP/1.1 200 OK\r\nContent-Type: " +
			"text/html\r\nContent-Length: 5\r\n\r\nhello")},
		"says a size beyond every disk": {mirrortest.RawString("HTTP/1.1 200 OK\r\nContent-Length: " +
			"9223372036854775807\r\n\r\nhello")},
		"names a digest that is malformed":            {mirrortest.Header("Digest", "SHA-256=???")},
		"has a certificate of nobody's":               {mirrortest.TLS(nil)},
		"is very slow":                                {mirrortest.Rate(20_000)},
		"answers If-Match with 412 and has no digest": {mirrortest.Status(412)},
		"trickles from its first byte on":             {trickles(0, 100)},
		"trickles after a moment":                     {trickles(50*time.Millisecond, 100)},
		"trickles a byte a second after a moment":     {trickles(50*time.Millisecond, 1)},
	} {
		all = append(all, torment{"39", "a mirror " + does, beside(options...), isRight})
	}
	return append(all,
		torment{"39", "all mirrors and the server cut everything, but one mirror", func(w *world) {
			good := w.serve(mirrortest.Digest())
			bad := w.serve(mirrortest.Status(500))
			w.ask(w.serve(mirrortest.Digest(), mirrortest.Mirrors(bad.URL, good.URL),
				mirrortest.Times(1, mirrortest.CutAfter(200_000)), mirrortest.When(ranged, mirrortest.Status(410))))
		}, isRight},
		torment{"21", "trickles from its first byte on, beside a mirror in order", func(w *world) {
			m := w.serve()
			w.ask(w.serve(trickles(0, 1000), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
		}, isRight},
		torment{"21", "trickles, and has little of a file, beside a mirror in order", func(w *world) {
			m := mirrortest.New(w.t, mirrortest.Generate(20_000, 1))
			s := mirrortest.New(w.t, mirrortest.Generate(20_000, 1), trickles(0, 100), mirrortest.Digest(),
				mirrortest.Mirrors(m.URL))
			w.web, w.body = append(w.web, m, s), body[:20_000]
			w.ask(s)
		}, isRight},
		torment{"40", "the server's own bytes are wrong, a mirror's are right", func(w *world) {
			good := w.serve(mirrortest.Digest())
			w.ask(w.serve(mirrortest.Digest(), mirrortest.Rate(slow), mirrortest.Corrupt(5), mirrortest.Mirrors(good.URL)))
		}, isRight},
		torment{"40", "the server's own bytes are wrong, those of one of three mirrors are right", func(w *world) {
			bad := []option{mirrortest.Digest(), mirrortest.Rate(slow), mirrortest.Corrupt(everywhere()...)}
			w.ask(w.serve(append(bad, mirrortest.Mirrors(w.serve(bad...).URL, w.serve(bad...).URL,
				w.serve(mirrortest.Digest(), mirrortest.Rate(slow)).URL))...))
		}, isRight},
		torment{"40", "everybody's bytes are wrong", func(w *world) {
			bad := mirrortest.New(w.t, content, mirrortest.Corrupt(5))
			w.web = append(w.web, bad)
			w.ask(w.serve(mirrortest.Digest(), mirrortest.Corrupt(5), mirrortest.Mirrors(bad.URL)))
		}, fails(11, "sha-256")},
		torment{"40", "the server's own bytes are wrong, those of two mirrors are right", func(w *world) {
			a, b := w.serve(mirrortest.Digest()), w.serve(mirrortest.Digest(), mirrortest.Rate(slow))
			w.ask(w.serve(mirrortest.Digest(), mirrortest.Rate(slow), mirrortest.Corrupt(everywhere()...),
				mirrortest.Mirrors(a.URL, b.URL)))
		}, isRight},
		torment{"27", "a mirror wants a password, and there is one for the server", func(w *world) {
			m := w.serve(mirrortest.Status(401), mirrortest.Header("WWW-Authenticate", "Basic realm=x"))
			w.confidant = w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
			w.req.user = "me:" + secret
		}, isRight},
		torment{"28", "a mirror that is given no Referer with a secret", func(w *world) {
			m := w.serve()
			w.confidant = w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
			w.req.urls[0] += "?key=" + secret
		}, isRight},
		torment{"21", "a mirror accepts connections and reads nothing", func(w *world) {
			addr := w.listen(func(c net.Conn) { c.Read(make([]byte, 1)); c.Read(make([]byte, 1<<20)); c.Read(make([]byte, 1)) })
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors("http://"+addr+"/file.bin")))
		}, isRight},
	)
}
