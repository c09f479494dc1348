package metalink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeat returns before, n times element, and after. It replaces %d in element by the number of the copy.
func repeat(n int, element, before, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := range n {
		b.WriteString(strings.ReplaceAll(element, "%d", fmt.Sprint(i)))
	}
	return b.String() + after
}

// TestLimits_Rule41 checks for each limit of rule 41 that Parse accepts the largest allowed document and refuses the
// next larger one.
func TestLimits_Rule41(t *testing.T) {
	before, after, _ := strings.Cut(doc("|"), "|")
	root, _, _ := strings.Cut(before, "<file")
	sized := func(n int) string { // of exactly n units of UTF-16; comments are not one token
		const comment = "<!--0123456789-->"
		n -= len(before+after) + 1
		return wide("\ufeff"+before+strings.Repeat(comment, n/len(comment))+strings.Repeat(" ", n%len(comment))+after,
			binary.LittleEndian)
	}
	for name, tt := range map[string]struct {
		make func(n int) string
		most int
		want string
	}{
		"size": {sized, MaxSize / 2, "it is larger than 8 MiB"},
		"depth": {func(n int) string {
			return before + strings.Repeat("<x>", n-2) + strings.Repeat("</x>", n-2) + after
		}, maxDepth, "its elements are nested more than 32 deep"},
		"files": {func(n int) string { return repeat(n, `<file name="%d"/>`, root, "</metalink>") },
			maxFiles, "more than 10000 files"},
		"refused files": {func(n int) string { return repeat(n, `<file name="/%d"/>`, root, "</metalink>") },
			maxFiles, "more than 10000 files"},
		"URLs": {func(n int) string { return repeat(n, "<url>http://h/%d</url>", before, after) },
			maxURLs, `file "f": it has more than 5000 URLs`},
		"URLs that are ignored": {func(n int) string { return repeat(n, "<url/>", before, after) }, maxURLs,
			"more than 5000 URLs"},
		"meta URLs": {func(n int) string { return repeat(n-1, "<metaurl/>", before, "<url/>"+after) }, maxURLs,
			"more than 5000 URLs"},
		"token": {func(n int) string {
			return before + "<!--" + strings.Repeat("x", n-len("<!---->")) + "-->" +
				after
		}, maxToken, "a tag, comment or text has more than 1 MiB"},
		"attributes": {func(n int) string { return repeat(n, ` a%d=""`, before+"<x", "/>"+after) }, maxAttributes,
			"an element has more than 100 attributes"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.make(tt.most))
			if len(d.Files) > maxFiles || len(d.Refused) > maxFiles {
				t.Errorf("%d files, %d refused", len(d.Files), len(d.Refused))
			}
			wantFault(t, tt.make(tt.most+1), TooMuch, tt.want)
		})
	}
	if d := parse(t, repeat(3000, "<url>http://h/%d</url>", before,
		`</file><file name="g">`+repeat(3000, "<url>http://h/%d</url>", "", after))); len(d.Files) != 2 {
		t.Error("the URLs of two files are counted together")
	}
	many := parse(t, repeat(1000, `<signature/><pieces length="%d" type="md5"/>`, before, after))
	if n := len(many.Warnings); n != maxWarnings+1 || many.Warnings[maxWarnings] != "further warnings are omitted" {
		t.Errorf("%d warnings", n)
	}
}

// TestEndless_Rule41 checks that Parse stops reading an endless document at MaxSize (rule 41).
func TestEndless_Rule41(t *testing.T) {
	before, _, _ := strings.Cut(doc("|"), "|")
	r := &endless{text: "<os>x</os>"}
	_, err := Parse(io.MultiReader(strings.NewReader(before), r))
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != TooMuch || r.read > MaxSize+64<<10 {
		t.Errorf("%v after %d bytes", err, r.read)
	}
}

type endless struct {
	text string
	read int
}

func (r *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[(r.read+i)%len(r.text)]
	}
	r.read += len(p)
	return len(p), nil
}

// TestMemory_Rule41 checks that a parsed document needs at most 16 times the memory of its text, whatever elements it
// has (rule 41).
func TestMemory_Rule41(t *testing.T) {
	const size = 256 << 10
	before, after, _ := strings.Cut(doc("|"), "|")
	root, _, _ := strings.Cut(before, "<file")
	fill := func(element, before, after string) string {
		return repeat((size-len(before+after))/(len(element)+2), element, before, after)
	}
	urls := strings.Repeat("<url>http://h</url>", 1000)
	for name, s := range map[string]string{
		"signatures": fill(`<signature mediatype="a">x</signature>`, before, after),
		"warnings":   fill(`<signature/>`, before, after),
		"pieces": fill(`<hash>`+md5Zero+`</hash>`, before+`<size>1</size><pieces length="1" type="md5">`,
			"</pieces>"+after),
		"lists":         fill(`<pieces length="%d" type="md5"/>`, before, after),
		"systems":       fill(`<os>a</os>`, before, after),
		"attributes":    fill(`<x`+repeat(100, ` a%d=""`, "", "")+`/>`, before, after),
		"URLs":          fill(`<file name="%d">`+urls+`</file>`, root, "</metalink>"),
		"ignored URLs":  fill(`<file name="%d">`+strings.ReplaceAll(urls, "http:", "x:")+`</file>`, root, "</metalink>"),
		"refused files": repeat(maxFiles, `<file name="/%d">`+urls[:19*4]+`</file>`, root, "</metalink>"),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d := parse(t, s)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 16*int64(len(s)) {
			t.Errorf("%s: of a document of %d bytes %d are kept", name, len(s), kept)
		}
		runtime.KeepAlive(d)
		runtime.KeepAlive(s)
	}
}
