package render

import (
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/problem"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// jsonEvent returns the JSON object for m, or nil if m has no object.
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
		return mirrorEvent{Head: m.head("mirror"), State: "up", ID: ev.ID, URL: ev.URL, Host: ev.Host,
			RTT: ev.RTT.Seconds(), Whole: ev.Whole}
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
		return progressEvent{m.head("progress"), ev.Done, SizeOf(ev.Size), ev.Rate, ev.Active}
	case download.Comparing:
		return compareEvent{m.head("compare"), ev.Done, ev.Size}
	case download.Restarted:
		return retryEvent{Head: m.head("retry"), Why: ev.Reason}
	case download.Complete:
		return completeEvent{m.head("complete"), ev.Size}
	case download.Verified:
		return verifyEvent{m.head("verify"), newProven(ev.Proof)}
	case download.Seeding:
		return seedEvent{m.head("seed"), ev.Peers, ev.Given, addresses(ev)}
	case download.Note:
		return noteEvent{m.head("note"), ev.Text}
	}
	return nil
}

// addresses returns the addresses where peers can connect.
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
	return mirrorEvent{Head: m.head("mirror"), State: state, ID: ev.ID, URL: ev.URL, Host: ev.Host, Why: why(ev.Err)}
}

func newRangeEvent(m moment, ev download.RangeStarted) rangeEvent {
	e := rangeEvent{Head: m.head("range"), ID: ev.ID, Host: ev.Host, Start: ev.Range.Start, Fetch: ev.Fetch, Why: ev.Why.String()}
	if ev.Range.End != byterange.Unbounded {
		e.End = &ev.Range.End
	}
	return e
}

// SizeOf returns a pointer to size, or nil if size is negative, which means unknown.
func SizeOf(size int64) *int64 {
	if size < 0 {
		return nil
	}
	return &size
}

func newProven(p verify.Proof) Proven {
	f := Proven{Verified: p.Verified(), Digests: map[string]string{}, Evidence: []string{}}
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
		f.Signatures = append(f.Signatures, signatureLine{a.Kind, a.From, a.Key, a.Signer, a.Pinned, timeOf(a.Time)})
		f.Evidence = append(f.Evidence, a.String())
	}
	return f
}

// NewOutcome returns the outcome of r from its result. The file of r must be complete.
func NewOutcome(r download.Request, res download.Result) Outcome {
	o := Outcome{
		URL: source.Mask(r.URL), Path: res.Path, Size: res.Size,
		Proven: newProven(res.Proof), Unvalidated: res.Unvalidated, ETag: res.ETag, AlreadyComplete: res.AlreadyComplete,
		NotModified: res.NotModified, Older: res.Older, Resumed: res.Resumed, Fetched: res.Fetched,
		Duplicate: res.Duplicate, Compared: res.Compared, Elapsed: res.Elapsed.Seconds(),
		Sources: each(res.Sources, func(s download.SourceResult) sourceLine {
			return sourceLine{s.URL, s.Host, s.Bytes, s.Rate, s.Banned, why(s.Err)}
		}),
	}
	for _, p := range res.Looked.Places {
		o.Looked = append(o.Looked, newLookedLine(p))
	}
	o.LastModified = timeOf(res.LastModified)
	return o
}

// timeOf returns a pointer to t in UTC, or nil if t is zero.
func timeOf(t time.Time) *time.Time {
	if t = t.UTC(); t.IsZero() {
		return nil
	}
	return &t
}

// lookedLine is a place that was searched for a digest of the file.
type lookedLine struct {
	URL    string      `json:"url"`
	Claims []claimLine `json:"claims,omitempty"` // digests found at URL
	By     string      `json:"by,omitempty"`     // the other host that answered, so the digests prove nothing
	Why    string      `json:"why,omitempty"`    // why URL gives no usable digest

	Unsigned string `json:"unsigned,omitempty"` // why the list's signature was not accepted, if an untrusted key made it
}

func newLookedLine(p verify.Place) lookedLine {
	l := lookedLine{URL: p.URL, By: p.By, Why: why(p.Err), Unsigned: why(p.Unsigned)}
	if len(p.Claims) > 0 {
		l.Claims = each(p.Claims, newClaimLine)
	}
	return l
}

func newErrorEvent(m moment, f *problem.Problem, code int) errorEvent {
	return errorEvent{
		Head: m.head("error"), Code: code, What: f.What, Where: f.Where, Why: f.Why, Kept: f.Kept, Hint: f.Hint,
	}
}

// OfferEvent describes a file as its server offers it. Hops and ranges are only set by braid probe.
type OfferEvent struct {
	Head
	Hops         []hopLine      `json:"hops,omitempty"`
	Size         *int64         `json:"size,omitempty"`
	Ranges       *bool          `json:"ranges,omitempty"`
	ETag         string         `json:"etag,omitempty"`
	Claims       []claimLine    `json:"claims"` // digests stated by the server
	Mirrors      []mirrorLine   `json:"mirrors"`
	Documents    []documentLine `json:"documents"`
	Ignored      []ignoredLine  `json:"ignored"`
	IgnoredCount int            `json:"ignored_count"`
	NoDigest     bool           `json:"no_digest"`          // the server's mirrors are ignored, because no strong digest is known
	Document     string         `json:"document,omitempty"` // name of the Metalink document that contains the description, if any
	Evidence     *evidenceLine  `json:"evidence,omitempty"` // only for probe
	Speeds       []speedLine    `json:"speeds,omitempty"`   // only for probe --speed
	Looked       []lookedLine   `json:"looked,omitempty"`   // only for probe: the places that were searched for a digest
}

// speedLine is the measured speed of one location of the file.
type speedLine struct {
	URL   string  `json:"url"`
	Host  string  `json:"host"`
	RTT   float64 `json:"rtt,omitempty"` // seconds
	Bytes int64   `json:"bytes"`
	Took  float64 `json:"took"` // seconds since the answer
	Rate  float64 `json:"rate"` // bytes per second
	Error string  `json:"error,omitempty"`
}

// evidenceLine describes what else, besides the digests, can verify the file.
type evidenceLine struct {
	Document   string     `json:"document,omitempty"` // the document that was read
	Error      string     `json:"error,omitempty"`    // reason why the document is not used
	Pieces     *pieceLine `json:"pieces,omitempty"`
	Signatures []saidLine `json:"signatures"`
}

type pieceLine struct {
	Algorithm string `json:"algorithm"`
	Count     int    `json:"count"`
	Length    int64  `json:"length"`
}

// saidLine describes a signature with its own statements, which were not verified.
type saidLine struct {
	From  string   `json:"from"`
	By    []string `json:"by"`
	Error string   `json:"error,omitempty"`
}

type hopLine struct {
	Status int    `json:"status"`
	URL    string `json:"url"`
}

type claimLine struct {
	Algorithm string `json:"algorithm"`
	Hex       string `json:"hex"`
	Field     string `json:"field"`
	Channel   string `json:"channel"`
}

type mirrorLine struct {
	URL   string `json:"url"`
	Pri   int    `json:"pri"`
	Pref  bool   `json:"pref"`
	Geo   string `json:"geo,omitempty"`
	Depth int    `json:"depth"`
}

type documentLine struct {
	URL  string `json:"url"`
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type ignoredLine struct {
	Target string `json:"target"`
	Reason string `json:"reason"`
}

func newOfferEvent(m moment, f metalink.File) OfferEvent {
	return OfferEvent{
		Head: m.head("offer"), Size: SizeOf(f.Size), ETag: f.ETag, IgnoredCount: f.IgnoredCount, NoDigest: f.NoDigest,
		Claims: each(f.Claims, newClaimLine),
		Mirrors: each(f.Mirrors, func(m metalink.Mirror) mirrorLine {
			return mirrorLine{source.Mask(m.URL), m.Pri, m.Pref, m.Geo, m.Depth}
		}),
		Documents: each(f.Documents, func(d metalink.MetaURL) documentLine {
			return documentLine{source.Mask(d.URL), d.Type, d.Name}
		}),
		Ignored: each(f.Ignored, func(i metalink.Ignored) ignoredLine { return ignoredLine{i.Target, i.Reason} }),
	}
}

// each returns the results of line for all elements of list. In JSON, an empty result is [] rather than null.
func each[S, T any](list []S, line func(S) T) []T {
	lines := make([]T, len(list))
	for i, x := range list {
		lines[i] = line(x)
	}
	return lines
}

func newClaimLine(c verify.Claim) claimLine {
	return claimLine{c.Digest.Algorithm().String(), c.Digest.Hex(), c.Field, c.Channel.String()}
}

func newHopLine(h metalink.Hop) hopLine { return hopLine{h.Status, source.Mask(h.URL)} }

// newPieceLine returns the line for p, or nil if p is zero.
func newPieceLine(p verify.Pieces) *pieceLine {
	if p.IsZero() {
		return nil
	}
	return &pieceLine{p.Algorithm().String(), p.Count(), p.Length()}
}

func newSaidLine(s download.Signed) saidLine {
	return saidLine{From: s.From, By: append([]string{}, s.By...), Error: errorText(s.Err)}
}

func newEvidenceLine(e download.Evidence) *evidenceLine {
	return &evidenceLine{e.Document, errorText(e.Err), newPieceLine(e.File.BestPieces()), each(e.Signatures, newSaidLine)}
}

func newSpeedLine(g download.Measurement) speedLine {
	return speedLine{g.URL, g.Host, g.RTT.Seconds(), g.Bytes, g.Took.Seconds(), g.Rate(), errorText(g.Err)}
}

// errorText returns the text of err, or "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
