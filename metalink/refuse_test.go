package metalink

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// wantFault checks that Parse returns an *Error of this kind whose text contains message.
func wantFault(t *testing.T, document string, kind Kind, message string) {
	t.Helper()
	d, err := Parse(strings.NewReader(document))
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind || !strings.Contains(err.Error(), message) {
		t.Errorf("got  %v (%T)\nwant %v: %s\nin   %.300s", err, err, kind, message, document)
	}
	if len(d.Files) > 0 {
		t.Errorf("files of a document that is wrong: %+v", d.Files)
	}
}

// wide returns s in UTF-16.
func wide(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// TestRefused_Rule41 checks which documents Parse refuses as a whole, apart from limits (rule 41).
func TestRefused_Rule41(t *testing.T) {
	good := doc("")
	for name, tt := range map[string]struct {
		document string
		kind     Kind
		message  string
	}{
		"empty":           {"", Foreign, "line 1: it is empty"},
		"white space":     {" \n", Foreign, "line 2: it is empty"},
		"other namespace": {"<metalink/>", Foreign, `its root is "metalink" in the namespace ""`},
		"namespace by prefix": {strings.ReplaceAll(good, "xmlns=", "xmlns:x="), Foreign,
			`its root is "metalink" in the namespace ""`},
		"almost the namespace": {strings.ReplaceAll(good, namespace4, namespace4+"/"), Foreign, "its root is"},
		"other root": {strings.ReplaceAll(good, "metalink xmlns", "metalinks xmlns"), Foreign,
			`its root is "metalinks"`},
		"HTML":    {"<html>\n<body></body></html>", Foreign, `line 1: its root is "html" in the namespace ""`},
		"not XML": {"d8:announce", Syntax, "it has text outside its root element"},
		"no file": {`<metalink xmlns="` + namespace4 + `"><generator>x</generator></metalink>`, Foreign,
			"it describes no file"},
		"files elsewhere": {`<metalink xmlns="` + namespace3 + `"><file name="f"/></metalink>`, Foreign,
			"it describes no file"},
		"files of 3 in 4": {strings.ReplaceAll(doc3(""), namespace3, namespace4), Foreign, "it describes no file"},
		"DOCTYPE":         {"<!DOCTYPE metalink>\n" + good, Syntax, "line 1: it has a DOCTYPE"},
		"entities": {`<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + doc("&b;"), Syntax,
			"it has a DOCTYPE"},
		"external entity":       {`<!DOCTYPE m SYSTEM "file:///etc/passwd">` + good, Syntax, "it has a DOCTYPE"},
		"DOCTYPE inside":        {doc("<!DOCTYPE x>"), Syntax, "it has a DOCTYPE"},
		"DOCTYPE after":         {good + "<!DOCTYPE x>", Syntax, "it has a DOCTYPE"},
		"undeclared entity":     {doc("<version>&nbsp;</version>"), Syntax, "invalid character entity &nbsp;"},
		"cut in a tag":          {"\n" + good[:len(good)-4], Syntax, "line 2: it is cut off"},
		"cut between tags":      {good[:len(good)-len("</metalink>")], Syntax, "it is cut off"},
		"no end tag":            {doc("<version>1"), Syntax, "element <version> closed by </file>"},
		"cut in a name":         {`<metalink xmlns="urn:ie`, Syntax, "it is cut off"},
		"cut in a comment":      {good + "<!-- ", Syntax, "it is cut off"},
		"another document":      {good + good, Syntax, "data follows its end"},
		"text after":            {good + "\nx", Syntax, "line 2: it has text outside its root element"},
		"text before":           {"x" + good, Syntax, "it has text outside its root element"},
		"NUL after":             {good + "\x00", Charset, "it has the character U+0000"},
		"declaration after":     {good + `<?xml version="1.0"?>`, Syntax, "its XML declaration is not at the beginning"},
		"declaration late":      {" " + `<?xml version="1.0"?>` + good, Syntax, "its XML declaration is not at the beginning"},
		"XML 1.1":               {`<?xml version="1.1"?>` + good, Syntax, `unsupported version \"1.1\"`},
		"tags crossed":          {doc("<version><os></version></os>"), Syntax, "element <os> closed by"},
		"tags crossed, unknown": {doc("<x><y></x></y>"), Syntax, "element <y> closed by </x>"},
		"no quotes":             {doc("<x y=z/>"), Syntax, "unquoted or missing attribute value"},
		"attribute twice": {`<metalink xmlns="` + namespace4 + `"><file name="a" name="b"/></metalink>`, Syntax,
			`two attributes "name"`},
		"element in text": {doc("<url>http://h/<b>x</b></url>"), Syntax, `an element "b" in place of text`},
		"Latin-1, declared": {`<?xml version="1.0" encoding="ISO-8859-1"?>` + good, Charset,
			`it is in "ISO-8859-1", neither UTF-8 nor UTF-16`},
		"Latin-1":               {doc("<copyright>\n\xa9</copyright>"), Charset, "line 2, file \"f\": it is not UTF-8"},
		"Latin-1 in a comment":  {doc("<!-- \xa9 -->"), Charset, "it is not UTF-8"},
		"Latin-1 in a tag":      {doc("<x y=\"\xa9\"/>"), Charset, "it is not UTF-8"},
		"Latin-1 after":         {good + "<?x \xa9?>", Charset, "it is not UTF-8"},
		"surrogates in UTF-8":   {doc("\xed\xa0\x80"), Charset, "it is not UTF-8"},
		"control character":     {doc("<version>\x1b[2J</version>"), Charset, "the character U+001B"},
		"not a character":       {doc("\uffff"), Charset, "the character U+FFFF"},
		"UTF-32":                {"\xff\xfe\x00\x00<\x00\x00\x00", Charset, "the character U+0000"},
		"UTF-16 without a mark": {wide(good, binary.LittleEndian), Charset, "the character U+0000"},
		"UTF-16 in name only": {`<?xml version="1.0" encoding="utf-16"?>` + good, Charset,
			"declares UTF-16 but has no byte order mark"},
		"UTF-16, half":      {wide("\ufeff"+good, binary.LittleEndian) + "\n", Charset, "only one byte"},
		"UTF-16, lone high": {wide("\ufeff"+doc(""), binary.BigEndian) + "\xd8\x00\x00 ", Charset, "half of a surrogate pair"},
		"UTF-16, lone low":  {wide("\ufeff"+doc(""), binary.BigEndian) + "\xdc\x00\x00 ", Charset, "half of a surrogate pair"},
		"UTF-16, ends high": {wide("\ufeff"+doc(""), binary.BigEndian) + "\xd8\x00", Charset, "half of a surrogate pair"},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, tt.document, tt.kind, tt.message) })
	}
}

// TestCutAnywhere_Rule41 checks that Parse returns an error for a document that is cut off at any byte.
func TestCutAnywhere_Rule41(t *testing.T) {
	for _, s := range []string{doc("<size>1</size>"), wide("\ufeff"+doc3("<!-- c --><size>1</size>"), binary.LittleEndian)} {
		parse(t, s)
		for n := range len(s) {
			if d, err := Parse(strings.NewReader(s[:n])); err == nil {
				t.Fatalf("%d of %d bytes are a document: %+v", n, len(s), d)
			}
		}
	}
}

// TestAccepted_Rule41 checks the encodings that Parse accepts, and what may come before and after the root element.
func TestAccepted_Rule41(t *testing.T) {
	want := textOf(parse(t, doc("<version>\u00e9\U0001f600</version>")))
	body := doc("<version>\u00e9\U0001f600</version>")
	for name, s := range map[string]string{
		"declared":        `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + body,
		"lower case":      `<?xml version='1.0' encoding='utf-8'?>` + "\r\n" + body,
		"byte order mark": "\ufeff" + `<?xml version="1.0"?>` + body,
		"white space":     "\n\t" + body + "\r\n ",
		"comments":        "<!-- a --><?x y?>" + body + "<!-- b --><?x y?>",
		"UTF-16LE":        wide("\ufeff"+`<?xml version="1.0" encoding="UTF-16"?>`+body, binary.LittleEndian),
		"UTF-16BE":        wide("\ufeff"+`<?xml version="1.0" encoding="utf-16be"?>`+body, binary.BigEndian),
		"UTF-16, no more": wide("\ufeff"+body, binary.BigEndian),
		"references":      doc("<version>&#233;&#x1F600;</version>"),
		"CDATA":           doc("<version><![CDATA[\u00e9]]>\U0001f600</version>"),
		"comment inside":  doc("<version>\u00e9<!-- x -->\U0001f600</version>"),
		"prefix": `<q:metalink xmlns:q="` + namespace4 + `"><q:file name="f"><q:version>` +
			"\u00e9\U0001f600" + `</q:version></q:file></q:metalink>`,
	} {
		if got := textOf(parse(t, s)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestReaderFails checks that Parse returns an error of the reader as it is, not as an *Error.
func TestReaderFails(t *testing.T) {
	s := doc("<size>1</size>")
	broken := errors.New("broken line")
	for n := range len(s) + 1 {
		_, err := Parse(io.MultiReader(strings.NewReader(s[:n]), iotest.ErrReader(broken)))
		if _, ok := errors.AsType[*Error](err); ok || !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	if _, err := Parse(iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(s)))); err != nil {
		t.Error(err)
	}
}

// TestContradictions_Rule42_Rule43_Rule44 checks the invalid and contradictory values for which Parse refuses a
// document (rules 42 to 44).
func TestContradictions_Rule42_Rule43_Rule44(t *testing.T) {
	hash := func(alg, sum string) string { return `<hash type="` + alg + `">` + sum + "</hash>" }
	onePiece := "<size>5</size>" + `<pieces length="9" type="sha-256">` + "<hash>" + sha256Zero + "</hash></pieces>"
	two := strings.Replace(doc("\n"), "</file>", `</file>`+"\n"+`<file name="f"/>`, 1)
	for name, tt := range map[string]struct {
		document string
		kind     Kind
		message  string
	}{
		"size, negative":     {doc("\n<size>-1</size>"), Invalid, `line 2, file "f": its size "-1" is not a number`},
		"size, minus 0":      {doc("<size>-0</size>"), Invalid, `its size "-0" is not a number`},
		"size, sign":         {doc("<size>+1</size>"), Invalid, `its size "+1" is not a number`},
		"size, text":         {doc("<size>5 MB</size>"), Invalid, `its size "5 MB" is not a number`},
		"size, hexadecimal":  {doc("<size>0x10</size>"), Invalid, `its size "0x10" is not a number`},
		"size, fraction":     {doc("<size>1.0</size>"), Invalid, `its size "1.0" is not a number`},
		"size, other digits": {doc("<size>\u0661</size>"), Invalid, `its size "\u0661" is not a number`},
		"size, empty":        {doc("<size/>"), Invalid, `its size "" is not a number`},
		"size, 2^63":         {doc("<size>9223372036854775808</size>"), Invalid, "is not a number of bytes below 2^63"},
		"size, far beyond":   {doc("<size>" + strings.Repeat("9", 1000) + "</size>"), Invalid, `999..." is not a number`},
		"size, two":          {doc("<size>1</size><size>2</size>"), Conflict, "it has two different sizes, 1 and 2"},
		"size, Metalink 3":   {doc3("<size>-1</size>"), Invalid, `file "f": its size "-1"`},
		"hash, short":        {doc("\n\n" + hash("sha-256", sha256Zero[1:])), Invalid, `line 3, file "f": its hash "000`},
		"hash, long":         {doc(hash("md5", md5Zero+"00")), Invalid, "md5 has 34 characters, want 32 hexadecimal digits"},
		"hash, of another":   {doc(hash("sha-256", sha1Zero)), Invalid, "sha-256 has 40 characters"},
		"hash, alphabet":     {doc(hash("sha-1", "x"+sha1Zero[1:])), Invalid, "sha-1 is not hexadecimal"},
		"hash, space inside": {doc(hash("sha-1", sha1Zero[:20]+" "+sha1Zero[21:])), Invalid, "sha-1 is not hexadecimal"},
		"hash, empty":        {doc(hash("sha-512", "")), Invalid, "sha-512 has 0 characters"},
		"hash, base64": {doc(hash("sha-256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")), Invalid,
			"sha-256 has 44 characters"},
		"hash, two values": {doc(hash("sha-256", sha256Zero) + hash("sha-256", sha256One)), Conflict,
			"two different sha-256 digests, 000"},
		"hash, two names": {doc(hash("sha-256", sha256Zero) + hash("SHA256", sha256One)), Conflict,
			"two different sha-256 digests, 000"},
		"hash, weak": {doc(hash("md5", md5Zero) + hash("sha-256", sha256Zero) + hash("md5", md5One)),
			Conflict, "two different md5 digests, 000"},
		"hash, Metalink 3": {doc3("<verification>" + hash("sha1", sha1Zero) + hash("sha1", sha1One) +
			"</verification>"), Conflict, "two different sha-1 digests, 000"},
		"hash, two places": {doc3("<verification>" + hash("sha1", sha1Zero) + "</verification><verification>" +
			hash("sha1", sha1One) + "</verification>"), Conflict, "two different sha-1 digests, 000"},
		"name twice": {two, Conflict, `line 3, file "f": a file of this name is already described in line 1`},
		"only piece": {doc(hash("sha-256", sha256One) + onePiece), Conflict, "its sha-256 is 111"},
		"two lists": {doc(onePiece + strings.Replace(onePiece, sha256Zero, sha256One, 1)), Conflict,
			"two lists differ in the sha-256 of its pieces"},
		"in a file left out": {strings.Replace(doc("<size>x</size>"), `name="f"`, `name="/f"`, 1), Invalid,
			`file "/f": its size "x"`},
		"escaped in a message": {doc("<size>\u202e\u009b2J</size>"), Invalid, `its size "\u202e\u009b2J" is not`},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, tt.document, tt.kind, tt.message) })
	}
}

// TestRepetitions checks that a value may be repeated and that unknown elements and algorithms are ignored.
func TestRepetitions(t *testing.T) {
	wantText(t, parse(t, doc(`
		<size>0009223372036854775807</size><size>9223372036854775807</size>
		<hash type="sha-256"> `+strings.ToUpper(sha256One)+` </hash><hash type="sha256">`+sha256One+`</hash>
		<hash type="sha-384">zz</hash><hash type="">zz</hash><hash>zz</hash>
		<version>1</version><version>2</version><os/><os>a</os><publisher/><publisher name="p"/><publisher name="q"/>
		<unknown><size>5</size></unknown><size xmlns="x">5</size>`)), `
		file f
		size 9223372036854775807
		sha-256 11111111
		warning line 4: hash ignored: it has no type, which names its algorithm
		warning line 4: hash ignored: it has no type, which names its algorithm`)
}

// TestLineOfAnError checks that an *Error has the line of the wrong element or, in a long text, of the wrong character.
func TestLineOfAnError(t *testing.T) {
	for inside, want := range map[string]int{
		"\n\n<description>a\nb\nc\x01</description>": 5,
		"\n\n<description>a\nb\nc":                   5,
		"\n\n<size>-1</size>\n":                      3,
		"\n&#0;\x15":                                 2,
	} {
		_, err := Parse(strings.NewReader(doc(inside)))
		if e, ok := errors.AsType[*Error](err); !ok || e.Line != want {
			t.Errorf("%q: %v, want line %d", inside, err, want)
		}
	}
}
