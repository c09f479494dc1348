//go:build linux

package torture

import (
	"bufio"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// forged is another file of the same size: what a bad mirror would like to be taken.
var forged = mirrortest.Generate(fileSize, 2)

// forgery is a document that describes another file, at a server that has it.
func (w *world) forgery() string {
	s := mirrortest.New(w.t, forged)
	w.web = append(w.web, s)
	sum := sha256.Sum256(forged.Bytes())
	text := strings.ReplaceAll(w.fill(doc(entry(fileName, good)), s.URL), w.hex(), fmt.Sprintf("%x", sum))
	return text + strings.Repeat("\n", 8<<10) // a sniffer looks at the first 4 KiB
}

// replaces is a mirror that answers with a document, or what looks like one, in place of the file.
func (w *world) replaces(kind string) *mirrortest.Server {
	text := w.forgery()
	if kind == "application/x-bittorrent" {
		sum := sha1.Sum(forged.Bytes())
		u := w.web[len(w.web)-1].URL
		text = fmt.Sprintf("d8:url-list%d:%s4:infod6:lengthi%de4:name%d:%s12:piece lengthi%de6:pieces20:%see", len(u),
			u, fileSize, len(fileName), fileName, fileSize, sum)
	}
	return w.serve(mirrortest.Handler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", kind)
		http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(text))
	})))
}

// replaced are files in whose place a mirror sends a document that describes another file (rule 46).
func replaced() (all []torment) {
	for _, kind := range []string{"application/metalink4+xml", "application/metalink+xml", "application/octet-stream",
		"application/x-bittorrent"} {
		all = append(all,
			torment{"46", "redirects with a digest to a mirror that answers with " + kind, func(w *world) {
				m := w.serve()
				w.ask(w.serve(mirrortest.Redirect(w.replaces(kind).URL), mirrortest.Digest(), mirrortest.Mirrors(m.URL)))
				w.req.flags = []string{"--require", "digest"}
			}, isRight},
			torment{"46", "redirects with a digest to the only mirror, which answers with " + kind, func(w *world) {
				w.ask(w.serve(mirrortest.Redirect(w.replaces(kind).URL), mirrortest.Digest()))
				w.req.alone = true
			}, want{refused, []int{4, 7, 8, 11}, ""}},
			torment{"46", "names a mirror that answers with " + kind, func(w *world) {
				w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(w.replaces(kind).URL)))
			}, isRight},
		)
	}
	return all
}

// planted is work of an earlier run that was none of this user's: a whole file with a digest over https in its journal (rule 8).
func planted(options ...option) func(*world) {
	return func(w *world) {
		s := w.ask(w.serve(options...))
		digest := forged.Digest()
		part, err := partfile.Open(fsys.OS, w.yard.work, fileName)
		check(w.t, err)
		u, err := url.Parse(s.URL)
		check(w.t, err)
		check(w.t, part.Begin(partfile.Identity{
			URL: s.URL, URLSum: partfile.SumURL(u), Size: fileSize,
			Claims: []verify.Claim{{Digest: digest, Field: "Digest", Channel: verify.HTTPS}},
		}))
		_, err = io.Copy(io.NewOffsetWriter(part, 0), forged.Reader())
		check(w.t, err)
		check(w.t, part.Close())
		w.req.flags, w.req.alone = []string{"--require", "digest"}, true
		w.limits.disk = 4 * fileSize
	}
}

// piecesOf is the element of a document with the digests of pieces of 256 KiB.
func piecesOf(data []byte) string {
	var b strings.Builder
	b.WriteString(`<pieces type="sha-256" length="262144">`)
	for len(data) > 0 {
		n := min(len(data), 256<<10)
		fmt.Fprintf(&b, "<hash>%x</hash>", sha256.Sum256(data[:n]))
		data = data[n:]
	}
	b.WriteString("</pieces>")
	return b.String()
}

// evidences are proofs that are not of the file, or not of who has a say (rules 4, 30, 40 and 43).
func evidences() []torment {
	trickle := mirrortest.When(func(r *http.Request) bool { return r.Header.Get("Range") != "" }, mirrortest.Rate(1))
	return []torment{
		{"8", "an earlier run of another user left a whole file and its digest, and the server is down",
			planted(mirrortest.Status(503)), want{refused, []int{4, 8, 13}, ""}},
		{"8", "an earlier run of another user left a whole file and its digest, and the server has another one",
			planted(mirrortest.Digest()), isRight},
		{"43", "document: has a SHA-1 only, and a mirror has its own digest of another file", func(w *world) {
			bad := mirrortest.New(w.t, forged, mirrortest.Digest())
			w.web = append(w.web, bad)
			sum := sha1.Sum(w.body)
			text := doc(entry(fileName,
				fmt.Sprintf(`<size>SIZE</size><hash type="sha-1">%x</hash><url priority="1">%s</url><url priority="2">URL</url>`, sum, bad.URL)))
			w.req.document = w.beside("doc.meta4", []byte(w.fill(text, w.serve().URL)))
		}, isUnverified},
		{"43", "document: has pieces only, and no server has them", func(w *world) {
			bad := mirrortest.New(w.t, forged)
			w.web = append(w.web, bad)
			w.req.document = w.beside("doc.meta4",
				[]byte(w.fill(doc(entry(fileName, `<size>SIZE</size>`+piecesOf(w.body)+`<url>URL</url>`)), bad.URL)))
		}, fails(11, "")},
		{"42", "document: has a size of 4 EiB and one byte, and pieces of 4 EiB", func(w *world) {
			w.req.document = w.beside("doc.meta4", []byte(w.fill(doc(entry(fileName,
				`<size>4611686018427387905</size><pieces type="sha-256" length="4611686018427387904"><hash>HEX</hash><hash>HEX</hash></pieces>`+bare)), w.canary().URL)))
		}, want{refused, []int{3, 7, 11, 14}, ""}},
		{"30", "redirects to one mirror, which breaks off, and then to another with the same ETag and another file",
			func(w *world) {
				first := mirrortest.New(w.t, forged, mirrortest.ETag(`"1"`), mirrortest.CutAfter(fileSize/2))
				w.web = append(w.web, first)
				second := w.serve(mirrortest.ETag(`"1"`))
				var n atomic.Int32
				w.ask(w.serve(mirrortest.Choose(func(*http.Request) []option {
					if n.Add(1) == 1 {
						return []option{mirrortest.Redirect(first.URL)}
					}
					return []option{mirrortest.Redirect(second.URL)}
				})))
				w.req.alone = true
			}, isUnverified},
		{"40", "a mirror has the same size and five other bytes", func(w *world) {
			m := w.serve(mirrortest.Rate(slow), mirrortest.Corrupt(fileSize/2, fileSize/2+1, fileSize/2+2, fileSize-9,
				fileSize-8))
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL,
				w.serve(mirrortest.Rate(slow)).URL)))
		}, isRight},
		{"40", "a mirror has another file, and another Last-Modified", func(w *world) {
			m := mirrortest.New(w.t, forged, mirrortest.Modified(time.Unix(1e9, 0)))
			w.web = append(w.web, m)
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Modified(time.Unix(1.5e9, 0)), mirrortest.Digest(),
				mirrortest.Mirrors(m.URL, w.serve().URL)))
		}, isRight},
		{"21", "breaks off and is down from then on, and one of two mirrors sends a byte a second", func(w *world) {
			bad, ok := w.serve(trickle), w.serve(mirrortest.Rate(slow))
			var n atomic.Int32
			w.ask(w.serve(mirrortest.Choose(func(*http.Request) []option {
				if n.Add(1) == 1 {
					return []option{mirrortest.Digest(), mirrortest.Mirrors(ok.URL, bad.URL), mirrortest.CutAfter(64 << 10)}
				}
				return []option{mirrortest.Status(503)}
			})))
			w.req.alone = true
		}, isRight},
	}
}

// endless are bodies that go on although a document says how long the file is (rule 15).
func endless() (all []torment) {
	for does, ranges := range map[string]bool{"sends more than was asked for": true,
		"does not end its body where the file ends": false} {
		ends := isRight
		if ranges {
			ends = fails(7, "longer")
		}
		all = append(all, torment{"15", "document: its server says no length and " + does, func(w *world) {
			address := w.listen(func(c net.Conn) {
				q, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				head, rest := ok, w.body
				if at, err := byterange.ParseRange(q.Header.Get("Range"), fileSize); ranges && err == nil && len(at) == 1 {
					head = fmt.Sprintf("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes %d-%d/%d\r\n", at[0].Start,
						at[0].End-1, fileSize)
					rest = rest[at[0].Start:at[0].End]
				}
				_, err = fmt.Fprintf(c, "%sConnection: close\r\n\r\n%s", head, rest)
				if !ranges { // a client that has all does not wait for more
					_, err = io.Copy(io.Discard, c)
				}
				for err == nil {
					_, err = c.Write(make([]byte, 64<<10))
				}
			})
			w.req.document = w.beside("doc.meta4", []byte(w.fill(doc(entry(fileName, good)), "http://"+address+"/"+fileName)))
			w.req.alone, w.limits.disk = true, fileSize+1<<20
		}, ends})
	}
	return all
}
