package oracle

import (
	"bytes"
	"cmp"
	"slices"
)

// statement is a digest that an authority stated.
type statement struct {
	digest string
	rank   int
	about  string // the content that the server had at that time
	by     Answer // the answer that contained it
}

// revoked reports whether a, a later answer without a digest, shows that its server has another version by now.
func (s statement) revoked(a Answer) bool {
	return a.Size > 0 && s.by.Size > 0 && a.Size != s.by.Size || s.remarked(a)
}

// remarked reports whether a has another tag or date from the same server.
func (s statement) remarked(a Answer) bool {
	other := a.Tag != "" && s.by.Tag != "" && a.Tag != s.by.Tag || a.Date != "" && s.by.Date != "" && a.Date != s.by.Date
	return other && a.Party == s.by.Party
}

// begin processes the statements of authorities in this command.
func (j *judge) begin() {
	c := j.c
	switch c.Damage {
	case "remove", "final": // damages the file, not the work
		j.before = memory{}
		if c.Damage == "final" && j.k > 0 {
			j.before = memory{proven: j.proven, of: j.Commands[j.k-1].After.Final}
		}
		j.stored, j.proven = false, statement{}
	case "state": // destroys the key, too
		j.stored, j.pins = false, map[string]int{}
		if j.turn { // a watch stores its evidence elsewhere
			j.theirs.proven = statement{}
		} else {
			j.proven, j.noted = statement{}, false
		}
		fallthrough
	case "key", "journal":
		j.sealed, j.doubted, j.broken, j.barred, j.named = false, false, true, nil, nil
	default:
		j.broken = j.broken || c.Damage != "" && c.Damage != "clock" // which destroys nothing
	}
	if c.Turn != j.turn { // it does not know what the other has stored
		left := memory{date: j.date, dated: j.dated, noted: j.noted, proven: j.proven}
		if j.k > 0 {
			left.of = j.Commands[j.k-1].After.Final
		}
		j.turn, j.stored, j.proven = c.Turn, false, statement{}
		j.date, j.dated, j.noted = j.theirs.date, j.theirs.dated, j.theirs.noted
		if bytes.Equal(j.theirs.of, c.Before.Final) {
			j.proven = j.theirs.proven
		}
		j.theirs = left
	}
	if c.User != "" {
		j.users = append(j.users, c.User)
	}
	j.first, j.now, j.listed, j.nearby, j.other = len(j.said), nil, nil, nil, false
	// The authorities for the file: the asked server, and the servers that it redirects to before it states anything.
	speaks := map[string]int{c.Asked: j.channel(c.Asked)}
	j.speaks = speaks
	spoken := false         // the asked server itself stated a digest
	led := map[string]int{} // redirects to a server that was not requested since,
	type request struct {
		to   string
		from int64
	}
	open := map[request]int{} // or that has not answered that request since, or only together with another one
	j.list()
	j.look()
	for _, a := range c.Answers {
		if a.Kind != j.c.asks() {
			continue
		}
		itself := a.Party != c.Asked && led[a.Party] == 0 // requested as a mirror, it is no authority
		if led[a.Party] = max(0, led[a.Party]-1); a.Status != 0 && !j.c.together(a) {
			at := request{a.Party, a.From}
			open[at] = max(0, open[at]-1)
		}
		rank, ok := speaks[a.Party]
		if !ok || itself { // a mirror's redirect leads to a mirror
			continue
		}
		if a.To != "" {
			led[a.To]++
			open[request{a.To, a.From}]++
		}
		if a.Status >= 400 { // the fields of an error describe the error's own text
			continue
		}
		word := a.Digest != "" || a.Links || a.Garbled
		if word && a.To != "" && a.To != c.Asked { // an earlier answer may have led there without one
			delete(speaks, a.To)
		}
		spoken = spoken || a.Digest != "" && a.Party == c.Asked
		if a.To != "" && !word && !spoken && speaks[a.To] == None && (j.vouched() || !j.down(a)) {
			speaks[a.To] = min(rank, j.channel(a.To))
		}
		if a.Size > 0 && a.Status < 300 {
			known := slices.Contains(j.users, a.Digest) || slices.ContainsFunc(j.said, func(s statement) bool {
				return s.digest == a.Digest && s.by.File == "" // no list beside the file
			})
			j.other = j.other || !known && j.size > 0 && a.Size != j.size
			j.size = a.Size
		}
		if a.Digest == "" && a.Status < 300 {
			other := j.wordless[a.Party+a.Method].remarked(a) // the host that stated a digest before
			j.now = slices.DeleteFunc(j.now, func(s statement) bool {
				with := s.by.Party == a.Party && s.by.Date == a.Date && s.by.Tag == a.Tag // then it is about this version
				gone := s.revoked(a) || other && s.rank <= rank && !with
				if gone && s.digest == j.last.digest {
					j.sealed, j.stored = false, false
				}
				return gone
			})
			if j.wordless[a.Party+a.Method] = (statement{by: a}); other && j.last.rank <= rank {
				j.sealed, j.stored = false, false
			}
		}
		if a.Digest != "" {
			if a.Digest != j.last.digest && rank >= j.last.rank { // no later answer without a digest brings back the stored one
				j.sealed, j.stored = false, false
			}
			j.said = append(j.said, statement{a.Digest, rank, a.Content, a})
			j.now = append(j.now, statement{a.Digest, rank, a.Content, a})
		}
		if a.Content != "" && a.Digest == "" && (a.Content != j.last.about || j.last.revoked(a)) {
			j.last, j.sealed, j.stored = statement{}, false, false // the server has another version, without a digest
		}
	}
	j.open = slices.DeleteFunc(slices.Clone(j.now), func(s statement) bool { return open[request{s.by.To, s.by.From}] == 0 })
	j.led = slices.ContainsFunc(j.open, func(s statement) bool { return c.Places[s.by.To].Content != "" })
}

// together reports whether another request was answered at the same moment: which of the two was first is not known.
func (c *Command) together(a Answer) bool {
	return slices.ContainsFunc(c.Answers, func(b Answer) bool {
		return a.At == b.At && b.Status != 0 && (a.Party != b.Party || a.From != b.From)
	})
}

// look processes what the asked server and its forge publish beside the file. The last answer about a list counts.
func (j *judge) look() {
	for _, a := range j.c.Lookups {
		rank := j.channel(j.c.Asked)
		if a.Party != j.c.Asked && (a.Party != j.c.Forge || min(rank, j.channel(a.Party)) < HTTPS) || a.Status >= 500 {
			continue
		}
		j.nearby = slices.DeleteFunc(j.nearby, func(s statement) bool { return s.by.Party == a.Party && s.by.File == a.File })
		if s := (statement{a.Digest, rank, "", a}); a.Digest != "" {
			j.said, j.nearby = append(j.said, s), append(j.nearby, s)
		}
	}
}

// superseded reports whether the asked server announced another version after s was found beside the file, which may
// be about the version before.
func (j *judge) superseded(s statement) bool {
	var before statement
	for _, a := range j.c.Answers {
		if a.Party != j.c.Asked || a.Status >= 300 {
			continue
		}
		if a.At > s.by.At && before.revoked(a) {
			return true
		}
		tag, date := before.by.Tag, before.by.Date
		before.by = a
		before.by.Tag, before.by.Date = cmp.Or(a.Tag, tag), cmp.Or(a.Date, date) // a missing field is no change
	}
	return false
}

// asks returns the kind of the answers that state what the file is. With a document on disk, no answer does.
func (c *Command) asks() string {
	switch c.Document {
	case "":
		return ""
	case "url":
		return Document
	}
	return "none"
}

// list processes the list that the user named. It counts as much as the weakest answer on the way to it.
func (j *judge) list() {
	rank := HTTPS
	for _, a := range j.c.Answers {
		if a.Kind != List {
			continue
		}
		if rank = min(rank, j.channel(a.Party)); a.Digest != "" {
			j.listed = append(j.listed, statement{a.Digest, rank, "", a})
			j.said = append(j.said, j.listed...)
		}
	}
}

func (j *judge) channel(party string) int {
	if j.HTTPS[party] {
		return HTTPS
	}
	return HTTP
}

// down reports whether an answer redirects from https to http.
func (j *judge) down(a Answer) bool { return a.To != "" && j.channel(a.Party) > j.channel(a.To) }

// older reports whether a statement is about an older file than the one in place, which -N keeps.
func (j *judge) older(s statement) bool {
	c := j.c
	dated := c.Before.Final != nil && bytes.Equal(c.Before.Final, j.dated)
	return c.Newer && !c.Older && dated && s.by.Date != "" && s.by.Date < j.date
}
