package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
	"braid/internal/report"
)

// result returns the line about r, the result of the download, and about what proved the file.
func (w *Download) result(r download.Result) string {
	const day = "2006-01-02 15:04 MST"
	size := option.SizeText(r.Size)
	switch {
	case r.AlreadyComplete:
		return fmt.Sprintf("%s: already complete (%s); %s", w.name(), size, w.proven(r))
	case r.Older:
		return w.name() + ": the existing file is kept, because the server's is older " +
			"(" + r.LastModified.Local().Format(day) + "); replace it with --allow-older"
	case r.NotModified:
		text := w.name() + ": nothing newer"
		if r.Size > 0 {
			text += " (" + size + ")"
		}
		if r.Proof.Valid() {
			text += "; " + w.proven(r)
		}
		return text
	}
	if r.Resumed > 0 {
		size += fmt.Sprintf(", %s of it from an earlier run,", option.SizeText(r.Resumed))
	}
	rate := report.MeanRate(r.Fetched, r.Size-r.Resumed, r.Elapsed)
	return fmt.Sprintf("%s: %s in %s (%s)%s; %s",
		w.name(), size, option.TimeText(r.Elapsed), option.RateText(rate), from(r), w.proven(r))
}

// gist returns what results must have in common to share a line.
func (w *Download) gist(r download.Result) string {
	switch {
	case r.Older:
		return "files kept, because the server's are older"
	case r.NotModified:
		return "nothing newer"
	}
	return w.proven(r)
}

// Done shows that the file of req is complete.
func (w *Download) Done(req download.Request, r download.Result) {
	w.done(moment{at: time.Now()}, req, r, w.result(r))
	var v vain
	v.add(req, r)
	v.warn(w.screen)
}

// done shows line, the message that the file is complete. The part about proof is green if the file is verified, and
// otherwise yellow.
func (w *Download) done(m moment, req download.Request, r download.Result, line string) {
	if w.lines != nil {
		w.lines.Write(doneEvent{m.head("done"), NewOutcome(req, r)})
	}
	h := yellow
	if r.Proof.Verified() {
		h = green
	}
	w.screen.conclude(h, line, w.proven(r))
}

// Bringers returns the hosts of the sources that sent bytes.
func Bringers(r download.Result) (hosts []string) {
	for _, s := range r.Sources {
		if s.Bytes > 0 {
			hosts = append(hosts, s.Host)
		}
	}
	return hosts
}

// from names the host that sent the data, or states how many did.
func from(r download.Result) string {
	switch hosts := Bringers(r); len(hosts) {
	case 0:
		return ""
	case 1:
		return " from " + hosts[0]
	default:
		return " from " + option.Count(len(hosts), "mirror")
	}
}

// proven describes what proved the file. If nothing did, it describes why, and what the user can do.
func (w *Download) proven(r download.Result) string {
	if r.Proof.Verified() {
		return "verified: " + r.Proof.String() + unvalidated(r)
	}
	s := r.Proof.String() + looked(r) + unvalidated(r)
	if r.Proof.ByPieces() { // SHA-1 is too weak for verified
		return "checked: " + s
	}
	if len(r.Proof.Evidence()) > 0 {
		return s
	}
	if r.Continued {
		return s + ": resumed without a validator"
	}
	why := "the server sent no checksum"
	if w.record.By != "" {
		why = "neither " + w.record.By + " nor the server gave a checksum"
	}
	if w.record.NoDigest {
		why = "the server named mirrors, but sent no checksum, so they were not used"
	}
	if w.one { // the summary has the hint
		return s + ": " + why
	}
	return s + ": " + why + " (give one with --sha256)"
}

// looked describes where a digest was searched.
func looked(r download.Result) string {
	if list, ok := r.Looked.Agreeing(r.Proof.Digests()); ok {
		name := list.URL[strings.LastIndexByte(list.URL, '/')+1:]
		return fmt.Sprintf(" (matches %s of %s, a list on a mirror)", name, list.By)
	}
	if n := len(r.Looked.Places); n > 0 {
		return " (looked at " + option.Count(n, "place") + ")"
	}
	return ""
}

// unvalidated describes signatures that could not be verified because no key is trusted.
func unvalidated(r download.Result) string {
	if len(r.Unvalidated) == 0 || r.Proof.Signed() {
		return ""
	}
	return "; signature present, not validated: no trusted key (--key FILE)"
}

// Shares shows how many bytes each source sent.
func (w *Download) Shares(sources []download.SourceResult) {
	for _, line := range shareLines(sources, w.screen.columns()) {
		w.screen.Say("%s", line)
	}
}

// shareLines returns a table of the sources that sent data or failed, or nil if fewer than two did. The table is at
// most width columns wide; 0 means any width.
func shareLines(sources []download.SourceResult, width int) []string {
	var total int64
	for _, s := range sources {
		total += s.Bytes
	}
	var rows [][]string
	idle := 0
	for _, s := range sources {
		if s.Bytes == 0 && s.Err == nil {
			idle++
			continue
		}
		rows = append(rows, shareRow(s, total))
	}
	if len(rows) < 2 {
		return nil
	}
	lines := fitting(rows, width)
	if idle > 0 {
		lines = append(lines, "  "+option.Count(idle, "other mirror")+" not needed")
	}
	return lines
}

func shareRow(s download.SourceResult, total int64) []string {
	row := sourceRow(cmp.Or(s.Host, s.URL), s.Bytes, total, s.Rate)
	if s.Bytes == 0 {
		row[3] = ""
	}
	reason := option.Shorten(report.Why(s.Err, s.Host), 60) // -v has shown the whole reason
	switch {
	case s.Banned:
		row = append(row, "dropped: "+reason)
	case s.Err != nil:
		row = append(row, "failed: "+reason)
	}
	return row
}

// sourceRow returns a source's row in a table: name, bytes, share of total, and rate.
func sourceRow(name string, bytes, total int64, rate float64) []string {
	return []string{"  " + name, fmt.Sprintf("%8s", option.SizeText(bytes)), fmt.Sprintf("%3d %%", option.Percent(bytes, total)),
		fmt.Sprintf("%10s", option.RateText(rate))}
}

// why returns the text of err, a source's error, shortened for a table or a list.
func why(err error) string { return report.Why(err, "") }

// damagedEvent: parts of a file are missing or wrong. The byte at the end of a range is not part of it.
type damagedEvent struct {
	Head
	Path     string     `json:"path"`
	Size     int64      `json:"size"`     // size of the intact file
	Bytes    int64      `json:"bytes"`    // number of damaged bytes
	Document string     `json:"document"` // document with the digests of the pieces
	Pieces   pieceLine  `json:"pieces"`
	Ranges   []spanLine `json:"ranges"`
}

type spanLine struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Right shows that a file is verified.
func (w *Download) Right(r download.Request, d download.Verdict) {
	result := download.Result{
		Path: d.Path, Size: d.Size, Proof: d.Proof, Unvalidated: d.Unvalidated, Looked: d.Looked, AlreadyComplete: true,
		Elapsed: d.Elapsed,
	}
	w.done(moment{at: time.Now()}, r, result, fmt.Sprintf("%s: %s; %s", w.name(), option.SizeText(d.Size), w.proven(result)))
}

// Wrong shows where a file that will be repaired is damaged. If that is unknown, it shows why the file is wrong.
func (w *Download) Wrong(d download.Verdict, why string) {
	if d.Damaged.Count() == 0 {
		w.screen.Say("%s: %s", w.name(), why)
	}
	w.Damaged(d)
}

// Damaged shows where a file is damaged, if that is known.
func (w *Download) Damaged(d download.Verdict) {
	if d.Damaged.Count() == 0 {
		return
	}
	bytes, size := d.Damaged.Len(), d.Pieces.Size()
	w.lines.Write(damagedEvent{
		NewHead(time.Now(), "damaged"), d.Path, size, bytes, d.PiecesFrom, *newPieceLine(d.Pieces),
		each(slices.Collect(d.Damaged.All()), func(r byterange.Range) spanLine { return spanLine{r.Start, r.End} }),
	})
	w.screen.Say("%s: damaged: %s of %s, %s", w.name(), option.SizeText(bytes), option.SizeText(size), spans(&d.Damaged))
}

// spans formats the first ranges of set. In the text, the end of a range is its last byte.
func spans(set *byterange.Set) string {
	const most = 8
	var parts []string
	for r := range set.All() {
		if len(parts) == most {
			break
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r.Start, r.End-1))
	}
	text := "bytes " + strings.Join(parts, ", ")
	if more := set.Count() - len(parts); more > 0 {
		text += " and " + option.Count(more, "range") + " more"
	}
	return text
}

// Repaired shows that a file was repaired and is verified now.
func (w *Download) Repaired(r download.Request, result download.Result) {
	text := fmt.Sprintf("%s: repaired: %s of %s fetched%s in %s; %s", w.name(), option.SizeText(result.Fetched),
		option.SizeText(result.Size), from(result), option.TimeText(result.Elapsed), w.proven(result))
	w.done(moment{at: time.Now()}, r, result, text)
}
