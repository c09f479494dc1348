package feed

import (
	"net/url"
	"slices"
	"strings"
)

// maxHops limits the number of agents that a published record has passed.
const maxHops = 8

// A Relay publishes records read from other feeds together with an agent's own observations. A record is published
// completely and unchanged, except that REMOTE is added to its Method (hina-di, sections 12 and 13).
type Relay struct {
	// Self is the agent's own URL, which the agent publishes in Authorized-url. Records from Self are not published
	// again.
	Self string
}

// A Refusal is the reason why a record is not passed on.
type Refusal string

const (
	OtherFormat  Refusal = "other-format"   // it was read in another format, and records are passed on only unchanged
	noAuthority  Refusal = "no-authority"   // the record does not name the agent that obtained it
	Untrusted    Refusal = "untrusted"      // the feed's configuration does not trust the agent
	ownReturned  Refusal = "own-returned"   // it is a record of this agent
	tooManyHops  Refusal = "too-many-hops"  // passed more agents than maxHops
	undated      Refusal = "undated"        // it has no date, so that other agents could not see when it expires
	noLongerGood Refusal = "no-longer-good" // it has expired
	fromFuture   Refusal = "from-future"    // its detection is in the future
	nothingKnown Refusal = "nothing-known"  // its agent could not reach the site
	undecodable  Refusal = "undecodable"    // it has bytes that cannot be decoded, and so cannot be written unchanged
	notWhole     Refusal = "not-whole"      // only an extract of it was kept
)

// Publish returns the records for a feed in that format: for each URL the record in own or read that Choose prefers.
// own has the agent's observations. Observations that failed are only for LIRS, because no other format can represent
// them. read has the records of other feeds. refused is called for records that are not passed on; it may be nil. The
// URLs are in order of first appearance.
func (y Relay) Publish(format FormatID, own, read []Record, now Time, refused func(Record, Refusal)) []Record {
	m := merger{format: format, places: map[string]int{}}
	for _, r := range own {
		if !r.Failed || format == LIRS {
			m.add(r)
		}
	}
	for _, r := range read {
		passed, why := y.Pass(format, r, now)
		if why == "" {
			m.add(passed)
		} else if refused != nil {
			refused(r, why)
		}
	}
	list := make([]Record, 0, len(m.candidates))
	for _, c := range m.candidates {
		list = append(list, c[Choose(c, now)])
	}
	return list
}

// Pass returns r as it is passed on in a feed of that format, or the reason why r is not passed on.
func (y Relay) Pass(format FormatID, r Record, now Time) (Record, Refusal) {
	detected, _ := r.detected(now)
	until, ends := r.GoodUntil(now)
	switch {
	case r.Format != format:
		return Record{}, OtherFormat
	case r.Failed:
		return Record{}, nothingKnown
	case r.Extract:
		return Record{}, notWhole
	case slices.ContainsFunc(r.Warnings, isUndecodable): // a record must not be changed (hina-di, section 12)
		return Record{}, undecodable
	case r.AgentURL == "" || r.Format == HinaDI && r.Agent == "": // hina-di requires both
		return Record{}, noAuthority
	case y.isSelf(&r):
		return Record{}, ownReturned
	case r.Hops()+1 > maxHops:
		return Record{}, tooManyHops
	case believable(r.Detected) == 0 && believable(r.Date) == 0 && r.Expires == 0:
		return Record{}, undated // a date in the header of the feed is not passed on (hina-di, section 13.1)
	case detected > now+Skew:
		return Record{}, fromFuture
	case ends && now > until:
		return Record{}, noLongerGood
	}
	return passed(r), ""
}

// CodeUndecodable is the code of records with bytes that are not valid in the charset of their feed.
const CodeUndecodable = "undecodable"

// isUndecodable reports whether a warning has CodeUndecodable, with or without a field.
func isUndecodable(tag string) bool {
	code, _, _ := strings.Cut(tag, ":")
	return code == CodeUndecodable
}

// isSelf reports whether r was obtained by this agent. A SOIF gatherer is compared by its host, because it has no URL.
func (y Relay) isSelf(r *Record) bool {
	if r.Format == SOIF {
		u, err := url.Parse(y.Self)
		return err == nil && strings.EqualFold(u.Host, r.AgentURL)
	}
	key := Key
	if r.Format == LIRS {
		key = FoldedKey
	}
	self, ok1 := key(y.Self)
	agent, ok2 := key(r.AgentURL)
	return ok1 && ok2 && self == agent
}

// passed returns r with REMOTE added to its Method. A missing or empty Method is not changed.
func passed(r Record) Record {
	fields := make([]Field, 0, len(r.Fields))
	for _, f := range r.Fields {
		if len(r.Method) > 0 && strings.EqualFold(f.Name, "Method") {
			f.Value = "REMOTE/" + f.Value
		}
		fields = append(fields, f)
	}
	if r.Fields = fields; len(r.Method) > 0 {
		r.Method = slices.Concat([]string{"REMOTE"}, r.Method)
	}
	return r
}

// A merger groups records by URL.
type merger struct {
	format     FormatID
	places     map[string]int // in candidates
	candidates [][]Record
}

func (m *merger) add(r Record) {
	key, ok := Key(r.URL)
	if m.format == LIRS {
		key, ok = FoldedKey(r.URL)
	}
	if !ok { // a record whose URL cannot be watched is kept, too
		key = r.URL
	}
	i, seen := m.places[key]
	if !seen {
		i = len(m.candidates)
		m.places[key] = i
		m.candidates = append(m.candidates, nil)
	}
	m.candidates[i] = append(m.candidates[i], r)
}
