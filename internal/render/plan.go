package render

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/source"
)

// planEvent is the plan for a download with --dry-run. Do is "download", "resume", "nothing" (the file is complete, or
// has no newer version), or "fail", which an error event explains.
type planEvent struct {
	Head
	Do       string      `json:"do"`
	URL      string      `json:"url"`
	Path     string      `json:"path"` // empty for standard output
	Document string      `json:"document,omitempty"`
	Size     *int64      `json:"size,omitempty"`
	Here     int64       `json:"here"`            // bytes of an earlier run
	Fetch    *int64      `json:"fetch,omitempty"` // bytes to download
	Why      string      `json:"why,omitempty"`   // reason why existing bytes are not used
	Require  string      `json:"require"`
	Claims   []claimLine `json:"claims"`
	Pieces   *pieceLine  `json:"pieces,omitempty"`
	Signed   []saidLine  `json:"signatures"`
	Places   []placeLine `json:"places"`
	Left     *LeftLine   `json:"part,omitempty"`
	Done     Proven      `json:"done,omitzero"`
}

// placeLine is a location of the file. The locations are listed in the order of their use in a download.
type placeLine struct {
	URL  string  `json:"url"`
	Why  string  `json:"why"`
	Pri  int     `json:"pri,omitempty"`
	Pref bool    `json:"pref,omitempty"`
	Geo  string  `json:"geo,omitempty"`
	Rate float64 `json:"rate,omitempty"` // bytes per second in earlier downloads
	RTT  float64 `json:"rtt,omitempty"`  // seconds in earlier downloads
}

// PlanLines returns lines about h. most is the maximum number of concurrent requests of the download.
func PlanLines(h download.Plan, most int) []string {
	size := ", of unknown size"
	if n := sizeKnown(h); n >= 0 {
		size = fmt.Sprintf(", %s (%d bytes)", option.SizeText(n), n)
	}
	rows := [][]string{{"file", cmp.Or(h.Path, "standard output") + size}, {"on disk", onDisk(h)}}
	if h.Done != nil {
		return Columns(append(rows, []string{"fetch", "nothing; " + NewDownload(nil, nil, false).gist(*h.Done)}))
	}
	rows = append(rows, []string{"fetch", fetchText(h)})
	for _, c := range h.Claims {
		rows = append(rows, []string{"digest",
			c.Digest.Algorithm().String() + " " + c.Digest.Hex() + strings.TrimPrefix(c.String(), c.Digest.Algorithm().String())})
	}
	if p := h.File.BestPieces(); !p.IsZero() {
		rows = append(rows, []string{"pieces",
			fmt.Sprintf("%d of %s by %v, in %s", p.Count(), option.SizeText(p.Length()), p.Algorithm(), h.Pieces)})
	}
	for _, s := range h.Signed {
		rows = append(rows, []string{"signature", saidText(s, h.Request.Trust.Anchors.Any())})
	}
	rows = append(rows, []string{"result", expected(h)})
	lines := append(Columns(rows), "", fmt.Sprintf(
		"%s, in the order of requests, at most %d at once; then measured speeds decide:",
		option.Count(len(h.Places), "place"), most))
	rows = nil
	for i, p := range h.Places {
		rows = append(rows, []string{fmt.Sprintf("%3d", i+1), source.Mask(p.URL), strings.Join(reasonsOf(h, p), ", ")})
	}
	return append(lines, Columns(rows)...)
}

func sizeKnown(h download.Plan) int64 {
	if h.Done != nil {
		return h.Done.Size
	}
	return h.File.Size
}

// onDisk describes the data that is already on disk.
func onDisk(h download.Plan) string {
	switch {
	case h.Done != nil && h.Done.AlreadyComplete:
		return "the right file"
	case h.Done != nil:
		return "a file of which no newer version exists"
	case h.Left == nil && h.Resumes > 0:
		return fmt.Sprintf("%s in a file with the final name", option.SizeText(h.Resumes))
	case h.Left == nil:
		return "none"
	case h.Restarts != "":
		return fmt.Sprintf("%s in %s, unusable: %s", option.SizeText(h.Left.Have.Len()), h.Left.Path, h.Restarts)
	}
	return fmt.Sprintf("%s in %s, from an earlier run", option.SizeText(h.Resumes), h.Left.Path)
}

func fetchText(h download.Plan) string {
	switch n := h.File.Size; {
	case n < 0:
		return "all of it, because the size is unknown"
	case h.Resumes > 0:
		return option.SizeText(n-h.Resumes) + ", the rest"
	default:
		return option.SizeText(n)
	}
}

func saidText(s download.Signed, trusts bool) string {
	if s.Err != nil {
		return s.From + ": " + s.Err.Error()
	}
	text := strings.Join(s.By, "; ") + ", in " + s.From
	if !trusts {
		text += ": cannot be validated without a trusted key (give one with --key FILE)"
	}
	return text
}

// expected describes how the file would be verified.
func expected(h download.Plan) string {
	if e, ok := errors.AsType[*download.Error](h.Refused); ok {
		return "not accepted: " + why(e.Err)
	} else if h.Refused != nil {
		return "not accepted: " + why(h.Refused)
	}
	var by []string
	for _, c := range h.Claims {
		if c.Digest.Algorithm().Strong() {
			by = append(by, c.String())
		}
	}
	signed := slices.ContainsFunc(h.Signed, func(s download.Signed) bool { return s.Err == nil })
	if signed && h.Request.Trust.Anchors.Any() {
		signature := "a signature, if a key or certificate that you trust made it"
		if len(by) > 0 {
			signature = "and " + signature
		}
		by = append(by, signature)
	}
	switch d := h.Request.Described; {
	case len(by) > 0:
		return "verified: " + strings.Join(by, ", ")
	case d != nil && d.Torrent && !d.Pieces.IsZero():
		return "checked by the SHA-1 pieces of " + d.By
	case h.File.NoDigest:
		return "unverified: the server names mirrors, but gives no SHA-256, so they would not be used"
	}
	return "unverified: no checksum is known (give one with --sha256)"
}

// reasonsOf returns where the location p is from, and why it has its position in the order.
func reasonsOf(h download.Plan, p download.Place) (reasons []string) {
	switch p.Role {
	case download.TheURL:
		reasons = append(reasons, "the URL itself")
	case download.Named:
		by := "the server"
		if d := h.Request.Described; d != nil {
			by = d.By
		}
		reasons = append(reasons, "named by "+by)
	case download.ByUser:
		reasons = append(reasons, "named by you")
	case download.Reserve:
		reasons = append(reasons,
			"named by you; without a SHA-256 it cannot be combined with the others, so it is used only if they fail")
	case download.Swarm:
		reasons = append(reasons, "peers, if the others are slow or gone")
	}
	for _, some := range []struct {
		when bool
		text string
	}{
		{p.Mirror.Pref, "pref"}, {p.Near, "in " + p.Mirror.Geo + ", which you prefer"},
		{p.Mirror.Geo != "" && !p.Near, "geo=" + p.Mirror.Geo},
		{p.Mirror.Pri > 0, fmt.Sprintf("pri=%d", p.Mirror.Pri)}, {p.Rate > 0, option.RateText(p.Rate) + " the last time"},
	} {
		if some.when {
			reasons = append(reasons, some.text)
		}
	}
	return reasons
}

func NewPlanEvent(at time.Time, h download.Plan, fails bool) planEvent {
	e := planEvent{
		Head: NewHead(at, "plan"), Do: "download", URL: source.Mask(h.Request.URL), Path: h.Path,
		Size: SizeOf(sizeKnown(h)), Here: h.Resumes, Why: h.Restarts,
		Require: cmp.Or(h.Request.Trust.Require.String(), "none"), Claims: each(h.Claims, newClaimLine),
		Pieces: newPieceLine(h.File.BestPieces()), Signed: each(h.Signed, newSaidLine),
		Places: each(h.Places, func(p download.Place) placeLine {
			return placeLine{source.Mask(p.URL), strings.Join(reasonsOf(h, p), ", "), p.Mirror.Pri, p.Mirror.Pref,
				p.Mirror.Geo, p.Rate, p.RTT.Seconds()}
		}),
	}
	if d := h.Request.Described; d != nil {
		e.Document = d.By
	}
	if h.Left != nil {
		l := h.Left
		e.Left = &LeftLine{
			Name: l.Name, Path: l.Path, URL: l.URL, Size: SizeOf(l.Size), Here: l.Have.Len(),
			Changed: l.Changed.UTC().Truncate(time.Second),
			Due:     l.Due, Require: l.Require,
		}
	}
	switch {
	case h.Done != nil:
		e.Do, e.Done, e.Fetch = "nothing", newProven(h.Done.Proof), new(int64)
	case h.File.Size >= 0:
		e.Fetch = SizeOf(h.File.Size - h.Resumes)
	}
	switch {
	case fails:
		e.Do = "fail"
	case h.Resumes > 0:
		e.Do = "resume"
	}
	return e
}

// LeftLine describes an incomplete download.
type LeftLine struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // path of the part file
	URL     string    `json:"url"`  // without secrets
	Size    *int64    `json:"size,omitempty"`
	Here    int64     `json:"here"` // bytes on disk
	Changed time.Time `json:"changed"`
	InUse   bool      `json:"in_use"`
	PID     int       `json:"pid,omitempty"` // process that uses the part file
	Require string    `json:"require,omitempty"`
	Due     bool      `json:"due,omitempty"` // the file is complete, but its --on-complete has not succeeded yet
}

func NewLeftLine(l partfile.Left) LeftLine {
	return LeftLine{
		Name: l.Name, Path: l.Path, URL: l.Identity.URL, Size: SizeOf(SizeOfLeft(l)), Here: l.Have.Len(),
		Changed: l.Changed.UTC().Truncate(time.Second),
		InUse:   l.InUse, PID: l.PID, Due: l.Due, Require: l.Identity.Require,
	}
}

// SizeOfLeft returns the size of the complete file, or -1 if the size is unknown.
func SizeOfLeft(l partfile.Left) int64 {
	if !l.Known {
		return -1
	}
	return l.Identity.Size
}
