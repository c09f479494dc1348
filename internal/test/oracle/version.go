package oracle

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// oneVersion checks P2. Bytes that have a digest of the user or of an authority are one version, whoever has them as a
// whole.
func (j *judge) oneVersion() {
	c := j.c
	got := j.c.made()
	if c.Do == "verify" || c.Rename || c.Continued || c.Unchanged || got == nil || j.vouches(j.sum(got), None) {
		return
	}
	for name, content := range j.Contents {
		// The asked server gave the same tag for a shorter file: its false tag makes the rest the end of this one.
		if bytes.Equal(content, got) || bytes.HasPrefix(content, got) && j.onlyTag(name) != "" {
			return
		}
	}
	if !j.falseTag() {
		j.violated(2, "the bytes are of no version")
	}
}

// onlyTag returns the strong tag that the asked server gave with the named content, if it gave the same one with all
// its bytes.
func (j *judge) onlyTag(name string) string {
	tags, sent := map[string]bool{}, ""
	for _, c := range j.Commands[:j.k+1] {
		for _, a := range c.Answers {
			if a.Party != c.Asked || a.Method == "HEAD" || a.Status >= 300 && a.Status != 416 {
				continue
			}
			if tags[a.Tag] = true; a.Content == name && a.Sent > 0 {
				sent = a.Tag
			}
		}
	}
	if len(tags) > 1 {
		return ""
	}
	return sent
}

// falseTag reports whether all bytes since the part file was begun had the same strong entity tag, and came from one
// server or from servers that were requested directly.
func (j *judge) falseTag() bool {
	tags, parties, led := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for k := j.k; k >= 0; k-- {
		answers, next := j.Commands[k].Answers, map[string]int{}
		for i, a := range answers {
			redirected := next[a.Party] > 0
			next[a.Party] = max(0, next[a.Party]-1)
			if a.To != "" && !j.down(a) {
				next[a.To]++
			}
			again := func(b Answer) bool { return b.From == a.From && b.Sent > 0 }
			// Such an answer was refused and read only to keep the connection, or the download started over.
			if slices.ContainsFunc(answers[i+1:], again) {
				continue
			}
			if a.Sent > 0 && a.Method == "GET" && a.Status < 300 {
				tags[a.Tag], parties[a.Party], led[a.Party] = true, true, led[a.Party] || redirected
			}
		}
		if j.Commands[k].Before.Part == nil {
			break
		}
	}
	for p := range parties {
		if led[p] && len(parties) > 1 {
			return false
		}
	}
	return len(tags) == 1 && !tags[""]
}

// noStepDown checks P3.
func (j *judge) noStepDown() {
	c := j.c
	same := bytes.Equal(c.Before.Final, c.After.Final) && (c.Before.Final == nil) == (c.After.Final == nil)
	most := Signed // a signature by a trusted key proves as much as a digest of the user
	if c.Turn {    // a watch stores that a file was proven, and its pins store over what (rule 54)
		most = HTTP
	}
	switch {
	case same:
	case c.Cut == "" && c.Code != 0:
		j.violated(3, "the file changed with code "+strconv.Itoa(c.Code))
	case c.Before.Final == nil:
	case c.Do == "repair", c.Overwrite:
	case !c.Newer && !c.Continue:
		j.violated(3, "a file was replaced that was to stay")
	case c.Cut == "" && c.Rank < min(j.proven.rank, most) && !c.LessProof && !strings.HasPrefix(c.Document, "t"): // the user's torrent
		j.violated(3, "a proven file was replaced by one of less proof")
	case c.Cut == "" && j.back():
		j.violated(3, "a file was replaced by an older one")
	}
}

// back reports whether -N, which has stored the date of the file before, replaced it by a file that its server dates
// earlier.
func (j *judge) back() bool {
	c, date := j.c, ""
	if c.Older || j.vouched() || c.List+c.Document != "" || !j.noted || !bytes.Equal(c.Before.Final, j.dated) {
		return false
	}
	for _, a := range c.Answers {
		if j.speaks[a.Party] > None && a.Status < 300 && a.Content != "" && bytes.Equal(j.Contents[a.Content], c.After.Final) {
			date = a.Date
		}
	}
	return date != "" && date < j.date
}
