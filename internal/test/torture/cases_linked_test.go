//go:build linux

package torture

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"braid/internal/test/mirrortest"
	"braid/verify/openpgp"
)

const (
	meta4Type = "application/metalink4+xml"
	pgpType   = "application/pgp-signature"
)

// described is a server in order that describes a document, which another server has, with a mirror that is wrong: so the
// document matters.
func describing(kind string, options ...option) func(*world) {
	return func(w *world) {
		d := w.serve(options...)
		m := w.serve(mirrortest.Corrupt(everywhere()...))
		w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(m.URL),
			mirrortest.Link(fmt.Sprintf("<%s>; rel=describedby; type=%q", d.URL, kind))))
	}
}

// described are documents that a server names and that are not what they should be: they must not matter (rules 40, 41 and 46).
func described() (all []torment) {
	body := func(text string) option {
		return mirrortest.RawString(fmt.Sprintf("%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", ok, meta4Type,
			len(text), text))
	}
	for does, options := range map[string][]option{
		"is not there":              {mirrortest.Status(404)},
		"has no end":                {flood(ok+"\r\n"+xmlHead+metalink, "<x/>")},
		"has no end and no content": {flood(ok+"\r\n", " ")},
		"is 5 EiB long":             {mirrortest.RawString(ok + "Content-Length: 5764607523034234880\r\n\r\n<")},
		"goes silent":               {mirrortest.StallAfter(0)},
		"comes slowly":              {drip(ok+"\r\n"+xmlHead+metalink, "<x/>")},
		"is of another file": {body(doc(entry(fileName,
			`<hash type="sha-256">`+wrongHex+`</hash><url>http://127.0.0.1:1/</url>`)))},
		"has a DOCTYPE":       {body("<!DOCTYPE x [<!ENTITY a 'b'>]>" + doc())},
		"is nonsense":         {body("\x00\x01\x02nonsense")},
		"redirects in a loop": {mirrortest.Redirect("/file.bin")},
		"redirects to a file": {mirrortest.Redirect("file:///etc/passwd")},
		"has other pieces": {body(doc(entry(fileName,
			`<size>3145728</size><pieces type="sha-256" length="65536">`+strings.Repeat("<hash>"+wrongHex+"</hash>", 48)+
				`</pieces><url>http://127.0.0.1:1/</url>`)))},
	} {
		all = append(all, torment{"46", "describes a document that " + does, describing(meta4Type, options...), isRight})
	}
	answers := func(text string) func(*world) {
		return func(w *world) {
			s := w.ask(w.serve())
			s.Set(mirrortest.Header("Content-Type", meta4Type),
				mirrortest.Handler(page(w.fill(text, "http://"+s.Addr+"/file.bin"))))
			w.req.alone = true
		}
	}
	return append(all,
		torment{"41", "answers with a document without end in place of the file", func(w *world) {
			w.ask(w.serve(flood(ok+"Content-Type: "+meta4Type+"\r\n\r\n"+xmlHead+metalink, "<x/>")))
			w.req.alone = true
		}, fails(7, "8388608 bytes")},
		torment{"41", "answers with a document that leads to itself", answers(doc(entry(fileName, good))),
			want{refused, []int{4, 7, 8, 11}, ""}},
		torment{"10", "answers with a document whose file has a name with dots", answers(doc(entry("../evil", good))),
			fails(3, "")},
	)
}

// A signer can make signatures.
type signer struct {
	secret, public []byte
}

func newSigner(w *world, name string, config *packet.Config) signer {
	e, err := pgp.NewEntity(name, "", name+"@example.org", config)
	check(w.t, err)
	var secret, public bytes.Buffer
	check(w.t, e.Serialize(&public))
	check(w.t, e.SerializePrivateWithoutSigning(&secret, config))
	return signer{secret.Bytes(), public.Bytes()}
}

func (s signer) sign(w *world, data []byte, now time.Time) []byte {
	sig, err := openpgp.Sign(bytes.NewReader(data), s.secret, nil, now)
	check(w.t, err)
	return sig
}

// signed is a server in order that describes a signature, which has to be by alice.
func signed(make func(w *world, alice signer) option) func(*world) {
	return func(w *world) {
		alice := newSigner(w, "alice", &packet.Config{Algorithm: packet.PubKeyAlgoEd25519,
			Time: func() time.Time { return time.Now().Add(-time.Hour) }})
		s := w.serve(make(w, alice))
		w.ask(w.serve(mirrortest.Digest(), mirrortest.Link(fmt.Sprintf("<%s>; rel=describedby; type=%q", s.URL, pgpType))))
		w.req.flags = []string{"--keyring", w.beside("alice.pub", alice.public)}
	}
}

// signatures are signatures that are none, or bombs (rules 47 to 51).
func signatures() []torment {
	text := func(s string) func(*world, signer) option {
		return func(*world, signer) option {
			return mirrortest.RawString(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(s), s))
		}
	}
	by := func(o option) func(*world, signer) option { return func(*world, signer) option { return o } }
	with := func(f func(w *world, alice signer) []byte) func(*world) {
		return signed(func(w *world, alice signer) option { return text(string(f(w, alice)))(w, alice) })
	}
	return []torment{
		{"47", "signature: is good", with(func(w *world, a signer) []byte { return a.sign(w, w.body, time.Now()) }),
			isRight.says("OpenPGP signature by")},
		{"47", "signature: is not there", signed(by(mirrortest.Status(404))), fails(12, "404|signature")},
		{"47", "signature: is empty", signed(text("")), fails(12, "")},
		{"47", "signature: has no end", signed(by(flood(ok+"\r\n-----BEGIN PGP SIGNATURE-----\r\n\r\n", "AAAA"))),
			fails(14, "1048576 bytes")},
		{"47", "signature: has an armor header without end",
			signed(by(flood(ok+"\r\n-----BEGIN PGP SIGNATURE-----\r\n", "Comment: x\r\n"))), fails(14, "1048576 bytes")},
		{"47", "signature: is 5 EiB long", signed(by(mirrortest.RawString(ok +
			"Content-Length: 5764607523034234880\r\n\r\n-"))), fails(14, "1048576 bytes")},
		{"47", "signature: goes silent", signed(by(drip(ok+"Content-Length: 100\r\n\r\n-", ""))), fails(12, "stopped sending")},
		{"47", "signature: comes slowly", signed(by(drip(ok+"\r\n", "-"))), want{refused, []int{4, 12, 13},
			"signature|file.bin"}},
		{"47", "signature: is a page", signed(text("<html>404</html>")), want{refused, []int{10, 12}, ""}},
		{"47", "signature: is nonsense", signed(text("\xff\xff\xff\xff\xff\xff\xff")), fails(10, "")},
		{"47", "signature: has a packet of 4 GiB", signed(text("\xc2\xff\xff\xff\xff\xff")), fails(10, "")},
		{"47", "signature: is compressed data that grows", with(func(*world, signer) []byte { return bombPacket() }),
			fails(10, "")},
		{"47", "signature: is 10,000 signatures",
			with(func(w *world, a signer) []byte {
				return bytes.Repeat(binary(a.sign(w, w.body, time.Now())),
					10_000)
			}), want{refused, []int{10, 14}, ""}},
		{"47", "signature: is of another file",
			with(func(w *world, a signer) []byte { return a.sign(w, []byte("another"), time.Now()) }), fails(10, "")},
		{"47", "signature: is by nobody who counts", with(func(w *world, _ signer) []byte {
			return newSigner(w, "mallory", &packet.Config{Algorithm: packet.PubKeyAlgoEd25519}).sign(w, w.body,
				time.Now().Add(time.Second))
		}), fails(9, "unknown key")},
		{"47", "signature: is of tomorrow", with(func(w *world, a signer) []byte {
			return a.sign(w, w.body, time.Now().AddDate(0, 0, 1))
		}), fails(10, "future")},
		{"48", "signature: is by somebody else, and another one by alice", with(func(w *world, a signer) []byte {
			m := newSigner(w, "mallory", &packet.Config{Algorithm: packet.PubKeyAlgoEd25519})
			return append(m.sign(w, w.body, time.Now().Add(time.Second)), a.sign(w, w.body, time.Now())...)
		}), want{class: right}},
		{"50", "signature: is good, and the digest is wrong", func(w *world) {
			with(func(w *world, a signer) []byte { return a.sign(w, w.body, time.Now()) })(w)
			w.web[1].Set(mirrortest.Digest(anotherDigest()))
		}, fails(11, "")},
		{"61", "signature: is by a name with control characters", with(func(w *world, _ signer) []byte {
			m := newSigner(w, "mallory\x1b]0;pwned\a\u202e", &packet.Config{Algorithm: packet.PubKeyAlgoEd25519,
				Time: func() time.Time { return time.Now().Add(-time.Hour) }})
			w.beside("alice.pub2", m.public)
			return m.sign(w, w.body, time.Now())
		}), fails(9, "")},
	}
}

// torrents are torrents that are none, or bombs (rules 10, 41 and 42).
func torrents() (all []torment) {
	one := func(name, info string) string {
		return fmt.Sprintf("d8:url-list3:URL4:infod6:lengthi3145728e4:name%d:%s12:piece "+
			"lengthi3145728e6:pieces20:%s%see", len(name), name, strings.Repeat("p", 20), info)
	}
	file := func(text string) func(*world) {
		return func(w *world) {
			u := w.canary().URL
			w.req.document = w.beside("doc.torrent", []byte(strings.Replace(text, "3:URL", fmt.Sprintf("%d:%s", len(u), u), 1)))
			w.req.alone, w.req.names = true, []string{"none"}
		}
	}
	for does, c := range map[string]struct {
		text string
		code int
	}{
		"is empty":                 {"", 7},
		"is lists in lists":        {"d4:info" + strings.Repeat("l", 1_000_000), 7},
		"has a string of 5 EiB":    {"d4:info5764607523034234880:x", 7},
		"has a number without end": {"d4:infod6:lengthi" + strings.Repeat("9", 100_000), 7},
		"has a negative length":    {strings.Replace(one("x", ""), "i3145728e4:name", "i-1e4:name", 1), 7},
		"has pieces of length 0":   {strings.Replace(one("x", ""), "lengthi3145728e6", "lengthi0e6", 1), 7},
		"has too many pieces": {strings.Replace(one("x", ""), "20:"+strings.Repeat("p", 20),
			"40:"+strings.Repeat("p", 40), 1), 7},
		"goes on behind its end":                   {one("x", "") + "d", 7},
		"is cut":                                   {strings.TrimSuffix(one("x", ""), "ee"), 7},
		"has a name with dots":                     {one("../evil", ""), 3},
		"has an absolute name":                     {one("/etc/braid-evil", ""), 3},
		"has a name that leads through a link":     {one(way+"/evil", ""), 3},
		"has a name with control characters":       {one("e\x1b[31mvil", ""), 3},
		"has a name that turns the writing around": {one("e\u202evil", ""), 3},
		"has no name":                              {one("", ""), 3},
		"has the name of a device of Windows":      {one("NUL", ""), 3},
	} {
		all = append(all, torment{"41", "torrent: " + does, file(c.text), want{refused, []int{c.code, 7}, ""}})
	}
	return append(all, torment{"31", "torrent: has pieces of another file", func(w *world) {
		u := w.serve().URL
		w.req.document = w.beside("doc.torrent", []byte(strings.Replace(one(fileName, ""), "3:URL",
			fmt.Sprintf("%d:%s", len(u), u), 1)))
		w.req.alone = true
	}, want{refused, []int{11}, ""}}, torment{"31", "torrent: is in order", func(w *world) {
		u, sum := w.serve().URL, sha1.Sum(w.body)
		text := strings.Replace(one(fileName, ""), strings.Repeat("p", 20), string(sum[:]), 1)
		w.req.document = w.beside("doc.torrent", []byte(strings.Replace(text, "3:URL", fmt.Sprintf("%d:%s", len(u), u), 1)))
		w.req.alone = true
	}, isUnverified})
}
