package oracle

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

const (
	block  = 256 // bytes that are compared at once
	bound  = 30 * time.Minute
	little = 24 << 10 // less work than this may be lost
)

// subject is the content that an authority vouches for in this command; nil if it cannot be told, or is not the same as before.
func (j *judge) subject() []byte {
	c := j.c
	if c.User != "" {
		for _, content := range j.Contents {
			if j.sum(content) == c.User {
				return content
			}
		}
	}
	var about string
	for k := 0; k <= j.k; k++ { // it always had the same, and nothing that it says is false
		p := j.Commands[k].Places[c.Asked]
		if p.Content == "" && p.Steady && !p.Bad && p.Digest == "" {
			continue // it says nothing
		}
		other := about != "" && p.Content != about || p.Digest != "" && p.Digest != j.sum(j.Contents[p.Content])
		if p.Content == "" || other || p.Bad || !p.Steady {
			return nil
		}
		about = p.Content
	}
	return j.Contents[about] // nil if it said nothing
}

// rightBytes is how many bytes of part are those of the subject.
func (j *judge) rightBytes(part []byte) (n int) {
	want := j.subject()
	for at := 0; at+block <= min(len(part), len(want)); at += block {
		if bytes.Equal(part[at:at+block], want[at:at+block]) {
			n += block
		}
	}
	return n
}

// tied reports whether something other than time and hope shows that two answers of the asked server are of one version.
func (j *judge) tied() bool {
	c := j.c
	return c.User != "" && j.sum(j.subject()) == c.User || j.sealed || len(j.now) > 0 ||
		slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party == c.Asked && a.Tag != "" && a.Status < 300 })
}

// kept is P4: what a clean end left of the authority's content is not thrown away, and not fetched again.
func (j *judge) kept() {
	c := j.c
	want := j.subject()
	if j.broken || j.restated() || j.safe < little || want == nil || !bytes.Equal(want, j.safeOf) || c.Refresh || c.Pipe || c.Rename || c.Unchanged || c.Do == "verify" || c.Cut == "kill" {
		return
	}
	if c.Do == "resume" && len(j.users) > 0 || j.mingled() { // the digest was not corrected, or a liar had a part in it
		return
	}
	if j.rightBytes(c.Before.Part) < j.safe || !j.tied() { // of another subject, or nothing shows which
		return
	}
	for p := range j.speaks {
		if c.Places[p].Bad {
			return
		}
	}
	if slices.ContainsFunc(j.now, func(s statement) bool { return s.digest != j.sum(want) }) { // it says that this is another version
		return
	}
	whole := func(a Answer) bool { return a.Sent > 0 && !c.Places[a.Party].Ranges }
	if c.Do != "repair" && slices.ContainsFunc(c.Answers, whole) {
		return
	}
	if c.Code != 0 {
		if j.rightBytes(c.After.Part) < j.safe/2 && !bytes.Equal(c.After.Final, want) {
			j.violated(4, "work was thrown away")
		}
		return
	}
	var fetched int
	for _, a := range c.Answers {
		if a.Method == "GET" && a.Status < 300 && bytes.Equal(j.Contents[a.Content], want) {
			fetched += int(a.Sent)
		}
	}
	if !c.Compared && fetched >= len(want) && bytes.Equal(c.After.Final, want) {
		j.violated(4, "work was done again")
	}
}

// mingled reports whether nothing but a digest that the user mistyped, now or before, ties what several servers
// answered: one of them may be a liar.
func (j *judge) mingled() bool {
	c := j.c
	return len(j.users) > 0 && j.sum(j.subject()) != j.users[len(j.users)-1] && slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party != c.Asked })
}

// restated reports whether the asked server gives the file another date or tag than in an earlier command: it says that
// this is another version.
func (j *judge) restated() bool {
	tags := map[string]bool{}
	for _, c := range j.Commands[:j.k+1] {
		if c.Places[c.Asked].Date != j.c.Places[j.c.Asked].Date {
			return true
		}
		for _, a := range c.Answers {
			if a.Party == c.Asked && a.Tag != "" {
				tags[a.Tag] = true
			}
		}
	}
	return len(tags) > 1
}

// arrives is P5: a digest is known, and a place that may be asked has the right bytes.
func (j *judge) arrives() {
	c := j.c
	arrived := c.Code == 0 && c.Took < bound
	if arrived || j.k != len(j.Commands)-1 || c.Cut+c.Damage+c.Stopped != "" || j.broken || c.Refresh || c.Pipe {
		return
	}
	if c.Do != "get" && c.Do != "resume" || c.Before.Final != nil && !c.Overwrite && !c.Newer && !c.Rename {
		return
	}
	if c.User == "" && slices.ContainsFunc(j.now, j.older) {
		return
	}
	if c.Newer && c.User == "" && !c.LessProof && j.proven.rank > None &&
		!slices.ContainsFunc(j.now, func(s statement) bool { return s.rank >= j.proven.rank }) { // -N takes no step down
		return
	}
	asked := c.Places[c.Asked]
	want := c.User
	if want == "" && len(j.now) > 0 {
		want = j.now[len(j.now)-1].digest
	}
	if want == "" && j.sealed {
		want = j.last.digest
	}
	other := func(s statement) bool { return s.digest != want }
	stated := statement{digest: cmp.Or(asked.Digest, want)}
	for p := range j.speaks {
		if c.Places[p].Bad || !c.Places[p].Steady {
			return
		}
	}
	if want == "" || other(stated) || slices.ContainsFunc(j.now, other) {
		return // authorities contradict each other, or there is none
	}
	if c.Do == "resume" && !j.resumable(want) {
		return
	}
	places := append([]string{c.Asked}, c.Mirrors...)
	if asked.Digest == want && slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party == c.Asked && a.Links }) {
		places = append(places, asked.Links...)
	}
	for _, p := range places {
		if there := c.Places[p]; there.Well && j.sum(j.Contents[there.Content]) == want {
			j.violated(5, "a good place did not bring it")
			return
		}
	}
}

// resumable reports whether parts resume can go on, and the journal can hold no other digest of the user's: it would be taken.
func (j *judge) resumable(want string) bool {
	other := func(d string) bool { return d != want }
	return j.c.Before.Journal && j.sealed && len(j.c.Before.Part) > 0 && !slices.ContainsFunc(j.users, other)
}
