package oracle

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	block  = 256 // bytes that are compared at once
	bound  = 30 * time.Minute
	little = 24 << 10 // loss of less work than this is allowed
)

// subject returns the content that an authority vouches for in this command. It returns nil if that is unknown or has
// changed since an earlier command.
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
	for k := 0; k <= j.k; k++ { // the server must always have had the same content, and stated nothing false
		p := j.Commands[k].Places[c.Asked]
		if p.Content == "" && p.Steady && !p.Bad && p.Digest == "" {
			continue // the server states nothing
		}
		other := about != "" && p.Content != about || p.Digest != "" && p.Digest != j.sum(j.Contents[p.Content])
		if p.Content == "" || other || p.Bad || !p.Steady {
			return nil
		}
		about = p.Content
	}
	return j.Contents[about] // nil if the server stated nothing
}

// rightBytes returns how many bytes of part equal those of the subject.
func (j *judge) rightBytes(part []byte) (n int) {
	want := j.subject()
	for at := 0; at+block <= min(len(part), len(want)); at += block {
		if bytes.Equal(part[at:at+block], want[at:at+block]) {
			n += block
		}
	}
	return n
}

// refuted reports whether the part file is complete, or equals a server's whole file, and contradicts the user's digest.
func (j *judge) refuted() bool {
	part := j.c.After.Part
	return j.c.User != "" && j.sum(part) != j.c.User && (j.whole(part) || len(part) == len(j.subject()))
}

// whole reports whether a part file equals a server's whole file.
func (j *judge) whole(part []byte) bool {
	for _, content := range j.Contents {
		if bytes.Equal(content, part) {
			return true
		}
	}
	return false
}

// tied reports whether anything proves that two answers of the asked server are about the same version. A digest of the
// user counts for its command only.
func (j *judge) tied() bool {
	return j.c.User != "" && j.sum(j.subject()) == j.c.User || j.tiedByServer()
}

// tiedByServer reports whether a digest or a tag of the server proves it. A digest of another file does not.
func (j *judge) tiedByServer() bool {
	c, right := j.c, j.sum(j.subject())
	return j.sealed && j.last.digest == right || said(j.now, right, None) ||
		slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party == c.Asked && a.Tag != "" && a.Status < 300 })
}

// tiedLate reports whether an answer to GET with neither a digest nor a tag came before anything that ties the file, which
// is an answer to HEAD. The answer to GET is not merged with the bytes on disk (S18), and the answer to HEAD comes too late.
func (j *judge) tiedLate() bool {
	answer := func(ties bool) int {
		return slices.IndexFunc(j.c.Answers, func(a Answer) bool {
			return j.speaks[a.Party] > None && a.Status < 300 && (a.Digest+a.Tag != "") == ties && (ties || a.Method == "GET")
		})
	}
	loose, tie := answer(false), answer(true)
	return j.c.User == "" && !j.sealed && loose >= 0 && loose < tie && j.c.Answers[tie].Method == "HEAD"
}

// kept checks P4: bytes of the authority's content that a clean end left must not be thrown away or fetched again.
func (j *judge) kept() {
	c := j.c
	want := j.subject()
	if j.broken || j.loose && !c.tiedAgain(j.nearby, j.sum(want)) || j.restated() || j.other && c.User == "" || j.safe < little || want == nil || !bytes.Equal(want, j.safeOf) {
		return
	}
	if c.Refresh || c.Pipe || c.Rename || c.Unchanged || c.Do == "verify" || c.Cut == "kill" {
		return
	}
	// The digest was not corrected, or a liar may have sent some of the bytes.
	if c.Do == "resume" && len(j.users) > 0 || j.mingled() {
		return
	}
	if c.Store && j.givesUpParts(want) {
		return
	}
	if torrent := strings.HasPrefix(c.Document, "t"); torrent && j.sum(want) != c.User {
		return // the pieces refute the bytes
	}
	// The places of a document are mirrors: nothing but its digest ties their bytes together, and now there is none. The
	// same holds for mirrors beside the digest of a feed.
	described := func(d Command) bool { return d.Document != "" || d.fed() && len(d.Mirrors) > 0 }
	torrent := func(d Command) bool { return strings.HasPrefix(d.Document, "t") } // its pieces tie only its own bytes
	before := j.Commands[:j.k]
	if c.User == "" && (len(j.now) == 0 && slices.ContainsFunc(before, described) || slices.ContainsFunc(before, torrent)) {
		return
	}
	// A server that the asked one led to, or a document, stated another digest, so that the file has changed since.
	led := func(s statement) bool { return s.by.Kind != List && s.by.File == "" && s.digest != j.sum(want) }
	if slices.ContainsFunc(j.said[:j.first], led) {
		return
	}
	// The bytes belong to another subject, or nothing shows to which one.
	if j.rightBytes(c.Before.Part) < j.safe || !j.tied() || j.tiedLate() {
		return
	}
	for p := range j.speaks {
		at := c.Places[p]
		// A server that the asked one leads to announces another file, and states a digest that its own file does not have.
		lies := p != c.Asked && at.Content != "" && at.Digest != "" && at.Digest != j.sum(j.Contents[at.Content])
		if at.Bad || lies {
			return
		}
	}
	// The server states that this is another version.
	if slices.ContainsFunc(j.now, func(s statement) bool { return s.digest != j.sum(want) }) {
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

// givesUpParts reports whether an upload of want may start over. Its parts are not read again: not for a signature, nor
// for pieces, nor to find the wrong bytes after a digest has refuted the file. So another host must show its tag.
func (j *judge) givesUpParts(want []byte) bool {
	wrong := func(a Answer) bool { return a.Sent > 0 && !bytes.Equal(j.Contents[a.Content], want) }
	unread := func(c Command) bool {
		return c.Key || strings.HasPrefix(c.Document, "t") || slices.ContainsFunc(c.Answers, wrong)
	}
	other := func(d string) bool { return d != j.sum(want) }
	led := func(a Answer) bool { return a.To != "" }
	refuted := func(s statement) bool { return other(s.digest) }
	return j.c.Code == 11 || slices.ContainsFunc(j.c.Answers, led) || slices.ContainsFunc(j.listed, refuted) || slices.ContainsFunc(j.Commands[:j.k+1], unread) || slices.ContainsFunc(j.users, other)
}

// fed reports whether a feed gave the command a digest.
func (c *Command) fed() bool {
	return slices.ContainsFunc(c.Lookups, func(a Answer) bool { return a.File == Feed })
}

// mingled reports whether only a wrong digest ties the answers of several servers together: one from the user, now
// or before, from a list that the user named, or from a feed. In that case one of the servers may lie. It is the same if
// an earlier digest of the user tied them, and only a feed gives one now, which is another.
func (j *judge) mingled() bool {
	c, right := j.c, j.sum(j.subject())
	wrong := len(j.users) > 0 && j.users[len(j.users)-1] != right ||
		slices.ContainsFunc(slices.Concat(j.listed, j.nearby), func(s statement) bool { return s.digest != right })
	commands := []Command{*c}
	if c.fed() && c.User == "" {
		commands = j.Commands[:j.k+1]
	}
	return wrong && slices.ContainsFunc(commands, func(c Command) bool {
		return slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party != c.Asked })
	})
}

// elsewhere reports whether a server other than the asked one answered with a content.
func (c *Command) elsewhere() bool {
	return slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Party != c.Asked && a.Content != "" })
}

// tiedAgain reports whether this command finds the digest again that ties a part file. For an upload, the answer to a
// lookup comes too late. With a document, nothing is looked up.
func (c *Command) tiedAgain(nearby []statement, right string) bool {
	return c.Document == "" && slices.ContainsFunc(nearby, func(s statement) bool {
		return s.digest == right && (s.by.File == Feed || !c.Store)
	})
}

// restated reports whether the asked server sends another date or tag for the file than in an earlier command, which
// states another version.
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

// arrives checks P5: if a digest is known and an allowed place has the right bytes, the download must succeed.
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
		// The option -N does not accept weaker evidence.
		!slices.ContainsFunc(j.now, func(s statement) bool { return s.rank >= j.proven.rank }) {
		return
	}
	if (c.Require != "" || c.Newer && j.proven.rank > None) && strings.HasPrefix(c.Document, "t") {
		return // the pieces of a torrent are no evidence
	}
	asked := c.Places[c.Asked]
	if c.Key || j.needsKey() || c.List != "" && len(j.listed) == 0 || c.Document == "url" && len(j.now) == 0 {
		return // a signature, a list or the document may be missing or wrong
	}
	pins := func(s statement) bool { return s.by.File == "" && s.rank >= HTTPS && !c.LessProof }
	if c.User == "" && asked.Digest == "" && !j.sealed && slices.ContainsFunc(j.said[:j.first], pins) {
		return // the URL does not offer what it offered before
	}
	want := c.User
	if want == "" && len(j.listed) > 0 {
		want = j.listed[0].digest
		if of, torrent := strings.CutPrefix(c.Document, "t"); torrent && j.sum(j.Contents[of]) != want {
			return // the torrent and the list of the user are about different files
		}
	}
	if want == "" && len(j.now) > 0 {
		want = j.now[len(j.now)-1].digest
	}
	if want == "" && j.sealed && (!j.doubted || c.Require == "") {
		want = j.last.digest
	}
	itself := want == "" && len(j.nearby) > 0 // only a lookup has a digest, so no mirror is asked
	if itself {
		want = j.nearby[0].digest
	}
	other := func(s statement) bool { return s.digest != want }
	if itself && slices.ContainsFunc(j.said, func(s statement) bool { return other(s) || pins(s) }) {
		return // what is published beside the file contradicts an earlier digest, or the URL offered one, which is missing
	}
	byAsked := func(s statement) bool { return s.digest == want && s.by.Party == c.Asked }
	list := func(s statement) bool { return s.by.File != "" && s.digest != want }
	if c.User == "" && len(j.nearby) == 0 && slices.ContainsFunc(j.said[:j.first], list) && !slices.ContainsFunc(j.now, byAsked) {
		return // only another server states the digest, and a list that an earlier command found contradicts it
	}
	garbled := func(a Answer) bool { return a.Garbled }
	if slices.ContainsFunc(j.nearby, other) || slices.ContainsFunc(c.Lookups, garbled) {
		return // what is published beside the file is of another one, or malformed
	}
	stated := statement{digest: cmp.Or(asked.Digest, want)}
	for p := range j.speaks {
		if c.Places[p].Bad || !c.Places[p].Steady {
			return
		}
	}
	if want == "" || other(stated) || slices.ContainsFunc(j.now, other) || slices.ContainsFunc(j.listed, other) {
		return // the authorities contradict each other, or have stated nothing
	}
	if c.Do == "resume" && !j.resumable(want) {
		return
	}
	places := []string{c.Asked}
	if !itself {
		places = append(places, c.Mirrors...)
	}
	links := func(a Answer) bool { return a.Party == c.Asked && a.Links && a.Status < 400 && a.Kind == j.c.asks() }
	if asked.Digest == want && !c.NoLinks && slices.ContainsFunc(c.Answers, links) {
		places = append(places, asked.Links...)
	}
	same := map[string]int{}
	for _, p := range places {
		at := c.Places[p].Content
		if same[at]++; same[at] > 1 && j.sum(j.Contents[at]) != want {
			return // they agree on wrong bytes, and no fourth copy is fetched
		}
	}
	// A store gets the bytes in order, so another size is tried only before the first bytes. Uploaded parts are given up
	// for a signature, before the server is asked again. Their record has only what was known before they were uploaded.
	earlier := func(d Command) bool { return d.Key != c.Key || d.User != "" && d.User != want }
	own := j.Contents[asked.Content]
	if c.Store && (own != nil && j.sum(own) != want || slices.ContainsFunc(j.Commands[:j.k], earlier)) {
		return
	}
	for _, p := range places {
		// Nothing is given up for a size that no authority has stated.
		if n := len(j.Contents[c.Places[p].Content]); p != c.Asked && n < len(c.Before.Part) && int64(n) != j.size {
			continue
		}
		if there := c.Places[p]; there.Well && j.sum(j.Contents[there.Content]) == want {
			j.violated(5, "a good place did not deliver it")
			return
		}
	}
}

// resumable reports whether "parts resume" can continue. The journal must not contain another digest of the user or of
// a list that the user named, which would be used.
func (j *judge) resumable(want string) bool {
	other := func(d string) bool { return d != want }
	listed := func(s statement) bool { return s.by.Kind == List && other(s.digest) }
	return j.c.Before.Journal && j.sealed && len(j.c.Before.Part) > 0 &&
		!slices.ContainsFunc(j.users, other) && !slices.ContainsFunc(j.said, listed)
}

// needsKey reports whether a signature is required, which fails without a key (rule 51). The command "parts resume"
// repeats what the download required.
func (j *judge) needsKey() bool {
	required := func(c Command) bool { return c.Require == "signature" }
	return required(*j.c) || j.c.Do == "resume" && slices.ContainsFunc(j.Commands[:j.k], required)
}

// vouched reports whether a digest of the user decides in this command. The command "parts resume" repeats it.
func (j *judge) vouched() bool { return j.c.User != "" || j.c.Do == "resume" && len(j.users) > 0 }

// steppedDown reports whether a redirect from https to http was followed although neither the user gave a digest nor an
// authority over https (rule 26). In this command an answer over https counts whatever led to it: if the user typed
// http, the digest has no higher rank than that, and the redirect leads no lower. Nothing is checked where the target was
// asked for another reason.
func (j *judge) steppedDown() bool {
	c := j.c
	links := func(c Command) bool { return slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Links }) }
	https := func(s statement) bool { return s.rank == HTTPS }
	over := func(s statement) bool { return j.channel(s.by.Party) == HTTPS }
	if j.vouched() || slices.ContainsFunc(j.said, https) || slices.ContainsFunc(j.now, over) ||
		slices.ContainsFunc(j.Commands, links) {
		return false
	}
	for i, a := range c.Answers {
		t := a.To
		asked := func(a Answer) bool { return a.To == t && !j.down(a) }
		if j.down(a) && a.Kind == j.c.asks() && t != c.Asked && t != c.List && !slices.Contains(c.Mirrors, t) && t != c.Fed &&
			!slices.ContainsFunc(c.Answers, asked) &&
			slices.ContainsFunc(c.Answers[i:], func(a Answer) bool { return a.Party == t }) {
			return true
		}
	}
	return false
}
