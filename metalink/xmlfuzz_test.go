package metalink

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"braid/verify"
)

// FuzzParse checks that Parse does not panic, that its result is within the limits, and that the result survives a
// round trip through Format. More seeds are in testdata/fuzz.
func FuzzParse(f *testing.F) {
	for _, name := range documents {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(wide("\ufeff"+doc("<size>1</size>"), binary.BigEndian)))
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, data []byte) {
	d, err := Parse(bytes.NewReader(data))
	if err != nil {
		checkError(t, err)
		return
	}
	if !Looks(data) {
		t.Fatal("a document that does not look like one")
	}
	checkDocument(t, d)
	checkKept(t, d.Files)
	if len(d.Files) > 0 {
		roundTrip(t, d)
	}
}

// FuzzFile is like FuzzParse for well-formed documents of both versions with arbitrary values.
func FuzzFile(f *testing.F) {
	f.Add("a/b.iso", "4", "sha-256", sha256Zero, "4", "http://u@h/a b?c#d", "de", "1", " <text>\r\n\u202e\x85&#xD; ", false)
	f.Add("../b", "4", "sha1", sha1Zero, "2", "rsync://h/a", "", "100", "application/pgp-signature", true)
	f.Add("con.txt", "-1", "md5", "0", "0", "ftp://[::1]:21/%7e%zz", "xyz", "-5", "2009-05-15T12:23:23.5+02:00", false)
	f.Add("f", "9223372036854775807", "tiger", "", "9223372036854775807", "HTTP://H?\"", "\xff", "1000000", "\x00", true)
	f.Fuzz(func(t *testing.T, name, size, alg, sum, length, target, location, priority, words string, three bool) {
		v := values{name, size, alg, sum, length, target, location, priority, words}
		var x xmlText
		if three {
			v.metalink3(&x)
		} else {
			v.metalink4(&x)
		}
		checkParse(t, x.Bytes())
	})
}

// An xmlText builds XML that is well-formed for any values.
type xmlText struct{ bytes.Buffer }

// tag writes a start tag with attributes, given as pairs of name and value.
func (x *xmlText) tag(name string, attributes ...string) {
	x.WriteString("<" + name)
	for pair := range slices.Chunk(attributes, 2) {
		x.WriteString(" " + pair[0] + `="`)
		xml.EscapeText(x, []byte(pair[1]))
		x.WriteString(`"`)
	}
	x.WriteString(">")
}

func (x *xmlText) element(name, text string, attributes ...string) {
	x.tag(name, attributes...)
	xml.EscapeText(x, []byte(text))
	x.WriteString("</" + name + ">")
}

// values are the values in the documents of FuzzFile. Each is used in many places.
type values struct{ name, size, alg, sum, length, target, location, priority, words string }

func (v values) metalink4(x *xmlText) {
	x.tag("metalink", "xmlns", namespace4)
	x.element("origin", v.target, "dynamic", "true")
	x.element("published", v.words)
	x.element("generator", v.words)
	for _, name := range []string{v.name, v.name + v.words} {
		x.tag("file", "name", name)
		v.common(x)
		x.element("publisher", "", "name", v.words, "url", v.target)
		x.element("metaurl", v.target, "mediatype", v.location, "name", v.name, "priority", v.priority)
		v.verification(x)
		x.element("url", v.target, "location", v.location, "priority", v.priority)
		x.element("url", v.words, "location", v.priority)
		x.WriteString("</file>")
	}
	x.WriteString("</metalink>")
}

func (v values) metalink3(x *xmlText) {
	x.tag("metalink", "xmlns", namespace3, "origin", v.target, "type", "dynamic", "pubdate", v.words, "generator", v.words)
	x.tag("files")
	for _, name := range []string{v.name, v.name + v.words} {
		x.tag("file", "name", name)
		v.common(x)
		x.tag("license")
		x.element("name", v.words)
		x.element("url", v.target)
		x.WriteString("</license>")
		x.tag("verification")
		v.verification(x)
		x.WriteString("</verification>")
		x.tag("resources", "maxconnections", v.priority)
		x.element("url", v.target, "location", v.location, "preference", v.priority)
		x.element("url", v.target, "type", "bittorrent")
		x.WriteString("</resources></file>")
	}
	x.WriteString("</files></metalink>")
}

// common writes the elements of a file that both versions have.
func (v values) common(x *xmlText) {
	for _, tag := range []string{"version", "identity", "os", "language", "description", "copyright", "logo"} {
		x.element(tag, v.words)
	}
	x.element("size", v.size)
}

func (v values) verification(x *xmlText) {
	x.tag("pieces", "length", v.length, "type", v.alg)
	x.element("hash", v.sum, "piece", "0")
	x.WriteString("</pieces>")
	x.element("hash", v.sum, "type", v.alg)
	x.element("signature", v.words, "mediatype", v.location, "type", v.location)
}

func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Line < 1 || e.Kind.String() == "unknown kind" {
		t.Fatalf("error %v of type %T", err, err)
	}
	for _, r := range e.Error() {
		if r < ' ' || r > '~' {
			t.Fatalf("unprintable: %q", e.Error())
		}
	}
}

func checkDocument(t *testing.T, d Document) {
	t.Helper()
	if len(d.Files)+len(d.Refused) == 0 || len(d.Files)+len(d.Refused) > maxFiles || len(d.Warnings) > maxWarnings+1 {
		t.Fatalf("%d files, %d refused, %d warnings", len(d.Files), len(d.Refused), len(d.Warnings))
	}
	names := map[string]bool{}
	for _, f := range d.Files {
		if names[f.Name] || !safe(f.Name) {
			t.Fatalf("the name %q", f.Name)
		}
		names[f.Name] = true
		checkFileRead(t, f)
		checkMetalink(t, f)
	}
}

func checkFileRead(t *testing.T, f File) {
	t.Helper()
	if f.Size < -1 || len(f.Mirrors)+len(f.Documents)+f.IgnoredCount > maxURLs || f.IgnoredCount < len(f.Ignored) {
		t.Fatalf("got %+v", f)
	}
	for _, p := range f.Pieces {
		if p.Size() != f.Size || p.Length() < 1 || int64(p.Count()) != (f.Size+p.Length()-1)/p.Length() && p.Length() < 1<<62 {
			t.Fatalf("%d pieces of %d for %d bytes", p.Count(), p.Length(), f.Size)
		}
	}
	for i, c := range f.Claims {
		h := c.Digest
		if i > 0 && h.Algorithm() >= f.Claims[i-1].Digest.Algorithm() || len(h.Bytes()) != h.Algorithm().Size() {
			t.Fatalf("hashes %v", f.Claims)
		}
	}
	for _, m := range f.Mirrors {
		checkPlace(t, m.URL.Scheme, m.URL.Host, m.Pri)
		if m.URL.User != nil || m.URL.Fragment != "" || m.Geo != "" && len(m.Geo) != 2 || m.Pref || m.Depth != 0 {
			t.Fatalf("mirror %+v", m)
		}
	}
	for _, m := range f.Documents {
		checkPlace(t, m.URL.Scheme, m.URL.Host, m.Pri)
		if m.Type == "" || m.Name != "" && !safe(m.Name) {
			t.Fatalf("meta URL %+v", m)
		}
	}
}

func checkPlace(t *testing.T, scheme, host string, priority int) {
	t.Helper()
	if !slices.Contains([]string{"http", "https", "ftp"}, scheme) || host == "" || priority < 1 || priority > NoPriority {
		t.Fatalf("%s://%s with priority %d", scheme, host, priority)
	}
}

// checkMetalink checks that f is within the limits of package metalink.
func checkMetalink(t *testing.T, f File) {
	t.Helper()
	if len(f.Mirrors) > MaxMirrors || len(f.Documents) > maxDocuments {
		t.Fatalf("%d mirrors, %d documents", len(f.Mirrors), len(f.Documents))
	}
	if f.NoDigest && (len(f.Mirrors) == 0 || verify.Strong(f.Claims)) {
		t.Fatalf("contradicts itself: %+v", f)
	}
}
