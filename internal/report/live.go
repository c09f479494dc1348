package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"braid/internal/option"
	"braid/scheduler"
)

// Style is the style sheet of what [Recorder.Draw] returns.
func Style() []byte {
	var b bytes.Buffer
	for _, name := range []string{"charts.css", "style.css"} {
		data, err := files.ReadFile(name)
		if err != nil {
			panic("report: " + err.Error()) // it is in the program
		}
		b.Write(data)
	}
	return b.Bytes()
}

// Draw draws a download for a page that has Style: as a [Page] draws it when it has ended, and before that as of a time.
func (r *Recorder) Draw(at time.Time) []byte {
	d, states := &r.Facts, map[*Mirror]string(nil)
	if !r.ended {
		d, states = r.asOf(at)
	}
	s := d.section()
	s["Strip"] = r.strip(d)
	if !r.ended {
		s["States"] = states
		s["Class"], s["Outcome"], s["Headline"] = "open", "goes on", r.limitNow()
		for _, m := range d.Mirrors {
			if m.Asked == 0 && len(d.ranked) < maxRowsShown {
				d.ranked = append(d.ranked, m)
			}
		}
		s["Table"] = d.ranked
	}
	var b bytes.Buffer
	if err := pageTemplate().ExecuteTemplate(&b, "section", s); err != nil {
		panic("report: " + err.Error()) // the template and its data are of this package
	}
	return b.Bytes()
}

// asOf is what would be known of a download that goes on if it ended now, and what its sources do.
func (r *Recorder) asOf(at time.Time) (*Facts, map[*Mirror]string) {
	r.advance(at)
	d := r.Facts
	d.end, d.live = max(r.now, 1), true
	d.past, d.work, d.pauses = slices.Clone(d.past), slices.Clone(d.work), slices.Clone(d.pauses)
	for _, number := range slices.Sorted(maps.Keys(r.running)) {
		f := *r.running[number]
		f.ended = r.now
		if m := f.mirror; m.since < r.now {
			m.Working, m.since = m.Working+r.now-m.since, r.now
		}
		d.work.spread(r.width, f.asked, f.ended, (f.ended - f.asked).Seconds())
		d.past = append(d.past, f)
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

// limitNow says what keeps a download that goes on from being faster.
func (r *Recorder) limitNow() string {
	silent := time.Duration(never)
	for _, f := range r.running {
		if quiet := r.now - f.latest; silent == never || quiet < silent {
			silent = quiet
		}
	}
	closed := r.reasons.of(scheduler.ReasonUseless, scheduler.ReasonCrowded)
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
		return "What came is compared with what other sources have, as the file is wrong somewhere."
	case r.complete != never:
		return "Every byte is here, and is being checked."
	case len(r.running) == 0:
		return r.idle()
	case r.answer == never:
		return "The first answer is awaited, since " + option.TimeText(r.now) + "."
	case silent > quietAfter:
		return "Nothing has come from any source for " + option.TimeText(silent) + "."
	case r.Limit > 0 && r.Progress.Rate > 0.8*float64(r.Limit):
		return "The limit of " + option.RateText(float64(r.Limit)) + " is what holds it."
	case closed > 0:
		return fmt.Sprintf("The link seems full: %s more added nothing.", option.Count(closed, "connection"))
	case known == 1 && r.named == 0 && len(r.Mirrors) == 1:
		return "Everything comes from one server that names no mirrors: it is as fast as that server."
	case r.NoDigest && working == 1:
		return "The server names mirrors and gives no digest, so that only the server itself is used."
	case working < known:
		return fmt.Sprintf("%d of %s are at work; more are tried as long as that makes it faster.", working, option.Count(known, "source"))
	}
	return "All known sources are at work: it is they, or the link, that limit the speed."
}

// idle says why no source is at work.
func (r *Recorder) idle() string {
	for _, m := range r.Mirrors {
		if state := r.State(m); strings.HasPrefix(state, "again") {
			return fmt.Sprintf("No source is at work. %s is asked %s.", m.Host, state)
		}
	}
	return "No source is at work."
}

// A strip is the file from its beginning to its end, and whose bytes are where.
type strip struct {
	Box         string
	Prior       []bar
	Here, Asked []layer
	Void        string // a path around what was wrong
}

// strip is that of d, with what is being fetched. It is nil while the size is unknown, or nothing came.
func (r *Recorder) strip(d *Facts) *strip {
	p := &d.picture
	if d.size <= 0 || p.row == 0 || !d.pictured() {
		return nil
	}
	rows := float64(d.size) / float64(p.row)
	s := &strip{Box: "0 0 " + number(rows) + " 1"}
	for _, x := range d.prior {
		s.Prior = append(s.Prior, bar{X: number(float64(x.Start) / float64(p.row)), W: number(float64(x.Len()) / float64(p.row))})
	}
	begun := 0 // the column in which it last began anew
	if n := len(d.restarts); n > 0 {
		begun = int(d.restarts[n-1].At / d.width)
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
	for x := range d.void.All() { // a row is the least that can be seen
		s.Void += box(float64(x.Start/p.row), min(float64((x.End-1)/p.row+1), rows))
	}
	for _, number := range slices.Sorted(maps.Keys(r.running)) {
		f := r.running[number]
		asked[f.mirror] += box(float64(f.at)/float64(p.row), float64(min(f.to, d.size))/float64(p.row))
	}
	for _, m := range d.Mirrors {
		if here[m] != "" {
			s.Here = append(s.Here, layer{m.Class, m.Name, here[m]})
		}
		if asked[m] != "" {
			s.Asked = append(s.Asked, layer{m.Class, m.Name + ", asked for this", asked[m]})
		}
	}
	return s
}

// box is a path around what lies between two places.
func box(from, to float64) string {
	return fmt.Sprintf("M%s 0h%sv1h-%sz", number(from), number(to-from), number(to-from))
}

// last is whose the bytes of each row are: who brought them last, from a column on. 0 is none.
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
