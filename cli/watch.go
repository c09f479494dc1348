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

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A moment is something that happened in a download, and when.
type moment struct {
	at   time.Time
	ev   download.Event
	file int  // of a batch, counted from 1; 0 if there is only one file
	ask  bool // nothing happened, but somebody wants to know how far it is
}

// head is what the line of an event begins with.
func (m moment) head(event string) head {
	h := newHead(m.at, event)
	h.File = m.file
	return h
}

// outOfDate says that only the last of several progress events is worth showing.
func outOfDate(last, next moment) bool {
	_, a := last.ev.(download.Progress)
	_, b := next.ev.(download.Progress)
	_, c := last.ev.(download.Comparing)
	_, d := next.ev.(download.Comparing)
	return (a && b || c && d) && last.file == next.file
}

// shown says that an event is for the screen or for JSON, not for the report alone.
func shown(ev download.Event) bool {
	_, pieces := ev.(download.Brought)
	return !pieces
}

// A watcher tells of one download, on the screen and in JSON.
type watcher struct {
	screen   *screen
	lines    *lineWriter
	url      string // masked
	path     string
	noDigest bool           // the server named mirrors and gave no digest
	document string         // that describes the file
	one      bool           // of many: lines say which file they are about
	reading  bool           // a file on disk: nobody brings it
	mending  bool           // a file on disk is repaired
	gives    bool           // it was said that peers can have the file
	sources  map[int]string // URLs of those that answered, by ID
	roster   *roster        // of the sources; nil: nobody wants to see them
	last     progress       // as it was shown
	asked    <-chan os.Signal
}

// detail says something about the file to those who asked for details.
func (w *watcher) detail(format string, args ...any) {
	w.screen.detail("%s", w.about()+fmt.Sprintf(format, args...))
}

// about names the file before what does not name it, where there are many.
func (w *watcher) about() string {
	if !w.one {
		return ""
	}
	return w.name() + ": "
}

// name is what the file is called on the screen.
func (w *watcher) name() string {
	if w.path == "" {
		return "standard output"
	}
	return filepath.Base(w.path)
}

// during tells what happens in a call that is given observe, which does not wait for the screen.
func (w *watcher) during(call func(observe func(download.Event))) {
	events := newQueue(outOfDate)
	w.last = progress{size: -1}
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.all() {
			w.watch(m)
		}
	})
	stop := relay(w.asked, func() { events.put(moment{at: time.Now(), ask: true}) })
	call(func(ev download.Event) {
		if shown(ev) || w.roster != nil {
			events.put(moment{at: time.Now(), ev: ev})
		}
	})
	stop()
	events.close()
	wg.Wait()
}

func (w *watcher) watch(m moment) {
	if m.ask {
		w.last.name = w.name()
		w.screen.answer(w.last)
		return
	}
	if w.roster != nil {
		w.roster.hear(m.at, m.ev)
	}
	if !shown(m.ev) {
		return
	}
	switch ev := m.ev.(type) {
	case download.Started:
		w.url, w.path = ev.URL, ev.Path
	case download.Offered:
		w.noDigest, w.document = ev.File.NoDigest, cmp.Or(ev.By, w.document)
	}
	w.lines.write(jsonEvent(m))
	w.tell(m)
}

// tell puts an event in words.
func (w *watcher) tell(m moment) {
	switch ev := m.ev.(type) {
	case download.Resumed:
		if w.mending {
			w.screen.detail("%s: %s of it are right, and copied", w.name(), sizeText(ev.Bytes))
			return
		}
		w.screen.detail("%s: %s are here from an earlier run", w.name(), sizeText(ev.Bytes))
	case download.Offered:
		w.offered(ev)
	case download.SourceUp:
		w.up(ev)
	case download.SourceDown:
		w.down(ev)
	case download.RangeCut:
		if why := cutTexts[ev.Why.String()]; why != "" {
			w.detail("mirror %s: %s", cmp.Or(w.sources[ev.ID], ev.Host), why)
		}
	case download.Progress:
		if w.one { // the batch shows how far all of them are
			w.last.comparing = false
			return
		}
		w.last = progress{name: w.name(), done: ev.Done, size: ev.Size, rate: ev.Rate, mirrors: ev.Active, sources: w.roster}
		if w.reading {
			w.last.mirrors = -1
		}
		w.screen.progress(m.at, w.last)
	case download.Comparing:
		w.compared(m.at, ev)
	case download.Restarted:
		w.screen.say("%s: starting again: %s", w.name(), ev.Reason)
	case download.Seeding:
		w.seeding(ev)
	case download.Note:
		if ev.Plain {
			w.screen.say("%s: %s", w.name(), ev.Text)
			return
		}
		w.detail("%s", ev.Text)
	}
}

// compared says how far mirrors are compared. In a batch it is one line: there the progress is that of all files.
func (w *watcher) compared(at time.Time, ev download.Comparing) {
	begins := !w.last.comparing
	w.last = progress{name: w.name(), done: ev.Done, size: ev.Size, mirrors: -1, comparing: true}
	switch {
	case !w.one:
		w.screen.progress(at, w.last)
	case begins:
		w.screen.say("%s: wrong somewhere; mirrors are compared", w.name())
	}
}

// offered says what the server offers, and what of it is not used.
func (w *watcher) offered(ev download.Offered) {
	f, who := ev.File, cmp.Or(ev.By, "server")
	parts := []string{}
	if f.Size >= 0 {
		parts = append(parts, sizeText(f.Size))
	}
	for _, c := range f.Claims {
		parts = append(parts, c.String())
	}
	if len(f.Claims) == 0 {
		parts = append(parts, "no digest")
	}
	parts = append(parts, count(len(f.Mirrors), "mirror"))
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

func (w *watcher) up(ev download.SourceUp) {
	if w.sources == nil {
		w.sources = map[int]string{}
	}
	w.sources[ev.ID] = ev.URL
	var notes []string
	if !names(ev.URL, ev.Host) {
		notes = append(notes, ev.Host)
	}
	if ev.RTT > 0 {
		notes = append(notes, timeText(ev.RTT)+" away")
	}
	text := "mirror " + ev.URL + ": in use"
	if ev.Whole { // whether it is of use is decided now
		text = "mirror " + ev.URL + ": sends whole files only"
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	w.detail("%s", text)
}

// names reports whether a URL is one at the host.
func names(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Host == host || u.Hostname() == host || source.HostPort(u) == host)
}

// whyAt is the text of the error of a source, without its host if the URL that it follows names that.
func whyAt(ev download.SourceDown) string {
	text := why(ev.Err)
	if src, ok := errors.AsType[*source.Error](ev.Err); ok && names(ev.URL, src.Host) {
		text = strings.TrimPrefix(text, src.Host+": ")
	}
	return text
}

// down says what becomes of a source that failed. One with wrong content is worth a word even to those who
// did not ask.
func (w *watcher) down(ev download.SourceDown) {
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

// jsonEvent is the line for an event.
func jsonEvent(m moment) any {
	switch ev := m.ev.(type) {
	case download.Started:
		return startEvent{m.head("start"), ev.URL, ev.Path}
	case download.Resumed:
		return resumeEvent{m.head("resume"), ev.Bytes}
	case download.Offered:
		e := newOfferEvent(m.at, ev.File)
		e.File, e.Document = m.file, ev.By
		return e
	case download.SourceUp:
		return mirrorEvent{head: m.head("mirror"), State: "up", ID: ev.ID, URL: ev.URL, Host: ev.Host, RTT: ev.RTT.Seconds(), Whole: ev.Whole}
	case download.SourceDown:
		return jsonDown(m, ev)
	case download.RangeStarted:
		return newRangeEvent(m, ev)
	case download.RangeAnswered:
		return rangeAnswerEvent{m.head("range_answer"), ev.ID, ev.Host, ev.Fetch}
	case download.RangeCut:
		return rangeCutEvent{m.head("range_cut"), ev.ID, ev.Host, ev.Fetch, ev.End, ev.Ended, ev.Why.String()}
	case download.RangeEnded:
		return rangeEndEvent{m.head("range_end"), ev.ID, ev.Host, ev.Fetch, ev.Bytes, ev.Took.Seconds(), why(ev.Err)}
	case download.Progress:
		return progressEvent{m.head("progress"), ev.Done, known(ev.Size), ev.Rate, ev.Active}
	case download.Comparing:
		return compareEvent{m.head("compare"), ev.Done, ev.Size}
	case download.Restarted:
		return retryEvent{head: m.head("retry"), Why: ev.Reason}
	case download.Complete:
		return completeEvent{m.head("complete"), ev.Size}
	case download.Verified:
		return verifyEvent{m.head("verify"), evidenceOf(ev.Proof)}
	case download.Seeding:
		return newSeedEvent(m, ev)
	case download.Note:
		return noteEvent{m.head("note"), ev.Text}
	}
	return nil
}

func jsonDown(m moment, ev download.SourceDown) any {
	if !ev.Gone && !ev.Banned {
		return retryEvent{m.head("retry"), &ev.ID, ev.URL, ev.Host, ev.Back.Seconds(), why(ev.Err)}
	}
	state := "down"
	if ev.Banned {
		state = "banned"
	}
	return mirrorEvent{head: m.head("mirror"), State: state, ID: ev.ID, URL: ev.URL, Host: ev.Host, Why: why(ev.Err)}
}

func newRangeEvent(m moment, ev download.RangeStarted) rangeEvent {
	e := rangeEvent{head: m.head("range"), ID: ev.ID, Host: ev.Host, Start: ev.Range.Start, Fetch: ev.Fetch, Why: ev.Why.String()}
	if ev.Range.End != byterange.Unbounded {
		e.End = &ev.Range.End
	}
	return e
}

// known is nil for a size that is not known.
func known(size int64) *int64 {
	if size < 0 {
		return nil
	}
	return &size
}

func evidenceOf(p verify.Proof) evidenceFields {
	f := evidenceFields{Verified: p.Verified(), Digests: map[string]string{}, Evidence: []string{}}
	for _, d := range p.Digests() {
		f.Digests[d.Algorithm().String()] = d.Hex()
	}
	for _, c := range p.Evidence() {
		f.Evidence = append(f.Evidence, c.String())
	}
	if f.Checked = p.ByPieces(); f.Checked {
		f.Evidence = append(f.Evidence, p.Pieces().String())
	}
	f.Signed = p.Signed()
	for _, a := range p.Signatures() {
		f.Signatures = append(f.Signatures, signatureLine{a.Kind.String(), a.From, a.Key, a.Signer, a.Pinned})
		f.Evidence = append(f.Evidence, a.String())
	}
	return f
}

func newDoneEvent(m moment, r download.Request, res download.Result) doneEvent {
	e := doneEvent{
		head: m.head("done"), URL: source.Mask(r.URL), Path: res.Path, Size: res.Size,
		evidenceFields: evidenceOf(res.Proof), Unvalidated: res.Unvalidated, ETag: res.ETag, AlreadyComplete: res.AlreadyComplete,
		NotModified: res.NotModified, Older: res.Older, Resumed: res.Resumed, Fetched: res.Fetched, Duplicate: res.Duplicate, Compared: res.Compared, Elapsed: res.Elapsed.Seconds(),
		Sources: []sourceLine{},
	}
	if t := res.LastModified.UTC(); !t.IsZero() {
		e.LastModified = &t
	}
	for _, s := range res.Sources {
		e.Sources = append(e.Sources, sourceLine{s.URL, s.Host, s.Bytes, s.Rate, s.Banned, why(s.Err)})
	}
	return e
}
