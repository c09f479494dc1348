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

// A moment is an event with its time: a [download.Event], the end of a download or a hook in a batch, or nil,
// which requests the progress.
type moment struct {
	at   time.Time
	ev   any
	file int // the number in a batch, from 1; 0 outside a batch
}

// head returns the first fields of the JSON object of an event.
func (m moment) head(event string) head {
	h := newHead(m.at, event)
	h.File = m.file
	return h
}

// outOfDate reports whether next makes last obsolete: both are events of progress of the same file.
func outOfDate(last, next moment) bool {
	_, a := last.ev.(download.Progress)
	_, b := next.ev.(download.Progress)
	_, c := last.ev.(download.Comparing)
	_, d := next.ev.(download.Comparing)
	return (a && b || c && d) && last.file == next.file
}

// A renderer shows one download on the screen and as JSON, from its events and their totals.
type renderer struct {
	*report.Recorder
	screen    *screen
	lines     *lineWriter
	one       bool // one of many: messages name the file
	reading   bool // a file on disk is verified, without mirrors
	repairing bool
	table     bool // show the table of sources below the bar
	asked     <-chan os.Signal
}

func newRenderer(s *screen, lines *lineWriter, several bool) *renderer {
	return &renderer{Recorder: report.NewRecorder(time.Now()), screen: s, lines: lines, one: several}
}

// detail shows a message about the file with -v.
func (w *renderer) detail(format string, args ...any) {
	w.screen.detail("%s", w.about()+fmt.Sprintf(format, args...))
}

// about returns a prefix with the file's name for messages that do not contain it, or "" outside a batch.
func (w *renderer) about() string {
	if !w.one {
		return ""
	}
	return w.name() + ": "
}

// name returns the name of the file on the screen.
func (w *renderer) name() string {
	if w.Path == "" {
		return "standard output"
	}
	return filepath.Base(w.Path)
}

// during shows the events of a call. The function observe, which the call is given, does not wait for the
// screen.
func (w *renderer) during(call func(observe func(download.Event))) {
	show(w.asked, w.apply, func(put func(int, any)) { call(func(ev download.Event) { put(0, ev) }) })
}

// show calls apply for each event that call puts and for each signal that requests the progress. All calls of
// apply are in one goroutine, which ends before show returns.
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
		if !w.one { // else the batch shows the progress of all files
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

// progress returns the progress of the download.
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

// describe shows an event as a message.
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

// offered shows what the server offers, and which links are ignored.
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

// reasons lists the reasons why links were ignored with their counts, in the order of first occurrence.
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
	if ev.Whole { // whether it is useful is decided later
		text = ": sends whole files only"
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	w.detail("mirror %s%s", ev.URL, text)
}

// names reports whether the host of the URL is host.
func names(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Host == host || u.Hostname() == host || source.HostPort(u) == host)
}

// whyAt returns the text of a source's error, without the host if the URL before it contains that.
func whyAt(ev download.SourceDown) string {
	if src, ok := errors.AsType[*source.Error](ev.Err); ok && names(ev.URL, src.Host) {
		return report.Why(ev.Err, src.Host)
	}
	return why(ev.Err)
}

// down shows the failure of a source. Wrong content is shown even without -v.
func (w *renderer) down(ev download.SourceDown) {
	switch {
	case ev.Banned:
		w.screen.warn("%smirror %s: dropped, its content is wrong: %s", w.about(), ev.URL, whyAt(ev))
	case ev.Gone:
		w.detail("mirror %s: dropped: %s", ev.URL, whyAt(ev))
	case ev.Active == 0: // else the user would wait without a message
		w.screen.say("%s: %s; trying again in %s", w.name(), why(ev.Err), timeText(max(ev.Back, 0)))
	case ev.Back > 0:
		w.detail("mirror %s: again in %s: %s", ev.URL, timeText(ev.Back), whyAt(ev))
	default:
		w.detail("mirror %s: again later: %s", ev.URL, whyAt(ev))
	}
}

// cutTexts are the reasons for ending a fetch that say something about its source.
var cutTexts = map[string]string{
	"silent":    "silent; the rest of its range is asked for anew",
	"slow":      "too slow for its range; others get the rest",
	"useless":   "closed, as it adds nothing",
	"no ranges": "not used, as others would be through before",
	"crowded":   "closed on trial, as fewer connections may do as well",
}
