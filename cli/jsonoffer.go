package cli

import (
	"braid/download"
	"braid/metalink"
	"braid/source"
	"braid/verify"
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

func newOfferEvent(m moment, f metalink.File) offerEvent {
	return offerEvent{
		head: m.head("offer"), Size: known(f.Size), ETag: f.ETag, IgnoredCount: f.IgnoredCount, NoDigest: f.NoDigest, Claims: each(f.Claims, newClaimLine),
		Mirrors: each(f.Mirrors, func(m metalink.Mirror) mirrorLine {
			return mirrorLine{source.Mask(m.URL), m.Pri, m.Pref, m.Geo, m.Depth}
		}),
		Documents: each(f.Documents, func(d metalink.MetaURL) documentLine { return documentLine{source.Mask(d.URL), d.Type, d.Name} }),
		Ignored:   each(f.Ignored, func(i metalink.Ignored) ignoredLine { return ignoredLine{i.Target, i.Reason} }),
	}
}

// each makes a line of each of a list. Of none it is an empty list, and not null.
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

// newPieceLine is nil where there are none.
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

// errorText is empty for no error.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
