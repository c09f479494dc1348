package cli

import (
	"time"

	"braid/download"
	"braid/metalink"
	"braid/source"
)

// offerEvent is what a server says about a file. Hops and ranges are there when nothing but that was asked.
type offerEvent struct {
	head
	Hops         []hopLine      `json:"hops,omitempty"`
	Size         *int64         `json:"size,omitempty"`
	Ranges       *bool          `json:"ranges,omitempty"`
	ETag         string         `json:"etag,omitempty"`
	Claims       []claimLine    `json:"claims"` // of digests, by the server
	Mirrors      []mirrorLine   `json:"mirrors"`
	Documents    []documentLine `json:"documents"`
	Ignored      []ignoredLine  `json:"ignored"`
	IgnoredCount int            `json:"ignored_count"`
	NoDigest     bool           `json:"no_digest"`          // mirrors were named and are ignored, as there is no strong digest
	Document     string         `json:"document,omitempty"` // the Metalink document that says all this, and not a server
	Evidence     *evidenceLine  `json:"evidence,omitempty"` // of probe
	Speeds       []speedLine    `json:"speeds,omitempty"`   // of probe --speed
}

// speedLine is how fast a place was for a moment.
type speedLine struct {
	URL   string  `json:"url"`
	Host  string  `json:"host"`
	RTT   float64 `json:"rtt,omitempty"` // seconds
	Bytes int64   `json:"bytes"`
	Took  float64 `json:"took"` // seconds, from the answer on
	Rate  float64 `json:"rate"` // bytes a second
	Error string  `json:"error,omitempty"`
}

// evidenceLine is what a download could be verified with, beside the digests.
type evidenceLine struct {
	Document   string     `json:"document,omitempty"` // that was read
	Error      string     `json:"error,omitempty"`    // why it is of no use
	Pieces     *pieceLine `json:"pieces,omitempty"`
	Signatures []saidLine `json:"signatures"`
}

type pieceLine struct {
	Algorithm string `json:"algorithm"`
	Count     int    `json:"count"`
	Length    int64  `json:"length"`
}

// saidLine is what a signature says of itself.
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

func newOfferEvent(at time.Time, f metalink.File) offerEvent {
	e := offerEvent{
		head: newHead(at, "offer"), Size: known(f.Size), ETag: f.ETag, IgnoredCount: f.IgnoredCount, NoDigest: f.NoDigest,
		Claims: claimLines(f.Claims), Mirrors: []mirrorLine{}, Documents: []documentLine{}, Ignored: []ignoredLine{},
	}
	for _, m := range f.Mirrors {
		e.Mirrors = append(e.Mirrors, mirrorLine{source.Mask(m.URL), m.Pri, m.Pref, m.Geo, m.Depth})
	}
	for _, d := range f.Documents {
		e.Documents = append(e.Documents, documentLine{source.Mask(d.URL), d.Type, d.Name})
	}
	for _, i := range f.Ignored {
		e.Ignored = append(e.Ignored, ignoredLine{i.Target, i.Reason})
	}
	return e
}

func jsonHops(hops []metalink.Hop) (lines []hopLine) {
	for _, h := range hops {
		lines = append(lines, hopLine{h.Status, source.Mask(h.URL)})
	}
	return lines
}

func jsonEvidence(e download.Evidence) *evidenceLine {
	line := &evidenceLine{Document: e.Document, Signatures: []saidLine{}}
	if e.Err != nil {
		line.Error = e.Err.Error()
	}
	if p := e.File.BestPieces(); !p.IsZero() {
		line.Pieces = &pieceLine{p.Algorithm().String(), p.Count(), p.Length()}
	}
	for _, s := range e.Signatures {
		line.Signatures = append(line.Signatures, newSaidLine(s))
	}
	return line
}

func newSaidLine(s download.Signed) saidLine {
	l := saidLine{From: s.From, By: append([]string{}, s.By...)}
	if s.Err != nil {
		l.Error = s.Err.Error()
	}
	return l
}

func jsonSpeeds(all []download.Measurement) (lines []speedLine) {
	for _, g := range all {
		line := speedLine{URL: g.URL, Host: g.Host, RTT: g.RTT.Seconds(), Bytes: g.Bytes, Took: g.Took.Seconds(), Rate: g.Rate()}
		if g.Err != nil {
			line.Error = g.Err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}
