package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
)

// damagedEvent: parts of a file are missing or wrong. Each goes from its start to its end, which is not part
// of it.
type damagedEvent struct {
	Head
	Path     string     `json:"path"`
	Size     int64      `json:"size"`     // of the right file
	Bytes    int64      `json:"bytes"`    // of these damaged
	Document string     `json:"document"` // that has the digests of the pieces
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

// Wrong shows where a file that will be repaired is damaged or, if that is unknown, why it is wrong.
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

// spans formats the first ranges of a set. The end in the text is inclusive.
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
