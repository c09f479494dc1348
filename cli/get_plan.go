package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/source"
)

// planEvent is what a download would begin with (--dry-run). Do is "download", "resume", "nothing" if the
// file is there already or there is nothing newer, or "fail", which an error event explains.
type planEvent struct {
	head
	Do       string         `json:"do"`
	URL      string         `json:"url"`
	Path     string         `json:"path"` // empty for standard output
	Document string         `json:"document,omitempty"`
	Size     *int64         `json:"size,omitempty"`
	Here     int64          `json:"here"`            // bytes of an earlier run that would be used
	Fetch    *int64         `json:"fetch,omitempty"` // bytes that would come
	Why      string         `json:"why,omitempty"`   // what is there is of no use
	Require  string         `json:"require"`
	Claims   []claimLine    `json:"claims"`
	Pieces   *pieceLine     `json:"pieces,omitempty"`
	Signed   []saidLine     `json:"signatures"`
	Places   []placeLine    `json:"places"`
	Left     *leftLine      `json:"part,omitempty"`
	Done     evidenceFields `json:"done,omitzero"`
}

// placeLine is a place of a file; they are in the order in which they would be opened.
type placeLine struct {
	URL  string  `json:"url"`
	Why  string  `json:"why"`
	Pri  int     `json:"pri,omitempty"`
	Pref bool    `json:"pref,omitempty"`
	Geo  string  `json:"geo,omitempty"`
	Rate float64 `json:"rate,omitempty"` // bytes a second, as remembered
	RTT  float64 `json:"rtt,omitempty"`  // seconds, as remembered
}

// planAll shows the plan of each file on the list and returns the exit code as far as it is known.
func (g *getCommand) planAll(ctx context.Context, client *download.Client, list *job.List) int {
	codes := []int{g.showNotes(ctx, list)}
	for r := range list.All() {
		if codes = append(codes, g.plan(ctx, client, r, list.Files > 1)); ctx.Err() != nil {
			break
		}
	}
	if list.Err != nil {
		codes = append(codes, g.told(ctx, list.Err))
	}
	return batchCode(append(codes, g.written(ctx)))
}

func (g *getCommand) plan(ctx context.Context, client *download.Client, r download.Request, several bool) int {
	w := newRenderer(g.screen, nil, several)
	r.Observe = func(ev download.Event) { w.apply(moment{at: time.Now(), ev: ev}) }
	if g.Job.Dir != "" && r.Dir == g.Job.Dir { // the command makes the folder
		r.MakeDir = true
	}
	h, err := client.Plan(ctx, r)
	if e, ok := errors.AsType[*download.SeveralError](err); ok {
		list, err := job.NewListOf(g.Job, e.Document, r)
		if err == nil {
			return g.planAll(ctx, client, list)
		}
		return g.wouldFail(ctx, err)
	}
	if g.leaves(err) {
		g.screen.say("%s: exists, and stays as it is", h.Path)
		return exitDone
	}
	if len(h.Places) > 0 || h.Done != nil {
		err = cmp.Or(g.tellPlan(h, err != nil, several), err)
	}
	if err != nil {
		return g.wouldFail(ctx, err)
	}
	return exitDone
}

// wouldFail reports the problem that the download would have, or that the plan had.
func (g *getCommand) wouldFail(ctx context.Context, err error) int {
	if g.ended != nil {
		g.ended(-1, download.Request{}, download.Result{}, err)
	}
	f := downloadProblem(ctx, err)
	f.Kept = ""
	g.report(f)
	return exitCode(f)
}

// tellPlan writes the plan to standard output.
func (g *getCommand) tellPlan(h download.Plan, fails, several bool) error {
	if g.lines != nil {
		g.lines.write(newPlanEvent(time.Now(), h, fails))
		return nil
	}
	lines := planLines(h, cmp.Or(int(g.Job.Transfer.Split), 16))
	if several {
		lines = append(lines, "")
	}
	return printLines(g.streams.out, lines)
}

// planLines formats the plan as text.
func planLines(h download.Plan, most int) []string {
	size := ", of unknown size"
	if n := sizeKnown(h); n >= 0 {
		size = fmt.Sprintf(", %s (%d bytes)", sizeText(n), n)
	}
	rows := [][]string{{"file", cmp.Or(h.Path, "standard output") + size}, {"on disk", onDisk(h)}}
	if h.Done != nil {
		return columns(append(rows, []string{"fetch", "nothing; " + newRenderer(nil, nil, false).gist(*h.Done)}))
	}
	rows = append(rows, []string{"fetch", fetchText(h)})
	for _, c := range h.Claims {
		rows = append(rows, []string{"digest",
			c.Digest.Algorithm().String() + " " + c.Digest.Hex() + strings.TrimPrefix(c.String(), c.Digest.Algorithm().String())})
	}
	if p := h.File.BestPieces(); !p.IsZero() {
		rows = append(rows, []string{"pieces",
			fmt.Sprintf("%d of %s by %v, in %s", p.Count(), sizeText(p.Length()), p.Algorithm(), h.Pieces)})
	}
	for _, s := range h.Signed {
		rows = append(rows, []string{"signature", saidText(s, h.Request.Anchors.Any())})
	}
	rows = append(rows, []string{"result", expected(h)})
	lines := append(columns(rows), "", fmt.Sprintf("%s, in the order in which they would be asked, at most %d at once; then what is measured decides:", count(len(h.Places), "place"), most))
	rows = nil
	for i, p := range h.Places {
		rows = append(rows, []string{fmt.Sprintf("%3d", i+1), source.Mask(p.URL), strings.Join(reasonsOf(h, p), ", ")})
	}
	return append(lines, columns(rows)...)
}

func sizeKnown(h download.Plan) int64 {
	if h.Done != nil {
		return h.Done.Size
	}
	return h.File.Size
}

// onDisk describes the existing data of the file.
func onDisk(h download.Plan) string {
	switch {
	case h.Done != nil && h.Done.AlreadyComplete:
		return "the right file"
	case h.Done != nil:
		return "a file of which there is nothing newer"
	case h.Left == nil && h.Resumes > 0:
		return fmt.Sprintf("%s of it, under its name", sizeText(h.Resumes))
	case h.Left == nil:
		return "nothing of it"
	case h.Restarts != "":
		return fmt.Sprintf("%s in %s, of no use: %s", sizeText(h.Left.Have.Len()), h.Left.Path, h.Restarts)
	}
	return fmt.Sprintf("%s in %s, of an earlier run", sizeText(h.Resumes), h.Left.Path)
}

func fetchText(h download.Plan) string {
	switch n := h.File.Size; {
	case n < 0:
		return "all of it, as the size is not known"
	case h.Resumes > 0:
		return sizeText(n-h.Resumes) + ", the rest"
	default:
		return sizeText(n)
	}
}

func saidText(s download.Signed, trusts bool) string {
	if s.Err != nil {
		return s.From + ": " + s.Err.Error()
	}
	text := strings.Join(s.By, "; ") + ", in " + s.From
	if !trusts {
		text += ": not to be validated without an anchor (--keyring FILE)"
	}
	return text
}

// expected describes the evidence that the file would have.
func expected(h download.Plan) string {
	var by []string
	for _, c := range h.Claims {
		if c.Digest.Algorithm().Strong() {
			by = append(by, c.String())
		}
	}
	signed := slices.ContainsFunc(h.Signed, func(s download.Signed) bool { return s.Err == nil })
	if signed && h.Request.Anchors.Any() {
		by = append(by, "and a signature, if a key or certificate that you trust made it")
	}
	switch d := h.Request.Described; {
	case len(by) > 0:
		return "verified: " + strings.Join(by, ", ")
	case d != nil && d.Torrent && !d.Pieces.IsZero():
		return "checked by the pieces of " + d.By + ", which are of SHA-1"
	case h.File.NoDigest:
		return "unverified: the server names mirrors, but gives no SHA-256, so they would not be used"
	}
	return "unverified: no checksum is known (give one with --sha256)"
}

// reasonsOf returns the origin of a place and the reasons of its position in the order.
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
		reasons = append(reasons, "your own")
	case download.Reserve:
		reasons = append(reasons, "your own; as there is no SHA-256, alone and only if the others fail")
	case download.Swarm:
		reasons = append(reasons, "peers, if the others are slow or gone")
	}
	for _, some := range []struct {
		when bool
		text string
	}{
		{p.Mirror.Pref, "pref"}, {p.Near, "in " + p.Mirror.Geo + ", where you want them first"},
		{p.Mirror.Geo != "" && !p.Near, "geo=" + p.Mirror.Geo},
		{p.Mirror.Pri > 0, fmt.Sprintf("pri=%d", p.Mirror.Pri)}, {p.Rate > 0, rateText(p.Rate) + " the last time"},
	} {
		if some.when {
			reasons = append(reasons, some.text)
		}
	}
	return reasons
}

func newPlanEvent(at time.Time, h download.Plan, fails bool) planEvent {
	e := planEvent{
		head: newHead(at, "plan"), Do: "download", URL: source.Mask(h.Request.URL), Path: h.Path,
		Size: known(sizeKnown(h)), Here: h.Resumes, Why: h.Restarts,
		Require: cmp.Or(h.Request.Require.String(), "none"), Claims: each(h.Claims, newClaimLine),
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
		e.Left = &leftLine{
			Name: l.Name, Path: l.Path, URL: l.URL, Size: known(l.Size), Here: l.Have.Len(),
			Changed: l.Changed.UTC().Truncate(time.Second),
			Due:     l.Due, Require: l.Require,
		}
	}
	switch {
	case h.Done != nil:
		e.Do, e.Done, e.Fetch = "nothing", evidenceOf(h.Done.Proof), new(int64)
	case h.File.Size >= 0:
		e.Fetch = known(h.File.Size - h.Resumes)
	}
	switch {
	case fails:
		e.Do = "fail"
	case h.Resumes > 0:
		e.Do = "resume"
	}
	return e
}
