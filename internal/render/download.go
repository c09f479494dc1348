// Package render shows downloads: as text, as progress, as JSON and as an HTML page. It also defines the texts for
// results and the objects of --json.
//
// It does not download and does not know the command line. It writes only to the writers that its caller sets. Exit
// codes come from the caller.
package render

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
	"braid/internal/mailbox"
	"braid/internal/option"
	"braid/internal/report"
	"braid/metalink"
	"braid/source"
)

// A Download shows one download, on the screen and as JSON. It is given the events of the download.
type Download struct {
	record    *report.Recorder
	screen    *Screen
	lines     *JSONWriter
	one       bool // one of several downloads, so messages name the file
	Reading   bool // a local file is verified, without mirrors
	Repairing bool
	Table     bool // show the table of sources below the bar
	Asked     <-chan os.Signal
}

func NewDownload(s *Screen, lines *JSONWriter, several bool) *Download {
	return &Download{record: report.NewRecorder(time.Now()), screen: s, lines: lines, one: several}
}

// Observe shows ev immediately. All calls must be from one goroutine.
func (w *Download) Observe(ev download.Event) { w.apply(moment{at: time.Now(), ev: ev}) }

// Left shows that an existing file was kept.
func (w *Download) Left() { w.screen.Say("%s: exists, and is kept", w.record.Path) }

// End records that the download ended with r and err.
func (w *Download) End(at time.Time, r download.Result, err error) { w.record.End(at, r, err) }

// detail shows a message about the file if -v is given.
func (w *Download) detail(format string, args ...any) {
	w.screen.Detail("%s", w.about()+fmt.Sprintf(format, args...))
}

// about returns the prefix that names the file in a message, or "" outside a batch.
func (w *Download) about() string {
	if !w.one {
		return ""
	}
	return w.name() + ": "
}

// name returns the name of the file as the screen shows it.
func (w *Download) name() string {
	if w.record.Path == "" {
		return "standard output"
	}
	return filepath.Base(w.record.Path)
}

// During shows the events of the download that call makes. call calls observe with each event. observe does not wait
// for the screen.
func (w *Download) During(call func(observe func(download.Event))) {
	show(w.Asked, w.apply, func(put func(int, any)) { call(func(ev download.Event) { put(0, ev) }) })
}

func (w *Download) apply(m moment) {
	ev, ok := m.ev.(download.Event)
	if !ok {
		w.screen.answer(w.progress(m.at))
		return
	}
	seeding, comparing := w.record.Seeding, w.record.Comparing != nil
	w.record.Observe(m.at, ev)
	w.lines.Write(jsonEvent(m))
	switch ev := ev.(type) {
	case download.Progress:
		if !w.one { // in a batch, the progress of all files is shown instead
			w.screen.progress(m.at, w.progress(m.at))
		}
	case download.Comparing:
		switch {
		case !w.one:
			w.screen.progress(m.at, w.progress(m.at))
		case !comparing:
			w.screen.Say("%s: some bytes are wrong; comparing mirrors", w.name())
		}
	case download.Seeding:
		if !seeding {
			w.screen.Say("%s: in place; uploading to peers at %s", w.name(), strings.Join(addresses(ev), ", "))
		}
	default:
		w.describe(ev)
	}
}

// progress returns the progress of the download.
func (w *Download) progress(at time.Time) Progress {
	if w.record.Comparing != nil {
		return compareProgress(w.name(), *w.record.Comparing)
	}
	far := w.record.Progress
	if w.Reading {
		far.Active = -1
	}
	p := fileProgress(w.name(), far)
	if w.Table {
		for _, m := range w.record.Mirrors {
			row := sourceRow(m.Host, m.Bytes, w.record.Fetched, m.Speed.Now(at, m.Bytes))
			p.table = append(p.table, append(row, w.record.State(m)))
		}
	}
	return p
}

// describe shows ev as a message, if it is of interest.
func (w *Download) describe(ev download.Event) {
	switch ev := ev.(type) {
	case download.Resumed:
		text := "were received in an earlier run"
		if w.Repairing {
			text = "of the file are right and were copied"
		}
		w.screen.Detail("%s: %s %s", w.name(), option.SizeText(ev.Bytes), text)
	case download.Offered:
		w.offered(ev)
	case download.SourceUp:
		w.up(ev)
	case download.SourceDown:
		w.down(ev)
	case download.RangeCut:
		if why := cutTexts[ev.Why.String()]; why != "" {
			name := ev.Host
			if m := w.record.ByID[ev.ID]; m != nil {
				name = cmp.Or(m.URL, name)
			}
			w.detail("mirror %s: %s", name, why)
		}
	case download.Restarted:
		w.screen.Say("%s: starting again: %s", w.name(), ev.Reason)
	case download.Note:
		if ev.Plain {
			w.screen.Say("%s: %s", w.name(), ev.Text)
			return
		}
		w.detail("%s", ev.Text)
	}
}

// offered shows what a server or a document offers, and which links and digests of that offer are ignored.
func (w *Download) offered(ev download.Offered) {
	f, who := ev.File, cmp.Or(ev.By, "server")
	var parts []string
	if f.Size >= 0 {
		parts = append(parts, option.SizeText(f.Size))
	}
	for _, c := range f.Claims {
		parts = append(parts, c.String())
	}
	if len(f.Claims) == 0 {
		parts = append(parts, "no digest")
	}
	if len(f.Mirrors) > 0 {
		parts = append(parts, option.Count(len(f.Mirrors), "mirror"))
	} else {
		parts = append(parts, "no mirrors named")
	}
	w.detail("%s: %s", who, strings.Join(parts, ", "))
	if f.IgnoredCount > 0 {
		w.detail("server: %s ignored%s", option.Count(f.IgnoredCount, "statement"), reasons(f.Ignored))
	}
}

// reasons returns the reasons why links and digests were ignored, each with its count, in the order of first occurrence.
func reasons(ignored []metalink.Ignored) string {
	counts := map[string]int{}
	var order []string
	for _, i := range ignored {
		reason := i.Reason
		if field, _, ok := strings.Cut(i.Target, ": "); ok && !strings.Contains(field, "/") { // no URL
			reason = source.Escape(field) + ": " + reason
		}
		if counts[reason]++; counts[reason] == 1 {
			order = append(order, reason)
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

func (w *Download) up(ev download.SourceUp) {
	var notes []string
	if !names(ev.URL, ev.Host) {
		notes = append(notes, ev.Host)
	}
	if ev.RTT > 0 {
		notes = append(notes, option.TimeText(ev.RTT)+" away")
	}
	text := ": in use"
	if ev.Whole { // it is not known yet whether the source will be used
		text = ": sends whole files only"
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	w.detail("mirror %s%s", ev.URL, text)
}

// names reports whether the URL address is at host.
func names(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Host == host || u.Hostname() == host || source.HostPort(u) == host)
}

// whyAt returns the text of the error in ev. It omits the host if the URL of the source already contains it.
func whyAt(ev download.SourceDown) string {
	if src, ok := errors.AsType[*source.Error](ev.Err); ok && names(ev.URL, src.Host) {
		return report.Why(ev.Err, src.Host)
	}
	return why(ev.Err)
}

// down shows that a source failed. Wrong content is shown even without -v.
func (w *Download) down(ev download.SourceDown) {
	switch {
	case ev.Banned:
		w.screen.Warn("%smirror %s: dropped for wrong content: %s", w.about(), ev.URL, whyAt(ev))
	case ev.Gone:
		w.detail("mirror %s: dropped: %s", ev.URL, whyAt(ev))
	case ev.Active == 0: // otherwise, the user would see no message while waiting
		w.screen.Say("%s: %s; trying again in %s", w.name(), why(ev.Err), option.TimeText(max(ev.Back, 0)))
	case ev.Back > 0:
		w.detail("mirror %s: again in %s: %s", ev.URL, option.TimeText(ev.Back), whyAt(ev))
	default:
		w.detail("mirror %s: again later: %s", ev.URL, whyAt(ev))
	}
}

// cutTexts has texts for the reasons for ending a fetch that are about its source.
var cutTexts = map[string]string{
	"silent":    "sends nothing; the rest of its range is requested again",
	"slow":      "too slow for its range; other sources fetch the rest",
	"useless":   "connection closed, because it adds no speed",
	"no ranges": "not used, because others would finish sooner",
	"crowded":   "connection closed to test whether fewer are as fast",
}

// A moment is an event and its time. ev is a [download.Event], or the end of a download or of a hook in a batch. If ev
// is nil, the progress is to be shown.
type moment struct {
	at   time.Time
	ev   any
	file int // number of the file in a batch; 0 outside a batch
}

// head returns the first fields of the JSON object for m.
func (m moment) head(event string) Head {
	h := NewHead(m.at, event)
	h.File = m.file
	return h
}

// outOfDate reports whether next makes last obsolete. Both must be progress events of the same kind and file.
func outOfDate(last, next moment) bool {
	_, a := last.ev.(download.Progress)
	_, b := next.ev.(download.Progress)
	_, c := last.ev.(download.Comparing)
	_, d := next.ev.(download.Comparing)
	return (a && b || c && d) && last.file == next.file
}

// show calls apply for each event that call gives to put, and for each signal in asked. All calls of apply are from one
// goroutine, which ends before show returns.
func show(asked <-chan os.Signal, apply func(moment), call func(put func(file int, ev any))) {
	events := mailbox.New(outOfDate)
	put := func(file int, ev any) { events.Put(moment{time.Now(), ev, file}) }
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.All() {
			apply(m)
		}
	})
	stop := relay(asked, func() { put(0, nil) })
	call(put)
	stop()
	events.Close()
	wg.Wait()
}

// relay calls tell for each signal in asked until stop is called.
func relay(asked <-chan os.Signal, tell func()) (stop func()) {
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-asked:
				tell()
			case <-stopped:
				return
			}
		}
	})
	return func() {
		close(stopped)
		wg.Wait()
	}
}
