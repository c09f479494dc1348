//go:build linux

package torture

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"braid/internal/test/mirrortest"
	"braid/verify"
)

// anotherDigest is of no file here.
func anotherDigest() verify.Digest { return mirrortest.Generate(10, 99).Digest() }

const (
	xmlHead  = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	metalink = `<metalink xmlns="urn:ietf:params:xml:ns:metalink">`
	bare     = `<hash type="sha-256">HEX</hash><url>URL</url>`
	good     = `<size>SIZE</size>` + bare
	wrongHex = "0000000000000000000000000000000000000000000000000000000000000000"
)

// doc is a document of RFC 5854.
func doc(files ...string) string {
	return xmlHead + metalink + strings.Join(files, "\n") + "</metalink>\n"
}

// entry is a file of a document.
func entry(name, inner string) string { return `<file name="` + name + `">` + inner + `</file>` }

// fill puts the file's digest and size, and a server's URL, into a text.
func (w *world) fill(text, url string) string {
	return strings.NewReplacer("HEX", w.hex(), "B64", w.base64(), "SIZE", fmt.Sprint(len(w.body)), "URL", url, "HOST",
		hostPort(url), "OUTSIDE", w.yard.outside).Replace(text)
}

// reads is a document on disk, of which no server must be asked for anything.
func reads(text string) func(*world) {
	return func(w *world) { w.req.document = w.beside("doc.meta4", []byte(w.fill(text, w.canary().URL))) }
}

// follows is a document on disk about a server in order, or one that misbehaves.
func follows(text string, options ...option) func(*world) {
	return func(w *world) {
		w.req.document = w.beside("doc.meta4", []byte(w.fill(text, w.serve(options...).URL)))
	}
}

// written is a document that is too large to hold in memory here: an end is put after n parts.
func written(head, part string, n int, tail string) func(*world) {
	return func(w *world) {
		path := filepath.Join(w.yard.home, "doc.meta4")
		f, err := os.Create(path)
		check(w.t, err)
		defer f.Close()
		b := bufio.NewWriter(f)
		fmt.Fprint(b, w.fill(head, w.canary().URL))
		for i := range n {
			fmt.Fprint(b, strings.Replace(part, "NUMBER", fmt.Sprint(i), 1))
		}
		fmt.Fprint(b, tail)
		check(w.t, b.Flush())
		w.req.document = path
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// documents are Metalink documents that lie, or that are bombs (rules 41 to 46).
func documents() []torment {
	one := func(inner string) string { return doc(entry(fileName, inner)) }
	hash := func(kind, value string) string {
		return `<size>SIZE</size><hash type="` + kind + `">` + value + `</hash><url>URL</url>`
	}
	pieces := func(length string, hashes ...string) string {
		return good + `<pieces type="sha-256" length="` + length + `"><hash>` + strings.Join(hashes, "</hash><hash>") +
			`</hash></pieces>`
	}
	lol := `<!DOCTYPE m [<!ENTITY a "` + strings.Repeat("x", 1000) + `">`
	for c := 'b'; c < 'j'; c++ {
		lol += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	wide := utf16.Encode([]rune(strings.Replace(one(good), "UTF-8", "UTF-16", 1)))
	return []torment{
		{"41", "document: is in order", follows(one(good)), isRight},
		{"41", "document: is in UTF-16", func(w *world) {
			text := w.fill(string(utf16.Decode(wide)), w.serve().URL)
			b := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(text)) {
				b = append(b, byte(u), byte(u>>8))
			}
			w.req.document = w.beside("doc.meta4", b)
		}, isRight},
		{"41", "document: has a DOCTYPE", reads(xmlHead + `<!DOCTYPE metalink>` + metalink + entry(fileName, good) +
			`</metalink>`), fails(7, "DOCTYPE")},
		{"41", "document: has entities that grow to 100 GB",
			reads(xmlHead + lol + `]>` + metalink + entry(fileName, `<identity>&i;</identity>`+good) + `</metalink>`),
			fails(7, "DOCTYPE")},
		{"41", "document: has an entity that is a file",
			reads(xmlHead + `<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + metalink + entry("&e;", good) +
				`</metalink>`), fails(7, "DOCTYPE")},
		{"41", "document: has an entity of nowhere", reads(one(`<identity>&nosuch;</identity>` + good)), fails(7, "")},
		{"41", "document: is 1000 elements deep",
			reads(one(good + strings.Repeat("<x>", 1000) + strings.Repeat("</x>", 1000))), fails(7, "deep")},
		{"41", "document: is 5,000,000 elements deep", written(xmlHead+metalink, "<x>", 2_000_000, ""), fails(7, "deep")},
		{"41", "document: has 10,001 files", written(xmlHead+metalink,
			entry("NUMBER", "<url>http://127.0.0.1:1/</url>"), 10_001, "</metalink>"), fails(7, "10,?000")},
		{"41", "document: has 1,000,000 files", written(xmlHead+metalink, entry("NUMBER", ""), 1_000_000,
			"</metalink>"), fails(7, "")},
		{"41", "document: has a file with 5,001 URLs", written(xmlHead+metalink+`<file name="file.bin">`,
			"<url>http://127.0.0.1:1/NUMBER</url>", 5_001, "</file></metalink>"), fails(7, "5,?000")},
		{"41", "document: has 60 MiB of spaces", written(xmlHead+metalink, strings.Repeat(" ", 1<<20), 60,
			"</metalink>"), fails(7, "1 MiB")},
		{"41", "document: has an attribute of 60 MiB", written(xmlHead+metalink+`<file name="`,
			strings.Repeat("x", 1<<20), 60, `"/></metalink>`), fails(7, "1 MiB")},
		{"41", "document: has 1,000,000 attributes", written(xmlHead+metalink+`<file name="file.bin"`, ` aNUMBER="x"`,
			600_000, `/></metalink>`), fails(7, "")},
		{"41", "document: is cut", reads(strings.TrimSuffix(one(good), "</metalink>\n")), fails(7, "")},
		{"41", "document: goes on behind its end", reads(one(good) + "<more/>"), fails(7, "")},
		{"41", "document: is of another namespace", reads(strings.Replace(one(good), "urn:ietf", "urn:other", 1)), fails(7, "")},
		{"41", "document: is in Latin-1", reads(strings.Replace(one(good), "UTF-8", "ISO-8859-1", 1)), fails(7, "")},
		{"41", "document: has bytes that are no UTF-8", reads(one("<identity>\xff\xfe</identity>" + good)), fails(7, "")},
		{"41", "document: is empty", reads(""), fails(7, "")},
		{"41", "document: is a page", reads("<!doctype html><title>404</title>"), fails(7, "")},
		{"41", "document: has no files", reads(doc()), fails(7, "")},
		{"41", "document: is gzip", reads("\x1f\x8b\x08\x00\x00\x00\x00\x00"), fails(7, "")},
		{"42", "document: has a negative size", reads(one(bare + "<size>-1</size>")), fails(7, "size")},
		{"42", "document: has a size beyond 64 bits", reads(one(bare + "<size>99999999999999999999</size>")), fails(7, "size")},
		{"42", "document: has a size that is a word", reads(one(bare + "<size>big</size>")), fails(7, "size")},
		{"42", "document: has another size than the server", follows(one(bare + "<size>77</size>")), fails(11, "size|bytes")},
		{"7", "document: has a size beyond every disk", reads(one(bare + "<size>4611686018427387904</size>")),
			want{refused, []int{3, 11}, ""}},
		{"42", "document: has pieces of length 0", follows(one(pieces("0", wrongHex))), isRight.says("piece")},
		{"42", "document: has pieces of negative length", follows(one(pieces("-9", wrongHex))), isRight.says("piece")},
		{"42", "document: has too few pieces", follows(one(pieces("1000", wrongHex))), isRight.says("piece")},
		{"42", "document: has pieces that contradict its hash", reads(one(pieces("3145728", wrongHex))),
			want{refused, []int{7, 11}, ""}},
		{"42", "document: has pieces of one byte",
			written(xmlHead+metalink+
				`<file name="file.bin"><size>100000000000</size><pieces type="sha-256" length="1">`,
				"<hash>"+wrongHex+"</hash>", 50_000, "</pieces><url>URL</url></file></metalink>"), fails(4, "")},
		{"43", "document: has no hash", follows(one("<size>SIZE</size><url>URL</url>")), isUnverified},
		{"43", "document: has an MD5 only, of another file", follows(one(hash("md5", wrongHex[:32]))), fails(11, "md5")},
		{"43", "document: has a hash of another file", follows(one(hash("sha-256", wrongHex))), fails(11, "sha-256")},
		{"43", "document: has a hash that is too short", reads(one(hash("sha-256", "abcd"))), fails(7, "")},
		{"43", "document: has a hash that is no hex", reads(one(hash("sha-256", strings.Repeat("x", 64)))), fails(7, "")},
		{"43", "document: has an empty hash", reads(one(hash("sha-256", ""))), fails(7, "")},
		{"43", "document: has two hashes of one kind",
			reads(one(`<hash type="sha-256">` + wrongHex + `</hash>` + good)), fails(7, "")},
		{"44", "document: has a name twice", reads(doc(entry(fileName, good), entry(fileName, good))), fails(7, "twice|name")},
		{"44", "document: has a name twice, in two spellings",
			follows(doc(entry(fileName, good), entry("./"+fileName, good))), want{refused, []int{3, 7}, ""}},
		{"45", "document: has no URL", reads(one(`<hash type="sha-256">HEX</hash>`)), fails(4, "")},
		{"45", "document: has URLs of other schemes only",
			reads(one(`<size>SIZE</size><hash type="sha-256">HEX</hash><url>file:///etc/passwd</url><url>data:,x</url><url>javascript:x</url><url>gopher://127.0.0.1/</url>`)), fails(4, "")},
		{"45", "document: has a URL of a file first", follows(one(`<url priority="1">file:///etc/passwd</url>` + good)), isRight},
		{"45", "document: has a torrent on disk",
			follows(one(`<metaurl mediatype="torrent">file:///etc/passwd</metaurl>` + good)), isRight},
		{"45", "document: has itself as its origin", follows(doc(`<origin dynamic="true">URL</origin>`,
			entry(fileName, good))), isRight},
		{"45", "document: leads to a server with nothing", follows(one(good), mirrortest.Status(404)), fails(8, "404")},
		{"13", "document: leads to a server with wrong bytes", follows(one(good), mirrortest.Corrupt(100)), fails(11, "")},
		{"61", "document: has control characters in its texts",
			follows(one(`<identity>&#x9b;31m</identity><description>&#x202e;evil&#x9d;0;x</description>` + good)), isRight},
	}
}

// names are names that lead elsewhere (rules 5, 10 to 12 and 44).
func names() (all []torment) {
	for _, name := range []string{
		"../evil", "../../evil", "a/../../evil", "OUTSIDE/evil", "/etc/braid-evil", way + "/evil",
		"evil&#x202e;txt.exe", "a\\..\\..\\evil", "C:evil", "C:\\evil",
		"~/evil", "CON", "aux.txt", "evil.", "evil ", ".bashrc", "a//evil", "./evil", "", ".", "..", "a/",
		"&#x9b;31mevil", strings.Repeat("n", 300), "d/" + strings.Repeat("n", 256),
		"evil&#10;x", "com1.tar.gz", "NUL.txt", "evil&#x7f;", "nul",
	} {
		rule := "10"
		if strings.HasPrefix(name, way) {
			rule = "5"
		}
		all = append(all, torment{rule, fmt.Sprintf("document: names a file %.40q", name), func(w *world) {
			reads(doc(entry(name, good)))(w)
			w.req.names = []string{"none"}
		}, want{refused, []int{3, 7}, ""}})
	}
	all = append(all, torment{"10", "document: names one file well and one badly", func(w *world) {
		follows(doc(entry("fine.bin", good), entry("../evil", good)))(w)
		w.req.names = []string{"fine.bin", "other.bin"}
	}, fails(3, "")})
	for _, path := range []string{
		"", "..", "%2e%2e", "%2e%2e%2f%2e%2e%2fevil", "a%2f..%2fevil", "evil%00", "evil%0a", "a%5cevil", "CON", "evil.",
		"evil%20", ".bashrc", "~", "C:", "%ff%fe", "%e2%80%aeevil", "%1b%5b31m",
		strings.Repeat("n", 300), "%9b31m", "aux.txt",
	} {
		all = append(all, torment{"12", fmt.Sprintf("its URL ends in %.40q", path), func(w *world) {
			w.req.urls = []string{"http://" + w.canary().Addr + "/" + path}
			w.req.noName, w.req.names, w.req.alone = true, []string{"none"}, true
		}, fails(2, "")})
	}
	for _, value := range []string{`attachment; filename="../../evil"`, `attachment; filename=/etc/braid-evil`,
		`attachment; filename*=UTF-8''%2e%2e%2fevil`, "attachment; filename=.bashrc", `attachment; filename="evil.exe"`,
		"inline; filename=" + way} {
		all = append(all, torment{"11", "sends Content-Disposition: " + value, func(w *world) {
			w.ask(w.serve(mirrortest.Header("Content-Disposition", value)))
			w.req.noName = true
		}, isUnverified})
	}
	return append(all, targets()...)
}

// targets are things under the final name, or under the name that a client works with, before it begins (rules 1 and 4).
func targets() (all []torment) {
	for does, f := range map[string]func(w *world, path string) error{
		"a symbolic link out of the folder": func(w *world, path string) error {
			return os.Symlink(filepath.Join(w.yard.outside, neighbour), path)
		},
		"a symbolic link to nowhere": func(w *world, path string) error {
			return os.Symlink(filepath.Join(w.yard.outside, "new"), path)
		},
		"a folder": func(w *world, path string) error { return os.Mkdir(path, 0o755) },
		"a second name of a neighbour": func(w *world, path string) error {
			return os.Link(filepath.Join(w.yard.outside, neighbour), path)
		},
	} {
		for _, at := range []string{fileName, fileName + ".part", fileName + ".part.journal"} {
			then := fails(3, "")
			if at == fileName && strings.HasPrefix(does, "a second name") {
				then = isUnverified // only this name is replaced
			}
			rule := "4"
			if at != fileName {
				rule = "1"
			}
			all = append(all, torment{rule, "at " + at + " there is " + does, func(w *world) {
				w.req.urls = []string{mirrortest.New(w.t, content).URL} // which may be asked or not
				w.req.flags = []string{"--overwrite"}
				check(w.t, f(w, filepath.Join(w.yard.work, at)))
			}, then})
		}
	}
	return all
}
