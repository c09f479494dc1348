package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
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
	"braid/source"
	"braid/verify"
)

const (
	ms  = time.Millisecond
	kib = 1 << 10
	mib = 1 << 20
)

// tale is an invented download whose events go to a recorder.
type tale struct {
	r       *Recorder
	zero    time.Time
	at      time.Duration
	fetches int
	open    map[int]*told // by fetch
}

// told is the state of a running fetch of a tale.
type told struct {
	id  int
	pos int64
	n   int64
}

func newTale(size int64) *tale {
	zero := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	t := &tale{r: NewRecorder(zero), zero: zero, open: map[int]*told{}}
	t.tell(download.Started{URL: "http://origin/a.iso", Path: "d/a.iso"}, download.Offered{File: metalink.File{Size: size}})
	return t
}

// until sets the time.
func (t *tale) until(at time.Duration) *tale {
	t.at = at
	return t
}

func (t *tale) tell(events ...download.Event) {
	for _, ev := range events {
		t.r.Observe(t.zero.Add(t.at), ev)
	}
}

func host(id int) string { return "m" + strconv.Itoa(id) + ":80" }
func link(id int) string { return "http://" + host(id) + "/a.iso" }

// ask begins a fetch and returns its number.
func (t *tale) ask(id int, from, to int64, why scheduler.Reason) int {
	t.fetches++
	t.tell(download.RangeStarted{ID: id, URL: link(id), Host: host(id), Range: byterange.Range{Start: from, End: to},
		Fetch: t.fetches, Why: why})
	t.open[t.fetches] = &told{id: id, pos: from}
	return t.fetches
}

// answer answers fetches now.
func (t *tale) answer(fetches ...int) {
	for _, f := range fetches {
		t.tell(download.RangeAnswered{Fetch: f, ID: t.open[f].id, Host: host(t.open[f].id), RTT: 20 * ms})
	}
}

// bring delivers n bytes of each fetch every 100 ms, until a time.
func (t *tale) bring(until time.Duration, n int64, fetches ...int) {
	for t.at < until {
		t.at += 100 * ms
		var b download.Brought
		for _, f := range fetches {
			o := t.open[f]
			b.Pieces = append(b.Pieces, download.Piece{Fetch: f, Range: byterange.Range{Start: o.pos, End: o.pos + n}})
			o.pos, o.n = o.pos+n, o.n+n
		}
		t.tell(b)
	}
}

// cut ends or shortens a fetch.
func (t *tale) cut(f int, end int64, ended bool, why scheduler.Reason) {
	t.tell(download.RangeCut{Fetch: f, ID: t.open[f].id, Host: host(t.open[f].id), End: end, Ended: ended, Why: why})
}

// over ends fetches.
func (t *tale) over(err error, fetches ...int) {
	for _, f := range fetches {
		o := t.open[f]
		t.tell(download.RangeEnded{Fetch: f, ID: o.id, Host: host(o.id), Bytes: o.n, Err: err})
		delete(t.open, f)
	}
}

// done ends the download successfully.
func (t *tale) done(size int64) *Recorder {
	t.tell(download.Complete{Size: size})
	t.at += 12 * ms
	t.tell(download.Verified{Proof: verify.Unchecked(size)})
	t.at += 8 * ms
	t.r.End(t.zero.Add(t.at), download.Result{Path: "d/a.iso", Size: size, Proof: verify.Unchecked(size)}, nil)
	return t.r
}

// fail ends the download with an error.
func (t *tale) fail(err error) *Recorder {
	t.r.End(t.zero.Add(t.at), download.Result{}, err)
	return t.r
}

func fault(id int, text string) error {
	return &source.Error{URL: link(id), Host: host(id), Err: errors.New(text)}
}

// drama returns a download with many events: of 6 sources, one falls silent, one is slow, one dies and one sends wrong
// bytes.
func drama() *Recorder {
	t := newTale(48 * mib)
	a := t.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
	t.until(400 * ms).answer(a)
	t.tell(download.SourceUp{ID: 0, URL: link(0), Host: host(0), RTT: 20 * ms})
	t.cut(a, 8*mib, false, scheduler.ReasonMet)
	b := t.ask(1, 8*mib, 20*mib, scheduler.ReasonGrowth)
	c := t.ask(2, 20*mib, 24*mib, scheduler.ReasonGrowth)
	d := t.ask(3, 24*mib, 30*mib, scheduler.ReasonGrowth)
	e := t.ask(4, 30*mib, 32*mib, scheduler.ReasonGrowth)
	f := t.ask(5, 32*mib, 40*mib, scheduler.ReasonGrowth)
	t.until(450*ms).answer(b, c, d, f)
	t.over(fault(4, "another digest"), e)
	t.tell(download.SourceDown{ID: 4, URL: link(4), Host: host(4), Err: fault(4, "another digest"), Banned: true})
	t.bring(2*time.Second, 100*kib, a, b, c, d, f)
	t.over(fault(5, "connection reset"), f)
	t.tell(download.SourceDown{ID: 5, URL: link(5), Host: host(5), Err: fault(5, "connection reset"), Back: time.Second})
	t.bring(3*time.Second, 100*kib, a, b, c)
	t.cut(d, 25*mib+500*kib, true, scheduler.ReasonSilent)
	t.over(nil, d)
	g := t.ask(1, 25*mib+500*kib, 30*mib, scheduler.ReasonSplit)
	t.answer(g)
	t.bring(6*time.Second, 200*kib, a, b, g)
	t.cut(c, 22*mib, false, scheduler.ReasonUseless)
	t.over(nil, a, b, c, g)
	return t.done(48 * mib)
}

// page returns the page of some downloads.
func page(list ...*Recorder) []byte {
	var p Page
	for _, r := range list {
		p.Add(r)
	}
	return p.HTML()
}

// node is an element of a page.
type node struct {
	name string
	attr map[string]string
	kids []*node
	text string // of this element alone
}

// parse parses a page as XML, strictly: a well-formed page has only one meaning in HTML, too.
func parse(t testing.TB, html []byte) *node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(html))
	root := &node{}
	path := []*node{root}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v\n%s", err, around(html, d.InputOffset()))
		}
		top := path[len(path)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top.kids = append(top.kids, n)
			path = append(path, n)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			top.text += string(tok)
		}
	}
}

func around(html []byte, at int64) []byte { return html[max(0, at-200):min(int64(len(html)), at+50)] }

// all returns the elements of a name and, unless it is empty, of a class.
func (n *node) all(name, class string) (out []*node) {
	if n.name == name && (class == "" || slices.Contains(strings.Fields(n.attr["class"]), class)) {
		out = append(out, n)
	}
	for _, k := range n.kids {
		out = append(out, k.all(name, class)...)
	}
	return out
}

// words returns the text in an element.
func (n *node) words() string {
	s := n.text
	for _, k := range n.kids {
		s += k.words()
	}
	return s
}

// safe checks that a page contains nothing that is executed or loaded, no links, and no shapes outside of their charts.
func safe(t testing.TB, html []byte) *node {
	t.Helper()
	root := parse(t, html)
	for _, bad := range []*regexp.Regexp{
		regexp.MustCompile(`(?i)<\s*script`), regexp.MustCompile(`(?i)@import`),
		regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]`), regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]"),
	} {
		if at := bad.FindIndex(html); at != nil {
			t.Errorf("the page has %v: %s", bad, around(html, int64(at[0])))
		}
	}
	for _, style := range root.all("style", "") {
		if strings.Contains(strings.ToLower(style.words()), "url(") {
			t.Error("the style loads something")
		}
	}
	root.walk(func(n *node) { proper(t, n) })
	return root
}

func (n *node) walk(f func(*node)) {
	f(n)
	for _, k := range n.kids {
		k.walk(f)
	}
}

var elements = strings.Fields(`html head meta title style body h1 h2 p ul li section span i b small figure figcaption div svg g text line
	rect path circle table thead tbody tr th td details summary footer a`)

var attributes = strings.Fields(`lang charset name content http-equiv class id title width height viewBox preserveAspectRatio x y x1 x2 y1 y2
	dx dy r d text-anchor overflow href`)

// proper checks that an element is one of the template, with harmless attributes.
func proper(t testing.TB, n *node) {
	t.Helper()
	if n.name != "" && !slices.Contains(elements, n.name) {
		t.Errorf("the page has an element %q", n.name)
	}
	for name, value := range n.attr {
		if !slices.Contains(attributes, name) {
			t.Errorf("<%s> has an attribute %s=%q", n.name, name, value)
		}
		if name == "href" && !regexp.MustCompile(`^#d[0-9]+$`).MatchString(value) {
			t.Errorf("a link leads to %q", value)
		}
		if p, ok := strings.CutSuffix(value, "%"); ok && name != "content" && name != "title" {
			if x, err := strconv.ParseFloat(p, 64); err != nil || x < 0 || x > 100 || math.IsNaN(x) {
				t.Errorf("<%s>: %s=%q", n.name, name, value)
			}
		}
		if strings.Contains(value, "NaN") && name != "title" || strings.Contains(value, "Inf") && name != "title" {
			t.Errorf("<%s>: %s=%q", n.name, name, value)
		}
	}
}

func (w story) String() string {
	var b strings.Builder
	for _, x := range w {
		fmt.Fprintln(&b, x.Text)
	}
	return b.String()
}
