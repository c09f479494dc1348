package oracle

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// judge processes the commands of a story in order, with the state that a downloader must keep between them.
type judge struct {
	Story
	found []Violation
	k     int
	c     *Command

	users   []string           // digests that the user gave so far
	said    []statement        // by authorities, in all commands
	first   int                // index in said of the first statement in this command
	now     []statement        // in this command, without those that later answers revoke
	listed  []statement        // of the list that the user named, in this command
	named   []statement        // of the list that the user named, in the journal
	nearby  []statement        // found beside the file by lookups, in this command
	barred  []byte             // the part file that such a statement refuted,
	bar     statement          // and the statement
	speaks  map[string]int     // servers that are authorities for the file in this command, with their ranks
	last    statement          // the newest statement of the asked server
	sealed  bool               // last is in the journal
	stored  bool               // last is stored with the version of the final file
	proven  statement          // evidence for the file in place
	size    int64              // the newest that an authority stated
	other   bool               // which is not the one before, so that the file has changed
	open    []statement        // those in now whose redirects have no answer yet
	doubted bool               // the server contradicted itself when it last stated anything
	led     bool               // a redirect with a digest led to a server that did not answer before the end
	turn    bool               // stored, proven, date and dated are those of a watch
	date    string             // that the server sent for dated,
	dated   []byte             // which was in place then
	noted   bool               // -N put dated in place, and so stored its date
	signed  []string           // digests that a key of the user has signed
	before  memory             // of the file before it was damaged
	theirs  memory             // of the watch; in a command of the watch, of the other commands
	pins    map[string]int     // by Command.Document: rank of the evidence that the URL offered before
	broken  bool               // a file was damaged, so that work may be lost
	loose   bool               // only a digest beside the file ties the part file, which several servers sent
	safe    int                // right bytes of the part file after a clean end,
	safeOf  []byte             // and the content that they are part of
	sums    map[bytesAt]string // computed digests
	// wordless has the last answer of each authority to each method that had no digest.
	wordless map[string]statement
}

// A memory is what is stored of a file: see the fields of judge.
type memory struct {
	date   string
	dated  []byte
	noted  bool
	proven statement
	of     []byte
}

// bytesAt identifies a slice of bytes that do not change.
type bytesAt struct {
	first *byte
	n     int
}

// sum returns the digest of b, which it computes once.
func (j *judge) sum(b []byte) string {
	if len(b) == 0 {
		return SHA256(nil)
	}
	at := bytesAt{&b[0], len(b)}
	sum, ok := j.sums[at]
	if !ok {
		sum = SHA256(b)
		j.sums[at] = sum
	}
	return sum
}

// Judge returns the violations of the properties, in the order of the commands.
func Judge(s Story) []Violation {
	j := &judge{Story: s, sums: map[bytesAt]string{}, pins: map[string]int{}, wordless: map[string]statement{}}
	for k := range s.Commands {
		j.k, j.c = k, &s.Commands[k]
		j.begin()
		if j.c.Code == 0 && j.c.Cut == "" {
			j.right()
			j.oneVersion()
		}
		j.noStepDown()
		j.kept()
		j.arrives()
		j.ends()
		j.words()
		j.end()
	}
	return j.found
}

func (j *judge) violated(p int, what string) {
	j.found = append(j.found, Violation{p, what, j.k})
}

// end updates the state for the next command.
func (j *judge) end() {
	c := j.c
	// A redirect counts only with the answer that it leads to. If the command was cut off, that answer may be missing,
	// and the next one may be to a request of a mirror.
	heard := slices.DeleteFunc(slices.Clone(j.now), func(s statement) bool {
		return c.Cut != "" && s.by.To != "" && (len(c.Mirrors) > 0 || slices.Contains(j.open, s))
	})
	if len(j.now) > 0 {
		j.sealed, j.stored = false, false
	}
	if n := len(heard); n > 0 {
		j.last = heard[n-1]
		other := func(s statement) bool { return s.digest != j.last.digest }
		j.doubted = c.Code != 0 && c.Cut != "kill" && slices.ContainsFunc(heard, other)
	}
	done, same := c.Code == 0 && c.Cut == "", bytes.Equal(c.Before.Final, c.After.Final)
	if len(heard) > 0 && c.Cut != "kill" {
		// A failed refresh changed nothing, and a journal of a lost key takes nothing from a command that failed.
		kept := c.Code == 0 || !c.Refresh && c.Damage != "key" && c.Damage != "state"
		j.sealed = len(c.After.Part) > 0 && !c.Pipe && kept
	}
	// With another digest from the user and no statement in this command, the user named another version.
	j.sealed = j.sealed && c.After.Journal && (c.User == "" || c.User == j.last.digest || len(j.now) > 0)
	j.stored = done && c.Newer && c.After.Final != nil && j.sum(c.After.Final) == j.last.digest || j.stored && same
	date := j.date
	// A file that -N puts in place of another one is not older, whoever sent it.
	after := j.noted && c.Damage != "state" && c.Newer && !c.Older &&
		(c.Damage == "final" || bytes.Equal(c.Before.Final, j.dated))
	if done && (!same && !after || c.Pipe) {
		date = ""
	}
	dated := j.noted && same                                                           // a list alone has no date
	standsIn := func(a Answer) bool { return j.speaks[a.Party] == None && a.Sent > 0 } // with a file of its own date
	elsewhere := (c.Rank == None || !c.Places[c.Asked].Well) && slices.ContainsFunc(c.Answers, standsIn)
	for _, a := range c.Answers { // also if the same bytes were there before
		if c.Unchanged && a.Date < date { // the file stays with its date
			continue
		}
		named := c.Rank >= Signed || len(j.listed) > 0 || said(j.nearby, c.Digest, None) // so a mirror may have sent the file
		if done && !elsewhere && j.speaks[a.Party] > None && a.Content != "" && (named || bytes.Equal(j.Contents[a.Content], j.c.made())) {
			date, dated = a.Date, true
		}
	}
	if done && !c.Pipe {
		j.date, j.dated, j.noted = date, c.After.Final, c.Newer && c.Document == "" && dated
	}
	if done && (!same || c.Newer && !c.Unchanged) {
		nearby := said(j.nearby, c.Digest, None) && !said(j.now, c.Digest, None)
		// The journal does not store which host stated a digest, so a digest of an earlier command is not pinned.
		pinned := c.Rank == HTTPS && c.List+c.Document == "" && !nearby && said(j.said[j.first:], c.Digest, HTTPS)
		if j.proven = (statement{digest: c.Digest, rank: c.Rank}); !pinned && !c.Newer {
			j.proven = statement{} // only -N stores this for a file; what a server states over https is stored for the asked URL
		}
	}
	// The stored version counts again if the file is again what it was before the damage.
	if done && !same && c.Newer && j.before.of != nil && bytes.Equal(c.After.Final, j.before.of) {
		j.proven.rank = max(j.proven.rank, j.before.proven.rank)
	}
	if sum := j.sum(j.c.made()); done && c.Rank == Signed && j.Signed[sum] {
		j.signed = append(j.signed, sum)
	}
	if done && c.Newer && c.Unchanged && c.Rank > j.proven.rank {
		j.proven = statement{digest: c.Digest, rank: c.Rank}
	}
	if done && c.LessProof {
		j.pins[c.Document] = None
	}
	for _, s := range j.said[j.first:] { // a redirect may lead to another server the next time
		same := (s.by.Size == 0 || s.by.Size == int64(len(j.c.made()))) && (s.by.Date == "" || date == "" || s.by.Date == date)
		proven := s.digest == c.Digest || c.Rank == Signed && s.digest == j.sum(j.c.made()) && same
		if done && !c.NoLinks && !c.Unchanged && proven && s.by.Party == c.Asked && s.by.Kind == j.c.asks() && s.by.File == "" {
			j.pins[c.Document] = max(j.pins[c.Document], min(c.Rank, s.rank))
		}
	}
	part := c.After.Part
	if len(part) == 0 || !c.After.Journal || j.broken || j.looked() || j.c.came() {
		j.barred = nil
	}
	switch {
	case len(part) == 0 || !c.After.Journal:
		j.named = nil
	case len(j.listed) > 0:
		j.named = j.listed
	}
	listed := c.Lookup && len(j.nearby) == 1 && j.nearby[0].by.File != Feed
	if c.Code == 11 && listed && j.whole(part) && !said(j.nearby, j.sum(part), None) {
		j.barred, j.bar = part, j.nearby[0]
	}
	came := j.c.came()
	if came {
		right := j.sum(j.subject())
		stated := c.User == right || j.sealed && j.last.digest == right || said(j.now, right, None)
		j.safeOf, j.loose = j.subject(), !stated && said(j.nearby, right, None) && c.elsewhere()
	}
	// After the server announced another version nothing ties the work, unless the user did in this command.
	announced := j.other && j.sum(j.subject()) != c.User
	switch right := j.rightBytes(c.After.Part); {
	case c.Cut == "kill", j.broken, announced, came && (!j.tied() || j.mingled()), j.refuted() && !j.tiedByServer():
		j.safe = 0
	case c.Pipe:
	case came && j.safe == 0 && len(c.Before.Part) > 0: // the bytes are older, and were not tied to a version then
	case came:
		j.safe = right
	default:
		j.safe = min(j.safe, right)
	}
}

// came reports whether this command received bytes of the file.
func (c *Command) came() bool {
	return slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Sent > 0 })
}

// made returns the bytes of the file that the command produced.
func (c *Command) made() []byte {
	if c.Pipe {
		return c.Output
	}
	return c.After.Final
}

// right checks P1.
func (j *judge) right() {
	c := j.c
	if c.Do == "verify" || c.Rename || c.Unchanged && !c.Newer && c.Do == "get" && c.Rank == None {
		return
	}
	sum := j.sum(j.c.made())
	switch {
	case c.Rank > None && c.Rank != Signed && c.Digest != sum && !c.Unchanged:
		j.violated(1, "the bytes do not have the digest")
	case c.User != "" && c.User != sum && !(c.Newer && c.Unchanged):
		j.violated(1, "the bytes are not what the user named")
	case c.Rank == Signed && !(c.Key && j.Signed[sum]), c.Require == "signature" && !(c.Key && j.Signed[sum]):
		j.violated(1, "no trusted key has signed the bytes")
	case c.Rank == Signed:
	case c.Rank > None && !j.vouches(c.Digest, c.Rank):
		j.violated(1, "the digest is that of a stranger"+j.known())
	case c.Require == "digest" && !j.vouches(sum, None):
		j.violated(1, "no authority has stated the digest that was required")
	case j.disputed(sum):
		j.violated(1, "the bytes contradict what is published beside the file")
	case !j.led && j.contradicted(sum, c.Rank):
		j.violated(1, "the bytes contradict a known digest")
	case !c.LessProof && !c.Unchanged && j.pins[c.Document] >= HTTPS && c.Rank < j.pins[c.Document]:
		j.violated(1, "less proof than the URL offered before")
	}
}

// known describes the statement of an authority that a stranger's digest was preferred to.
func (j *judge) known() string {
	switch {
	case len(j.now) > 0:
		return ", and the server gave one"
	case j.sealed:
		return ", and the journal has one"
	case j.stored:
		return ", and one is remembered"
	}
	return ""
}

// vouches reports whether an authority of at least that rank stated the digest, in this command or before. What a key of
// the user has signed is the user's word, also later, when -N keeps the file.
func (j *judge) vouches(digest string, rank int) bool {
	signed := j.c.Newer && j.c.Unchanged && slices.Contains(j.signed, digest)
	return signed || slices.Contains(j.users, digest) || said(j.said, digest, rank)
}

func said(all []statement, digest string, rank int) bool {
	return slices.ContainsFunc(all, func(s statement) bool { return s.digest == digest && s.rank >= rank })
}

// contradicted reports whether the newest statement of the asked server is about other bytes. If the server stated
// nothing in this command, the stored statement counts, unless a list beside the file now has the digest of the bytes.
func (j *judge) contradicted(sum string, rank int) bool {
	if j.c.User == sum || rank == User {
		return false
	}
	if now := slices.Concat(j.now, j.listed); len(now) > 0 {
		return !slices.ContainsFunc(now, func(s statement) bool {
			return s.digest == sum || s.rank < rank || j.older(s) && j.c.Unchanged
		})
	}
	if said(j.named, sum, rank) { // the user's list, which the journal stores, counts as if it were named again
		return false
	}
	if j.doubted { // it must be asked again
		return j.last.rank >= rank && rank > None && !said(j.nearby, sum, rank)
	}
	remembered := j.sealed && !j.c.Pipe || j.stored && !j.c.Overwrite && !j.c.Pipe
	return remembered && j.last.digest != sum && j.last.rank >= rank && !j.c.Unchanged && !said(j.nearby, sum, j.last.rank)
}

// disputed reports whether what is published beside the file is about other bytes. It counts if neither the user nor
// the asked server itself states a digest. What an earlier command found about the part file counts if this one
// fetched nothing and got no answer there.
func (j *judge) disputed(sum string) bool {
	c := j.c
	itself := func(s statement) bool { return s.by.Party == c.Asked && s.by.File == "" }
	earlier := func(s statement) bool { return itself(s) && s.digest == sum } // which a later answer of this command revoked
	if !c.Lookup || j.vouched() || c.Rank == User || c.List != "" || c.Document != "" || slices.ContainsFunc(j.now, itself) ||
		slices.ContainsFunc(j.said[j.first:], earlier) || c.Unchanged && (c.Newer || c.Rank > None) {
		return false
	}
	if !j.looked() && !j.c.came() && c.Rank == None && j.barred != nil && bytes.Equal(j.c.made(), j.barred) {
		return true
	}
	return slices.ContainsFunc(j.nearby, func(s statement) bool {
		return s.digest != sum && !j.superseded(s) && !j.relisted(s, sum) && !replaced(s, sum, j.nearby, j.said[j.first:])
	})
}

// replaced reports whether another list of the same server that agreed with s in this command, according to all, has the
// digest sum by now.
func replaced(s statement, sum string, nearby, all []statement) bool {
	return slices.ContainsFunc(nearby, func(n statement) bool {
		return n.digest == sum && n.by.At > s.by.At && slices.ContainsFunc(all, func(then statement) bool {
			return then.digest == s.digest && then.by.Party == n.by.Party && then.by.File == n.by.File && n.by.File != ""
		})
	})
}

// relisted reports whether an index came after s that does not name the list of s, or after which a list with the digest
// sum came: the folder may have other lists by then than when s was found.
func (j *judge) relisted(s statement, sum string) bool {
	return slices.ContainsFunc(j.c.Lookups, func(a Answer) bool {
		index := a.File == "/" && a.Party == s.by.Party && a.Status == 200 && a.At > s.by.At
		gone := s.by.File != Feed && !slices.Contains(strings.Split(a.Lists, ","), s.by.File)
		return index && (gone || slices.ContainsFunc(j.nearby, func(n statement) bool {
			return n.digest == sum && n.by.At > a.At
		}))
	})
}

// looked reports whether this command got an index, or an answer about the list or forge that refuted the part file
// before.
func (j *judge) looked() bool {
	return slices.ContainsFunc(j.c.Lookups, func(a Answer) bool {
		there := a.Party == j.bar.by.Party && a.File == j.bar.by.File
		return there && a.Status < 500 || a.File == "/" && a.Status == 200
	})
}

const burst = 12 // maximum of equal requests within a second

// ends checks P6.
func (j *judge) ends() {
	c := j.c
	if c.Stopped != "" {
		j.violated(6, c.Stopped)
		return
	}
	type question struct {
		party, method, file string
		from                int64
	}
	asked := map[question][]time.Duration{}
	for _, a := range slices.Concat(c.Answers, c.Lookups) {
		q := question{a.Party, a.Method, a.File, a.From}
		at := append(asked[q], a.At)
		if asked[q] = at; len(at) > burst && a.At-at[len(at)-1-burst] < time.Second && c.Cut == "" {
			j.violated(6, "the same question without a pause")
			return
		}
	}
}

// words checks P7 and P8, as far as files show them.
func (j *judge) words() {
	c := j.c
	if slices.ContainsFunc(slices.Concat(c.Answers, c.Lookups), func(a Answer) bool { return a.Secret && a.Party != c.Asked }) {
		j.violated(7, "another server saw the password")
	}
	if j.steppedDown() {
		j.violated(7, "a redirect from https to http was followed without a digest")
	}
	switch {
	case len(c.After.Strange) > 0 && !c.Rename:
		j.violated(7, "a file of another name was made")
	case c.Cut != "":
	case c.Code == 1:
		j.violated(8, "an error of no class")
	case c.Code == 0 && !c.Pipe && c.After.Final == nil && !c.Rename:
		j.violated(8, "code 0 and no file")
	case c.Kept > 0 && len(c.After.Part) == 0:
		j.violated(8, "bytes are said to be kept and are not")
	}
}
