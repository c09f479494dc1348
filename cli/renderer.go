package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/internal/report"
	"braid/metalink"
	"braid/source"
)

// A moment is something that happened, and when: a [download.Event], or the end of a download or hook of a batch; nil
// asks how far it is.
type moment struct {
	at   time.Time
	ev   any
	file int // of a batch, counted from 1; 0 if there is only one file
}

// head is what the line of an event begins with.
func (m moment) head(event string) head {
	h := newHead(m.at, event)
	h.File = m.file
	return h
}

// outOfDate reports whether only the next one of two events of progress is worth showing.
func outOfDate(last, next moment) bool {
	_, a := last.ev.(download.Progress)
	_, b := next.ev.(download.Progress)
	_, c := last.ev.(download.Comparing)
	_, d := next.ev.(download.Comparing)
	return (a && b || c && d) && last.file == next.file
}

// A renderer shows one download on the screen and in JSON, by its events and by what they add up to.
type renderer struct {
	*report.Recorder
	screen    *screen
	lines     *lineWriter
	one       bool // of many: lines say which file they are about
	reading   bool // a file on disk: no mirror brings it
	repairing bool
	table     bool // of the sources, below the bar
	asked     <-chan os.Signal
}

func newRenderer(s *screen, lines *lineWriter, several bool) *renderer {
	return &renderer{Recorder: report.NewRecorder(time.Now()), screen: s, lines: lines, one: several}
}

// detail says something about the file that only -v shows.
func (w *renderer) detail(format string, args ...any) {
	w.screen.detail("%s", w.about()+fmt.Sprintf(format, args...))
}

// about names the file before what does not name it, where there are many.
func (w *renderer) about() string {
	if !w.one {
		return ""
	}
	return w.name() + ": "
}

// name is what the file is called on the screen.
func (w *renderer) name() string {
	if w.Path == "" {
		return "standard output"
	}
	return filepath.Base(w.Path)
}

// during shows what happens in a call that is given observe, which does not wait for the screen.
func (w *renderer) during(call func(observe func(download.Event))) {
	show(w.asked, w.apply, func(put func(int, any)) { call(func(ev download.Event) { put(0, ev) }) })
}

// show gives what a call puts, and the questions of a signal, to apply in a goroutine of its own.
func show(asked <-chan os.Signal, apply func(moment), call func(put func(file int, ev any))) {
	events := newMailbox(outOfDate)
	put := func(file int, ev any) { events.put(moment{time.Now(), ev, file}) }
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.all() {
			apply(m)
		}
	})
	stop := relay(asked, func() { put(0, nil) })
	call(put)
	stop()
	events.close()
	wg.Wait()
}

func (w *renderer) apply(m moment) {
	ev, ok := m.ev.(download.Event)
	if !ok {
		w.screen.answer(w.progress(m.at))
		return
	}
	seeding, comparing := w.Seeding, w.Comparing != nil
	w.Observe(m.at, ev)
	w.lines.write(jsonEvent(m))
	switch ev := ev.(type) {
	case download.Progress:
		if !w.one { // else the batch shows how far all of them are
			w.screen.progress(m.at, w.progress(m.at))
		}
	case download.Comparing:
		switch {
		case !w.one:
			w.screen.progress(m.at, w.progress(m.at))
		case !comparing:
			w.screen.say("%s: wrong somewhere; mirrors are compared", w.name())
		}
	case download.Seeding:
		if !seeding {
			w.screen.say("%s: in place; peers can have it at %s", w.name(), strings.Join(addresses(ev), ", "))
		}
	default:
		w.describe(ev)
	}
}

// progress is how far the download is.
func (w *renderer) progress(at time.Time) progress {
	if w.Comparing != nil {
		return compareProgress(w.name(), *w.Comparing)
	}
	far := w.Progress
	if w.reading {
		far.Active = -1
	}
	p := fileProgress(w.name(), far)
	if w.table {
		for _, m := range w.Mirrors {
			p.table = append(p.table, append(sourceRow(m.Host, m.Bytes, w.Fetched, m.Speed.Now(at, m.Bytes)), w.State(m)))
		}
	}
	return p
}

// describe puts an event in words.
func (w *renderer) describe(ev download.Event) {
	switch ev := ev.(type) {
	case download.Resumed:
		text := "are here from an earlier run"
		if w.repairing {
			text = "of it are right, and copied"
		}
		w.screen.detail("%s: %s %s", w.name(), sizeText(ev.Bytes), text)
	case download.Offered:
		w.offered(ev)
	case download.SourceUp:
		w.up(ev)
	case download.SourceDown:
		w.down(ev)
	case download.RangeCut:
		if why := cutTexts[ev.Why.String()]; why != "" {
			name := ev.Host
			if m := w.ByID[ev.ID]; m != nil {
				name = cmp.Or(m.URL, name)
			}
			w.detail("mirror %s: %s", name, why)
		}
	case download.Restarted:
		w.screen.say("%s: starting again: %s", w.name(), ev.Reason)
	case download.Note:
		if ev.Plain {
			w.screen.say("%s: %s", w.name(), ev.Text)
			return
		}
		w.detail("%s", ev.Text)
	}
}

// offered says what the server offers, and what of it is not used.
func (w *renderer) offered(ev download.Offered) {
	f, who := ev.File, cmp.Or(ev.By, "server")
	var parts []string
	if f.Size >= 0 {
		parts = append(parts, sizeText(f.Size))
	}
	for _, c := range f.Claims {
		parts = append(parts, c.String())
	}
	if len(f.Claims) == 0 {
		parts = append(parts, "no digest")
	}
	if len(f.Mirrors) > 0 {
		parts = append(parts, count(len(f.Mirrors), "mirror"))
	} else {
		parts = append(parts, "no mirrors named")
	}
	w.detail("%s: %s", who, strings.Join(parts, ", "))
	if f.IgnoredCount > 0 {
		w.detail("server: %s ignored%s", count(f.IgnoredCount, "link"), reasons(f.Ignored))
	}
}

// reasons counts why links were ignored, in the order in which that first happened.
func reasons(ignored []metalink.Ignored) string {
	counts := map[string]int{}
	var order []string
	for _, i := range ignored {
		if counts[i.Reason]++; counts[i.Reason] == 1 {
			order = append(order, i.Reason)
		}
	}
	if len(order) == 0 {
		return ""
	}
	for n, r := range order {
		order[n] = fmt.Sprintf("%s (%d)", r, counts[r])
	}
	return ": " + strings.Join(order, ", ")
}

func (w *renderer) up(ev download.SourceUp) {
	var notes []string
	if !names(ev.URL, ev.Host) {
		notes = append(notes, ev.Host)
	}
	if ev.RTT > 0 {
		notes = append(notes, timeText(ev.RTT)+" away")
	}
	text := ": in use"
	if ev.Whole { // whether it is of use is decided now
		text = ": sends whole files only"
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	w.detail("mirror %s%s", ev.URL, text)
}

// names reports whether a URL is one at the host.
func names(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Host == host || u.Hostname() == host || source.HostPort(u) == host)
}

// whyAt is the text of the error of a source, without its host if the URL that it follows names that.
func whyAt(ev download.SourceDown) string {
	if src, ok := errors.AsType[*source.Error](ev.Err); ok && names(ev.URL, src.Host) {
		return report.Why(ev.Err, src.Host)
	}
	return why(ev.Err)
}

// down says what becomes of a source that failed. Wrong content is shown without -v, too.
func (w *renderer) down(ev download.SourceDown) {
	switch {
	case ev.Banned:
		w.screen.warn("%smirror %s: dropped, its content is wrong: %s", w.about(), ev.URL, whyAt(ev))
	case ev.Gone:
		w.detail("mirror %s: dropped: %s", ev.URL, whyAt(ev))
	case ev.Active == 0: // else the user would wait without a word
		w.screen.say("%s: %s; trying again in %s", w.name(), why(ev.Err), timeText(max(ev.Back, 0)))
	case ev.Back > 0:
		w.detail("mirror %s: again in %s: %s", ev.URL, timeText(ev.Back), whyAt(ev))
	default:
		w.detail("mirror %s: again later: %s", ev.URL, whyAt(ev))
	}
}

// cutTexts say why a fetch is ended, where that says something of its source.
var cutTexts = map[string]string{
	"silent":    "silent; the rest of its range is asked for anew",
	"slow":      "too slow for its range; others get the rest",
	"useless":   "closed, as it adds nothing",
	"no ranges": "not used, as others would be through before",
	"crowded":   "closed on trial, as fewer connections may do as well",
}
