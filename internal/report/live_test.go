package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/scheduler"
)

// pair returns a download from two sources after two seconds. If drawn is set, it was drawn repeatedly.
func pair(drawn bool) (t *tale, a, b int) {
	t = newTale(10 * mib)
	a, b = t.ask(0, 0, 5*mib, scheduler.ReasonFirst), t.ask(1, 5*mib, 10*mib, scheduler.ReasonGrowth)
	t.until(50*ms).answer(a, b)
	for s := time.Duration(1); s < 5; s++ {
		t.bring(s*500*ms, 200*kib, a)
		if drawn {
			t.r.Draw(t.zero.Add(t.at))
		}
	}
	t.tell(download.Brought{Pieces: []download.Piece{{Fetch: b, Range: byterange.Range{Start: 5 * mib, End: 6 * mib}}}})
	return t, a, b
}

// TestDraw: a running download is drawn with the present states of its sources, and drawing it does not change the
// final page.
func TestDraw(t *testing.T) {
	tl, _, _ := pair(false)
	html := string(tl.r.Draw(tl.zero.Add(tl.at)))
	safe(t, []byte(html))
	for _, want := range []string{
		"All known sources are in use", `class="strip"`, "in use, ", "m0:80 sent 80 %", "Speed:", "Use of the sources",
		`<path class="shade c0" d="M0 0h63v1h-63z"`, `<path class="shade asked c1" d="M96 0h64v1h-64z"`, "running",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	end := func(drawn bool) string {
		tl, a, b := pair(drawn)
		tl.over(nil, a, b)
		return string(page(tl.done(10 * mib)))
	}
	if end(true) != end(false) {
		t.Errorf("drawn on the way it ends as\n%s\nelse as\n%s", end(true), end(false))
	}
}

// TestColoursStay: a source keeps its colour when another one has sent more bytes.
func TestColoursStay(t *testing.T) {
	tl, a, b := pair(true)
	was := []string{tl.r.Mirrors[0].Class, tl.r.Mirrors[1].Class}
	tl.bring(5*time.Second, 100*kib, b)
	tl.over(nil, a, b)
	r := tl.done(10 * mib)
	if r.ranked[0] != r.Mirrors[1] || r.Mirrors[0].Class != was[0] || r.Mirrors[1].Class != was[1] || was[0] == was[1] {
		t.Errorf("%v became %s and %s", was, r.Mirrors[0].Class, r.Mirrors[1].Class)
	}
}

// TestLimitNow: one sentence describes what limits a running download.
func TestLimitNow(t *testing.T) {
	for want, told := range map[string]func(t *tale, f int){
		"Waiting for the first answer since 2 s.": func(t *tale, _ int) {
			t.until(2 * time.Second).tell(download.Progress{Size: 10 * mib})
		},
		"All bytes come from one server that names no mirrors, so that server limits the speed.": func(t *tale, f int) {
			t.answer(f)
			t.bring(time.Second, 100*kib, f)
		},
		"The server names mirrors, but sends no digest, so only the server itself is used.": func(t *tale, f int) {
			t.tell(download.Offered{File: metalink.File{Size: 10 * mib, NoDigest: true, Mirrors: make([]metalink.Mirror, 2)}})
			t.answer(f)
		},
		"1 of 3 sources are in use; more are tried while that increases the speed.": func(t *tale, f int) {
			t.tell(download.Offered{File: metalink.File{Size: 10 * mib, Mirrors: make([]metalink.Mirror, 3)}})
			t.answer(f)
		},
		"All known sources are in use: they or the link limit the speed.": func(t *tale, f int) {
			t.tell(download.Offered{File: metalink.File{Size: 10 * mib, Mirrors: make([]metalink.Mirror, 2)}})
			t.tell(download.SourceDown{ID: 1, URL: link(1), Host: host(1), Err: errors.New("404"), Gone: true})
			t.answer(f)
		},
		"No source has sent bytes for 3 s.": func(t *tale, f int) {
			t.answer(f)
			t.until(3 * time.Second).tell(download.Progress{Size: 10 * mib})
		},
		"The link seems full: 1 connection more added no speed.": func(t *tale, f int) {
			t.answer(f)
			other := t.ask(1, 5*mib, 10*mib, scheduler.ReasonGrowth)
			t.cut(other, 5*mib, true, scheduler.ReasonUseless)
			t.over(nil, other)
		},
		"The limit of 100 KiB/s is reached.": func(t *tale, f int) {
			t.answer(f)
			t.r.Limit = 100 * kib
			t.tell(download.Progress{Size: 10 * mib, Rate: 99 * kib})
		},
		"No source is in use. m0:80 will be asked again at ": func(t *tale, f int) {
			t.over(errors.New("503"), f)
			t.tell(download.SourceDown{ID: 0, URL: link(0), Host: host(0), Err: errors.New("503"), Back: time.Minute})
		},
		"No source is in use.":                           func(t *tale, f int) { t.over(errors.New("503"), f) },
		"All bytes were received and are being checked.": func(t *tale, f int) { t.tell(download.Complete{}) },
		"Some bytes are wrong; the received bytes are compared with those of other sources.": func(t *tale, f int) {
			t.tell(download.Comparing{})
		},
	} {
		tl := newTale(10 * mib)
		told(tl, tl.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst))
		if got := tl.r.limitNow(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestVoid: wrong bytes are marked until they were fetched again, and the number of duplicate bytes is shown meanwhile.
func TestVoid(t *testing.T) {
	tl, a, b := pair(false)
	tl.tell(download.Voided{Range: byterange.Range{Start: 5 * mib, End: 6 * mib}}, download.Progress{Done: 2 * mib,
		Size: 10 * mib, Twice: 3 * kib})
	html := string(tl.r.Draw(tl.zero.Add(tl.at)))
	safe(t, []byte(html))
	for _, want := range []string{`<path class="void" d="M80 0h16v1h-16z">`, "wrong bytes that were discarded",
		"3 KiB were received twice."} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	tl.tell(download.Brought{Pieces: []download.Piece{{Fetch: a, Range: byterange.Range{Start: 5 * mib, End: 6 * mib}}}})
	if html := string(tl.r.Draw(tl.zero.Add(tl.at))); strings.Contains(html, `class="void"`) ||
		strings.Contains(html, "is missing again") {
		t.Errorf("it came again:\n%s", html)
	}
	tl.over(nil, a, b)
}
