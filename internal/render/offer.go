package render

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// NewProbeEvent returns the JSON object for o, with the evidence and the measured speeds.
func NewProbeEvent(at time.Time, o download.Offer, evidence download.Evidence, measured []download.Measurement) OfferEvent {
	e := newOfferEvent(moment{at: at}, o.File)
	e.Hops, e.Ranges, e.Evidence, e.Speeds = each(o.Hops, newHopLine), &o.Ranges, newEvidenceLine(evidence),
		each(measured, newSpeedLine)
	e.Looked = each(o.Looked.Places, newLookedLine)
	return e
}

// ProbeLines returns lines about o, the evidence and the measured speeds. require is the proof that a download would need.
func ProbeLines(o download.Offer, evidence download.Evidence, require download.Require,
	measured []download.Measurement,
) []string {
	return slices.Concat(offerLines(o, require), lookupLines(o.Looked, require, o.Contradiction), evidenceLines(evidence),
		speedLines(measured))
}

func offerLines(o download.Offer, require download.Require) []string {
	var lines []string
	for _, h := range o.Hops {
		line := source.Mask(h.URL)
		if h.Status > 0 { // only for HTTP responses
			line = strings.TrimSpace(fmt.Sprint(h.Status, " ", http.StatusText(h.Status))) + "  " + line
		}
		lines = append(lines, line)
	}
	size := "unknown"
	if o.File.Size >= 0 {
		size = fmt.Sprintf("%s (%d bytes)", option.SizeText(o.File.Size), o.File.Size)
	}
	ranges := map[bool]string{true: "yes", false: "not announced"}[o.Ranges]
	etag := cmp.Or(o.ETag, "none")
	rows := [][]string{{"size", size}, {"ranges", ranges}, {"etag", option.Shorten(etag, 100)}}
	for _, c := range o.File.Claims {
		rows = append(rows, []string{c.Digest.Algorithm().String(),
			c.Digest.Hex() + " " + strings.TrimPrefix(c.String(), c.Digest.Algorithm().String()+" ")})
	}
	if len(o.File.Claims) == 0 {
		rows = append(rows, []string{"digests", "none"})
	}
	if o.Wrong != nil {
		rows = append(rows, []string{"wrong file", "the last response is for a different file: " + o.Wrong.Error()})
	}
	if require != download.RequireNothing {
		rows = append(rows, []string{"needed", "a " + require.String()})
	}
	lines = append(lines, Columns(rows)...)
	lines = append(lines, mirrorLines(o.File)...)
	return append(lines, documentLines(o.File)...)
}

// lookupLines returns lines about the search for a digest that the server does not send: which places were searched,
// and whether the digests found would verify a download. If require is a signature, an unsigned list is not enough.
func lookupLines(f verify.Finding, require download.Require, contradiction error) []string {
	if len(f.Places) == 0 {
		return nil
	}
	rows := [][]string{}
	for _, p := range f.Places {
		rows = append(rows, []string{" ", p.String()})
	}
	for _, c := range f.Claims {
		end := "a download would be verified: "
		if require == download.RequireSignature && c.Channel != verify.Signed {
			end = "a download also needs a signature: "
		}
		rows = append(rows, []string{" ", end + c.String() + " (" + c.Digest.Hex() + ")"})
	}
	if contradiction != nil {
		rows = append(rows, []string{" ", "a download would fail: " + contradiction.Error()})
	}
	return append([]string{"", "looked for a checksum:"}, Columns(rows)...)
}

// mirrorLines returns lines about the mirrors, the first one to be tried at the beginning.
func mirrorLines(f metalink.File) []string {
	lines := []string{"", "mirrors: " + strconv.Itoa(len(f.Mirrors))}
	if f.NoDigest {
		lines[1] += "; those named by the server are not used, because it sends no SHA-256 (RFC 6249, section 6; " +
			"give one with --sha256 HEX)"
	}
	var rows [][]string
	for i, m := range f.Mirrors {
		pref := ""
		if m.Pref {
			pref = "pref"
		}
		rows = append(rows, []string{
			fmt.Sprintf("%3d", i+1), fmt.Sprintf("pri=%d", m.Pri), "geo=" + m.Geo, fmt.Sprintf("depth=%d", m.Depth),
			pref, source.Mask(m.URL),
		})
	}
	return append(lines, Columns(rows)...)
}

func documentLines(f metalink.File) (lines []string) {
	if len(f.Documents) > 0 {
		lines = append(lines, "", "documents: "+strconv.Itoa(len(f.Documents)))
	}
	var rows [][]string
	for _, d := range f.Documents {
		rows = append(rows, []string{" ", d.Type, source.Mask(d.URL), d.Name})
	}
	lines = append(lines, Columns(rows)...)
	if f.IgnoredCount > 0 {
		lines = append(lines, "", "ignored: "+strconv.Itoa(f.IgnoredCount))
	}
	rows = nil
	for _, i := range f.Ignored {
		rows = append(rows, []string{" ", option.Shorten(source.Escape(i.Target), 100), i.Reason})
	}
	return append(lines, Columns(rows)...)
}

// evidenceLines returns lines about what else, besides the digests, can verify the file.
func evidenceLines(e download.Evidence) []string {
	var rows [][]string
	if e.Err != nil {
		rows = append(rows, []string{" ", "no document", e.Document + " is not used: " + e.Err.Error()})
	}
	if p := e.File.BestPieces(); !p.IsZero() {
		rows = append(rows, []string{" ", "pieces",
			fmt.Sprintf("%d of %s by %v, in %s", p.Count(), option.SizeText(p.Length()), p.Algorithm(), e.Document)})
	}
	for _, s := range e.Signatures {
		if s.Err != nil {
			rows = append(rows, []string{" ", "no signature", s.From + ": " + s.Err.Error()})
		}
		for _, by := range s.By {
			rows = append(rows, []string{" ", "signature", by + ", in " + s.From})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return append([]string{"", "evidence:"}, Columns(rows)...)
}

func speedLines(all []download.Measurement) []string {
	if len(all) == 0 {
		return nil
	}
	var rows [][]string
	for _, g := range all {
		speed, more := option.SizeText(int64(g.Rate()))+"/s", ""
		switch {
		case g.Err != nil:
			speed, more = "none", g.Err.Error()
		case g.RTT > 0:
			more = option.TimeText(g.RTT) + " away"
		}
		rows = append(rows, []string{" ", speed, g.URL, more})
	}
	return append([]string{"", "speed of each source, measured briefly:"}, Columns(rows)...)
}
