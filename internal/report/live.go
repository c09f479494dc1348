package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/internal/markup"
	"braid/internal/option"
)

// Style returns the style sheet for the result of [Recorder.Draw].
func Style() []byte {
	return []byte(sheet(true))
}

// Draw returns the download as HTML, for a page that includes Style. A download that has ended looks as in a [Page]. A
// running download is drawn with its state at the time at.
func (r *Recorder) Draw(at time.Time) []byte {
	d, states := &r.facts, map[*Mirror]string(nil)
	if d.ending.live {
		d, states = r.asOf(at)
	}
	s := d.section()
	s.strip = d.strip()
	if d.ending.live {
		s.states = states
		s.class, s.outcome, s.headline = "open", "running", r.limitNow()
		for _, m := range d.Mirrors {
			if m.Asked == 0 && len(d.ranked) < maxRowsShown {
				d.ranked = append(d.ranked, m)
			}
		}
		s.table = d.ranked
	}
	var p markup.Page
	s.html(&p)
	return p.Bytes()
}

// asOf returns the facts of a running download as if it ended at the time at, and the states of its sources.
func (r *Recorder) asOf(at time.Time) (*facts, map[*Mirror]string) {
	r.advance(at)
	d := r.facts
	d.ending.at = max(r.now, 1)
	q := &d.requests
	q.past, d.columns.work, d.pauses = slices.Clone(q.past), slices.Clone(d.columns.work), slices.Clone(d.pauses)
	for running := range q.inOrder() {
		f := *running
		f.ended = r.now
		if m := f.mirror; m.since < r.now {
			m.Working, m.since = m.Working+r.now-m.since, r.now
		}
		d.columns.worked(f.asked, f.ended)
		q.past = append(q.past, f)
	}
	states := map[*Mirror]string{}
	for _, m := range d.Mirrors {
		states[m] = r.State(m)
		if m.running > 0 {
			states[m] += ", " + option.RateText(m.Speed.Now(at, m.Bytes))
		} else if m.failure != "" && !d.told(m) {
			states[m] += ": " + m.failure
		}
		if m.pause != nil {
			d.pauses.add(gap{m, m.pause.from, min(m.pause.to, r.now)})
		}
	}
	d.settle()
	return &d, states
}

// limitNow describes what limits the speed of a running download.
func (r *Recorder) limitNow() string {
	silent := time.Duration(never)
	for _, f := range r.requests.running {
		if quiet := r.now - f.latest; silent == never || quiet < silent {
			silent = quiet
		}
	}
	closed := r.requests.closed()
	known, working := max(len(r.Mirrors), r.named), 0
	for _, m := range r.Mirrors {
		switch {
		case m.running > 0:
			working++
		case (m.gone || m.banned) && !m.up:
			known--
		}
	}
	switch {
	case r.Comparing != nil:
		return "Some bytes are wrong; the received bytes are compared with those of other sources."
	case r.course.complete != never:
		return "All bytes were received and are being checked."
	case len(r.requests.running) == 0:
		return r.idle()
	case r.course.answer == never:
		return "Waiting for the first answer since " + option.TimeText(r.now) + "."
	case silent > quietAfter:
		return "No source has sent bytes for " + option.TimeText(silent) + "."
	case r.Limit > 0 && r.Progress.Rate > 0.8*float64(r.Limit):
		return "The limit of " + option.RateText(float64(r.Limit)) + " is reached."
	case closed > 0:
		return fmt.Sprintf("The link seems full: %s more added no speed.", option.Count(closed, "connection"))
	case known == 1 && r.named == 0 && len(r.Mirrors) == 1:
		return "All bytes come from one server that names no mirrors, so that server limits the speed."
	case r.NoDigest && working == 1:
		return "The server names mirrors, but sends no digest, so only the server itself is used."
	case working < known:
		return fmt.Sprintf("%d of %s are in use; more are tried while that increases the speed.", working,
			option.Count(known, "source"))
	}
	return "All known sources are in use: they or the link limit the speed."
}

// idle describes why no source is in use.
func (r *Recorder) idle() string {
	for _, m := range r.Mirrors {
		if state := r.State(m); strings.HasPrefix(state, "again") {
			return fmt.Sprintf("No source is in use. %s will be asked %s.", m.Host, state)
		}
	}
	return "No source is in use."
}

// strip shows the file from its beginning to its end, with the source that sent each part.
type strip struct {
	Box         string
	Prior       []bar
	Here, Asked []layer
	Void        string // path around the bytes that were wrong
}

// strip returns the strip of the file, which also shows the ranges that are being fetched. It returns nil if the size
// is unknown, if no data was received, or if the download gets no charts.
func (d *facts) strip() *strip {
	p := &d.columns.picture
	if d.size <= 0 || p.row == 0 || !d.pictured() {
		return nil
	}
	rows := float64(d.size) / float64(p.row)
	s := &strip{Box: "0 0 " + number(rows) + " 1"}
	for _, x := range d.earlier.ranges {
		s.Prior = append(s.Prior, bar{X: number(float64(x.Start) / float64(p.row)), W: number(float64(x.Len()) / float64(p.row))})
	}
	begun := 0 // column of the last restart
	if n := len(d.restarts.first); n > 0 {
		begun = int(d.restarts.first[n-1].At / d.columns.width)
	}
	here, asked := map[*Mirror]string{}, map[*Mirror]string{}
	owners := p.last(begun)
	for i, j := 0, 0; i < len(owners); i = j {
		for j = i + 1; j < len(owners) && owners[j] == owners[i]; j++ {
		}
		if owners[i] > 0 {
			here[d.Mirrors[owners[i]-1]] += box(float64(i), min(float64(j), rows))
		}
	}
	for x := range d.void.All() { // wrong bytes fill whole rows, which are the smallest visible parts
		s.Void += box(float64(x.Start/p.row), min(float64((x.End-1)/p.row+1), rows))
	}
	for f := range d.requests.inOrder() {
		asked[f.mirror] += box(float64(f.at)/float64(p.row), float64(min(f.to, d.size))/float64(p.row))
	}
	for _, m := range d.Mirrors {
		if here[m] != "" {
			s.Here = append(s.Here, layer{m.Class, m.Name, here[m]})
		}
		if asked[m] != "" {
			s.Asked = append(s.Asked, layer{m.Class, m.Name + ": requested, not yet received", asked[m]})
		}
	}
	return s
}

// box returns the path around the part of the strip between from and to.
func box(from, to float64) string {
	return fmt.Sprintf("M%s 0h%sv1h-%sz", number(from), number(to-from), number(to-from))
}

// last returns for each row the source that sent bytes of that row last, as its number plus 1. 0 means no source.
// Columns before the given one do not count.
func (p *raster) last(from int) []int16 {
	owners := make([]int16, maxRows)
	for _, col := range p.columns[min(from, len(p.columns)):] {
		for i, c := range col {
			if c.owner > 0 {
				owners[i] = c.owner
			}
		}
	}
	return owners
}
