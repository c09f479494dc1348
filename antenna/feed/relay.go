package feed

import (
	"net/url"
	"slices"
	"strings"
)

// maxHops is through how many agents a record comes at most when it is published again.
const maxHops = 8

// A Relay is the rules by which an agent publishes what it read elsewhere, beside what it observed itself. A record is
// published whole and as it was, but for a REMOTE in front of its Method (hina-di, sections 12 and 13).
type Relay struct {
	// Self is the URL that the agent publishes as its own in Authorized-url. What says that it came from there is not
	// published again.
	Self string
}

// A Refusal is why a record is not passed on, as a word for programs.
type Refusal string

const (
	OtherFormat  Refusal = "other-format"   // a new summary would not be the word of its agent
	noAuthority  Refusal = "no-authority"   // it does not name the agent that obtained it
	Untrusted    Refusal = "untrusted"      // the agent is not among those that the feed's configuration trusts
	ownReturned  Refusal = "own-returned"   // it was ours
	tooManyHops  Refusal = "too-many-hops"  //
	undated      Refusal = "undated"        // an agent behind us could not tell when it expires
	noLongerGood Refusal = "no-longer-good" //
	fromFuture   Refusal = "from-future"    //
	nothingKnown Refusal = "nothing-known"  // its agent could not reach the site either
	undecodable  Refusal = "undecodable"    // some of it is no text, and cannot be written as it was
	notWhole     Refusal = "not-whole"      // only what is watched of it was kept
)

// Publish returns what a feed in that format has: for each URL the one record, of own and read, that Choose prefers. Own are the
// agent's observations; those of failures are for LIRS alone, the others have no word for it. Read are the records of other
// feeds. Refused is told of those that are not passed on; it may be nil. The order is that in which the URLs first
// come.
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

// Pass returns r as it is passed on in a feed of that format, or why it is not.
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
	case slices.ContainsFunc(r.Warnings, isUndecodable): // what is passed on is not changed (hina-di, section 12)
		return Record{}, undecodable
	case r.AgentURL == "" || r.Format == HinaDI && r.Agent == "": // hina-di asks for both
		return Record{}, noAuthority
	case y.isSelf(&r):
		return Record{}, ownReturned
	case r.Hops()+1 > maxHops:
		return Record{}, tooManyHops
	case believable(r.Detected) == 0 && believable(r.Date) == 0 && r.Expires == 0:
		return Record{}, undated // what the header of its feed says stays behind (hina-di, section 13.1)
	case detected > now+Skew:
		return Record{}, fromFuture
	case ends && now > until:
		return Record{}, noLongerGood
	}
	return passed(r), ""
}

// CodeUndecodable is the code of records with octets that are no text in the charset of their feed.
const CodeUndecodable = "undecodable"

// isUndecodable reports whether a warning of a record says so, of all of it or of a field.
func isUndecodable(tag string) bool {
	code, _, _ := strings.Cut(tag, ":")
	return code == CodeUndecodable
}

// isSelf reports whether r was obtained by this agent. A gatherer of SOIF has a host and no URL.
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

// passed makes of r what is passed on. A Method that is not there, or that is empty, is not invented.
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

// A merger collects records by the URLs that they are about.
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
	if !ok { // it cannot be watched, but it is there
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
