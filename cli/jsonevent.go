package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"braid/byterange"
	"braid/download"
	"braid/source"
	"braid/verify"
)

// jsonEvent is the line for an event.
func jsonEvent(m moment) any {
	switch ev := m.ev.(type) {
	case download.Started:
		return startEvent{m.head("start"), ev.URL, ev.Path}
	case download.Resumed:
		return resumeEvent{m.head("resume"), ev.Bytes}
	case download.Offered:
		e := newOfferEvent(m, ev.File)
		e.Document = ev.By
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
		return seedEvent{m.head("seed"), ev.Peers, ev.Given, addresses(ev)}
	case download.Note:
		return noteEvent{m.head("note"), ev.Text}
	}
	return nil
}

// addresses are where peers may connect to us.
func addresses(ev download.Seeding) (at []string) {
	for _, a := range ev.Addrs {
		at = append(at, a.String())
	}
	return at
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
		Sources: each(res.Sources, func(s download.SourceResult) sourceLine {
			return sourceLine{s.URL, s.Host, s.Bytes, s.Rate, s.Banned, why(s.Err)}
		}),
	}
	if t := res.LastModified.UTC(); !t.IsZero() {
		e.LastModified = &t
	}
	return e
}

func newErrorEvent(m moment, f *failure) errorEvent {
	return errorEvent{
		head: m.head("error"), Code: f.code, What: f.what, Where: f.where, Why: f.why, Kept: f.kept, Hint: f.hint,
	}
}

// A lineWriter writes JSON, one object a line. After an error it writes no more.
type lineWriter struct {
	w   io.Writer
	err error
}

// write writes one event. A nil lineWriter writes nothing, and no event is no line.
func (l *lineWriter) write(event any) {
	if l == nil || l.err != nil || event == nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if l.err = e.Encode(event); l.err == nil {
		_, l.err = l.w.Write(escapeJSON(b.Bytes()))
	}
}

// escapeJSON writes what could move a terminal's cursor or turn its text around as \u escapes, which mean the
// same to a reader of JSON (rule 61). What is not ASCII can only be inside a string; the encoder has replaced
// invalid UTF-8.
func escapeJSON(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for _, r := range string(line) {
		if ' ' <= r && r < 0x7f || r == '\n' || source.Escape(string(r)) == string(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
