package report

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/scheduler"
	"braid/verify"
)

// TestPage: each fact of a download is in the charts.
func TestPage(t *testing.T) {
	root := safe(t, page(drama()))
	rows := root.all("div", "row")
	if len(rows) != 7 { // six sources and the requests
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []struct {
		bars, quiet, pauses int
		marks               []string // their classes
		title               string
	}{
		{1, 0, 0, []string{"m-start"}, "it reached a range that another source is fetching"},
		{2, 0, 0, []string{"m-start", "m-start"}, "takes over part of the range of another"},
		{1, 1, 0, []string{"m-start", "m-start"}, "closed, because it added no speed"},
		{1, 1, 0, []string{"m-start", "m-bad"}, "it stopped sending"},
		{0, 0, 0, []string{"m-bad", "m-white"}, "dropped for wrong content: another digest"},
		{1, 0, 1, []string{"m-start", "m-cross"}, "connection reset"},
	} {
		row := rows[i]
		if got := [3]int{len(row.all("rect", "bar")), len(row.all("rect", "quiet")),
			len(row.all("line", "pause"))}; got != [3]int{want.bars, want.quiet, want.pauses} {
			t.Errorf("row %d has %d bars, quiet times and pauses, want %+v", i, got, want)
		}
		var marks []string
		row.walk(func(n *node) {
			if c := n.attr["class"]; strings.HasPrefix(c, "m-") {
				marks = append(marks, c)
			}
		})
		if strings.Join(marks, " ") != strings.Join(want.marks, " ") {
			t.Errorf("row %d has the marks %q, want %q", i, marks, want.marks)
		}
		if all := row.words(); !strings.Contains(all, want.title) || !strings.Contains(all, host(i)) {
			t.Errorf("row %d does not say %q: %s", i, want.title, all)
		}
	}
	if n := len(root.all("figure", "")); n != 3 {
		t.Errorf("%d pictures", n)
	}
	if n := len(root.all("path", "part")); n != 5 {
		t.Errorf("%d sources in the picture of the file", n)
	}
	if text := root.words(); !strings.Contains(text, "last byte") || !strings.Contains(text, "2 MiB/s") ||
		!strings.Contains(text, "40 MiB") {
		t.Errorf("no axes in %s", text)
	}
}

// TestQuickIsSmall: a quick download of a small file has text and no charts; a failed one has charts.
func TestQuickIsSmall(t *testing.T) {
	quick := func() *tale {
		tl := newTale(100 * kib)
		f := tl.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
		tl.answer(f)
		tl.bring(100*ms, 100*kib, f)
		tl.over(nil, f)
		return tl
	}
	html := page(quick().done(100 * kib))
	root := safe(t, html)
	if len(html) > 6*kib || len(root.all("svg", "")) > 0 || !strings.Contains(root.words(), "m0:80 sent 100 %") {
		t.Errorf("%d bytes:\n%s", len(html), html)
	}
	if root = safe(t, page(quick().fail(errors.New("x")))); len(root.all("figure", "")) != 3 {
		t.Error("a failure has no pictures")
	}
	if root = safe(t, page(quick().done(100*kib), drama())); len(root.all("figure", "")) != 3 {
		t.Error("one that took long has no pictures")
	}
}

var coordinates = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// TestPathsStayInside: no shape exceeds its chart.
func TestPathsStayInside(t *testing.T) {
	root := parse(t, page(drama()))
	for _, svg := range root.all("svg", "") {
		box := strings.Fields(svg.attr["viewBox"])
		if len(box) != 4 {
			continue
		}
		wide, _ := strconv.ParseFloat(box[2], 64)
		tall, _ := strconv.ParseFloat(box[3], 64)
		for _, p := range svg.all("path", "shade") {
			for _, m := range regexp.MustCompile(`M([0-9.]+) ([0-9.]+)|H([0-9.]+)|V([0-9.]+)`).FindAllStringSubmatch(p.attr["d"], -1) {
				for i, most := range []float64{wide, tall, wide, tall} {
					if x, err := strconv.ParseFloat(m[i+1], 64); err == nil && (x < 0 || x > most+0.01) {
						t.Errorf("%s is outside of %v", m[0], box)
					}
				}
			}
			if !coordinates.MatchString(p.attr["d"]) {
				t.Errorf("an empty path: %v", p.attr)
			}
		}
	}
}

func TestSameFactsSamePage(t *testing.T) {
	first := page(drama(), drama())
	for range 5 {
		if !bytes.Equal(first, page(drama(), drama())) {
			t.Fatal("two pages of the same facts differ")
		}
	}
}

// hostile are texts that may come from a server, a file system or an error.
var hostile = []string{
	`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `</title><script>alert(1)</script>`,
	`</style><svg onload=alert(1)>`,
	`javascript:alert(1)`, `{{.Title}}`, `]]><!--`, `--><b>`, "\x1b[31m\r\n\x00", "\u202egnp.exe",
	"\xff\xfe<a href=http://evil/>", `url(http://evil/)`,
	strings.Repeat("x<", 500), "&lt;script&gt;", "%s%d%!", "`${1}`", "\u2028</svg>",
}

// TestNothingHostileGetsThrough (rule 61): for all texts, the page has only the elements and attributes of the
// template, and no links.
func TestNothingHostileGetsThrough(t *testing.T) {
	for _, evil := range hostile {
		tl := newTale(2 * mib)
		tl.tell(
			download.Started{URL: evil, Path: "d/" + evil}, download.Note{Text: evil},
			download.RangeStarted{ID: 7, URL: evil, Host: evil, Range: byterange.Range{End: mib}, Fetch: 1,
				Why: scheduler.ReasonFirst},
			download.RangeAnswered{Fetch: 1, ID: 7, Host: evil}, download.SourceUp{ID: 7, URL: evil, Host: evil},
		)
		tl.open[1] = &told{id: 7}
		tl.bring(time.Second, 64*kib, 1)
		tl.tell(
			download.RangeEnded{Fetch: 1, ID: 7, Err: errors.New(evil)}, download.SourceDown{ID: 7, URL: evil,
				Host: evil, Err: errors.New(evil), Banned: true},
			download.SourceDown{ID: 8, URL: evil, Host: evil, Err: errors.New(evil), Gone: true},
			download.Restarted{Reason: evil}, download.Offered{File: metalink.File{Size: 1}},
		)
		err := &download.Error{Kind: download.Network, What: evil, Where: evil, Err: errors.New(evil),
			Hint: download.Hint(evil), Part: evil, Kept: 5}
		html := page(tl.fail(err), tl.fail(errors.New(evil)))
		safe(t, html)
		if strings.Contains(evil, "alert") && !bytes.Contains(html, []byte("alert(1)")) {
			t.Errorf("%q is not shown at all", evil)
		}
	}
}

// TestPageOfMany: a list of thousands has a line for each download, and charts of the most interesting ones.
func TestPageOfMany(t *testing.T) {
	var p Page
	for i := range 2000 {
		tl := newTale(mib)
		tl.tell(download.Started{URL: "http://h/f", Path: fmt.Sprintf("f%d.iso", i)})
		f := tl.ask(0, 0, mib, scheduler.ReasonFirst)
		tl.answer(f)
		tl.bring(200*ms, kib, f)
		tl.until(time.Duration(i%50+3) * 100 * ms)
		if i%500 == 250 {
			p.Add(tl.fail(errors.New("no such file")))
			continue
		}
		tl.over(nil, f)
		p.Add(tl.done(mib))
	}
	p.NotBegun = 3
	html := p.HTML()
	root := safe(t, html)
	if !strings.Contains(string(html), "<p>3 more of the downloads were not begun.</p>") {
		t.Error("nothing is said of those that were not begun")
	}
	if n := len(root.all("section", "")); n != maxSections {
		t.Errorf("%d downloads are drawn", n)
	}
	if n := len(root.all("tr", "")); n < 2000 {
		t.Errorf("%d lines", n)
	}
	for _, i := range []int{250, 750, 1250, 1750} {
		if !strings.Contains(string(html), fmt.Sprintf(">f%d.iso <span", i)) {
			t.Errorf("the failed download %d is not drawn", i)
		}
	}
	if !strings.Contains(string(html), ">f49.iso <span") || strings.Contains(string(html), ">f48.iso <span") {
		t.Error("it is not the longest ones that are drawn")
	}
	if len(html) > 2*mib {
		t.Errorf("%d bytes", len(html))
	}
	t.Logf("%d bytes", len(html))
}

// TestSmallestPages: downloads with almost no events have a page.
func TestSmallestPages(t *testing.T) {
	nothing := newTale(-1).fail(errors.New("no such host"))
	never := NewRecorder(time.Time{})
	never.End(time.Time{}, download.Result{}, errors.New("usage"))
	there := newTale(5)
	there.r.End(there.zero, download.Result{Path: "a", AlreadyComplete: true, Size: 5}, nil)
	empty := newTale(0)
	f := empty.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
	empty.until(ms).answer(f)
	empty.over(nil, f)
	for i, r := range []*Recorder{nothing, never, there.r, empty.done(0)} {
		root := safe(t, page(r))
		if n := len(root.all("section", "")); n != 1 {
			t.Errorf("%d: %d sections", i, n)
		}
	}
	safe(t, page())
}

// TestEveryReasonHasAText: a reason that is added to the scheduler later is not shown as an empty text.
func TestEveryReasonHasAText(t *testing.T) {
	for why := scheduler.Reason(1); why < 255; why++ {
		if why.String() != "" && starts[why].text == "" && cuts[why].text == "" {
			t.Errorf("no text for the reason %q", why)
		}
	}
}

// TestPlaces checks that the page lists the places where a digest was looked for, with the result of each, and that no
// markup in these texts takes effect.
func TestPlaces(t *testing.T) {
	tl := newTale(100 * kib)
	f := tl.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
	tl.answer(f)
	tl.bring(100*ms, 100*kib, f)
	tl.over(nil, f)
	sum, err := verify.ParseHex(verify.SHA256, strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	r := tl.r
	r.End(tl.zero.Add(tl.at), download.Result{Size: 100 * kib, Looked: verify.Finding{Places: []verify.Place{
		{URL: "http://m0/pub/"}, {URL: "http://m0/pub/SHA256SUMS", Claims: []verify.Claim{{Digest: sum}}},
		{URL: "http://m0/pub/\x1b<b>.sha256", Err: errors.New("<script>x</script>")},
	}}}, nil)
	root := safe(t, page(r))
	var said []string
	for _, d := range root.all("details", "") {
		for _, li := range d.all("li", "") {
			said = append(said, li.words())
		}
	}
	if want := []string{"http://m0/pub/: an index", "http://m0/pub/SHA256SUMS: sha-256",
		`http://m0/pub/\x1b<b>.sha256: <script>x</script>`}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
