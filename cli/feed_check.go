package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"braid/antenna/feed"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

type feedCheck struct {
	feedFlags
	JSON bool
}

func newFeedCheck(s streams) (action, targets) {
	v := &feedCheck{feedFlags: newFeedFlags(s)}
	return v.run, targetsOf(v)
}

// A findingEvent is a violation in a feed.
type findingEvent struct {
	render.Head
	Line      int    `json:"line,omitempty"`
	Weight    string `json:"weight"` // note, repair, error
	Code      string `json:"code"`
	Field     string `json:"field,omitempty"`
	Text      string `json:"text"`
	Record    int    `json:"record,omitempty"` // line where the record begins
	URL       string `json:"url,omitempty"`
	Discarded bool   `json:"discarded,omitempty"` // a strict reader discards the record
}

// A checkedEvent is the summary of the whole feed, printed last.
type checkedEvent struct {
	render.Head
	Name     string `json:"name"`
	Format   string `json:"format"`
	Gzip     bool   `json:"gzip"`
	Charset  string `json:"charset,omitempty"`
	Declared string `json:"charset_declared,omitempty"`
	Records  int    `json:"records"`  // records that a strict reader accepts
	Repaired int    `json:"repaired"` // more records that only a tolerant reader accepts
	Lost     int    `json:"lost"`     // records that no reader reads
	Rejected string `json:"rejected,omitempty"`
	Code     int    `json:"code"`
}

// A feedTally counts the records of a feed that is decoded in strict mode. kept counts the accepted records, repaired
// those that tolerant mode would repair, and lost those with a fatal violation.
type feedTally struct {
	kept, repaired, lost, notes int

	record           int // the line of the current record
	discarded, fatal bool
}

func (t *feedTally) add(v feed.Violation) {
	if v.Record != t.record || v.Discarded && t.discarded {
		t.settle()
	}
	t.record = v.Record
	t.discarded = t.discarded || v.Discarded
	t.fatal = t.fatal || v.Weight == feed.Fatal
	if v.Weight == feed.Note {
		t.notes++
	}
}

// settle adds the current record to the counts.
func (t *feedTally) settle() {
	if t.discarded && t.fatal {
		t.lost++
	} else if t.discarded {
		t.repaired++
	}
	t.discarded, t.fatal = false, false
}

func (v *feedCheck) run(ctx context.Context, words []string) error {
	o, err := v.open(ctx, "check", words)
	if err != nil {
		return err
	}
	defer o.close()
	out := bufio.NewWriter(v.out)
	lines := render.NewJSONWriter(out)
	var t feedTally
	var written error
	d := v.decoder(o, true, func(found feed.Violation) {
		t.add(found)
		if v.JSON {
			lines.Write(eventOf(found))
		} else if _, err := io.WriteString(out, source.Escape(findingLine(o.name, found))+"\n"); err != nil {
			written = err
		}
	})
	var ended error
	for _, err := range d.Records() {
		if err != nil {
			ended = err
		} else if t.kept++; written != nil || lines.Err() != nil {
			break // the reader of the output has closed it
		}
	}
	t.settle()
	verdict := v.verdict(ctx, o.name, &t, ended)
	in := d.Input()
	in.Gzip = in.Gzip || o.gzipped
	if v.JSON {
		lines.Write(checkedOf(o, in, &t, verdict, ended))
	} else {
		fmt.Fprintln(out, source.Escape(checkedLine(o, in, &t)))
	}
	if err := errors.Join(lines.Err(), out.Flush()); err != nil {
		return outputFailure(err)
	}
	if verdict == nil { // a nil *problem.Problem in an error would not be nil
		return nil
	}
	return verdict
}

func (v *feedCheck) verdict(ctx context.Context, name string, t *feedTally, ended error) *problem.Problem {
	if ended != nil {
		return problemOf(ctx, v.failure(ctx, name, ended))
	}
	if t.repaired+t.lost == 0 {
		return nil
	}
	why := ""
	switch {
	case t.lost == 0:
		why = fmt.Sprintf("only tolerant readers accept %s of %d",
			option.Count(t.repaired, "record"), t.total())
	case t.repaired == 0:
		why = fmt.Sprintf("no reader accepts %s of %d", option.Count(t.lost, "record"), t.total())
	default:
		why = fmt.Sprintf("no reader accepts %s of %d, and only tolerant readers accept %d more",
			option.Count(t.lost, "record"),
			t.total(), t.repaired)
	}
	return &problem.Problem{Kind: download.Protocol, What: "check", Where: name, Why: why}
}

func (t *feedTally) total() int { return t.kept + t.repaired + t.lost }

var weightNames = map[feed.Weight]string{feed.Note: "note", feed.Repair: "repair", feed.Fatal: "error"}

// findingLine formats a violation like a compiler's message, so that editors can jump to the line.
func findingLine(name string, v feed.Violation) string {
	where := name
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", name, v.Line)
	}
	return fmt.Sprintf("%s: %s: %s [%s]", where, weightNames[v.Weight], v.Text, v.Tag())
}

func eventOf(v feed.Violation) findingEvent {
	return findingEvent{
		Head: render.NewHead(time.Now(), "finding"), Line: v.Line, Weight: weightNames[v.Weight], Code: v.Code,
		Field: v.Field, Text: v.Text,
		Record: v.Record, URL: v.URL, Discarded: v.Discarded,
	}
}

func checkedLine(o *opened, in feed.Input, t *feedTally) string {
	s := fmt.Sprintf("%s: %v", o.name, o.format)
	if in.Charset != "" {
		s += ", " + in.Charset
	}
	if in.Gzip {
		s += ", gzip"
	}
	s += fmt.Sprintf(": %s without errors", option.Count(t.kept, "record"))
	if t.repaired > 0 {
		s += fmt.Sprintf(", %d repaired", t.repaired)
	}
	if t.lost > 0 {
		s += fmt.Sprintf(", %d lost", t.lost)
	}
	if t.notes > 0 {
		s += "; " + option.Count(t.notes, "note")
	}
	return s
}

func checkedOf(o *opened, in feed.Input, t *feedTally, verdict *problem.Problem, ended error) checkedEvent {
	e := checkedEvent{
		Head: render.NewHead(time.Now(), "feed"), Name: o.name, Format: o.format.Name, Gzip: in.Gzip, Charset: in.Charset,
		Declared: in.Declared,
		Records:  t.kept, Repaired: t.repaired, Lost: t.lost,
	}
	if verdict != nil {
		e.Code = exitCode(verdict)
	}
	if reject, ok := errors.AsType[*feed.RejectError](ended); ok {
		e.Rejected = reject.Code
	}
	return e
}
