package feed

import (
	"fmt"
	"slices"
)

// An Action is what a report calls for.
type Action int

const (
	None     Action = iota
	Recheck         // ask the origin, conditionally, whether the file is another one; an older one may have been restored
	Download        // fetch the file, conditionally: by the client's own validators
)

func (a Action) String() string { return [...]string{"none", "recheck", "download"}[a] }

// A Reason is why, as a word for programs. Verdict.Words says it to people.
type Reason string

const (
	NotInFeed        Reason = "not-in-feed"
	retrievalFailed  Reason = "retrieval-failed-at-source"
	NoInformation    Reason = "no-information"
	DetectedInFuture Reason = "detected-in-future"
	stale            Reason = "stale"
	ModifiedInFuture Reason = "modified-in-future"

	FirstSight       Reason = "first-sight"
	baselineRecorded Reason = "baseline-recorded"
	Modified         Reason = "modified"
	MD5Changed       Reason = "md5-changed"
	SizeChanged      Reason = "size-changed"
	WentBackwards    Reason = "went-backwards"
	olderThanKnown   Reason = "older-than-known"
	unchanged        Reason = "unchanged"
)

// unusable are the reasons for which a record is not used, from those that say least to those that say most.
var unusable = []Reason{NotInFeed, retrievalFailed, NoInformation, DetectedInFuture, stale, ModifiedInFuture}

// A State is what is remembered of a watched URL.
type State struct {
	// HaveCopy: the file was downloaded once.
	HaveCopy bool
	// Baselines are what was last believed, one for the URL itself and one for each Virtual from which a report came.
	Baselines []Baseline
	// Heard is the latest time of modification for which a report was followed that was not the one to be believed.
	Heard Time `json:",omitempty"`
}

// A Baseline is what one record said, whole: what it lacked is unknown (hina-di, section 12).
type Baseline struct {
	// Virtual is the key of the URL that the record spoke of instead of the watched one, or empty.
	Virtual      string
	LastModified Time
	Detected     Time
	Size         int64
	MD5          string
}

// A Verdict is what to do about a watched URL.
type Verdict struct {
	Action Action
	Reason Reason
	// Words is the reason in words.
	Words string
	// Chosen is the index of the report that decided, or -1.
	Chosen int
	// Next is what to remember once the action is done. A report whose State was not stored comes again.
	Next State
}

// Decide says what the reports of a URL mean: those that the feeds have now, at most one poll old each. They are hints of
// others; that one is missing is no news, and one that is stale, from the future or without content changes nothing.
func Decide(s State, reports []Record, now Time) Verdict {
	usable, indexes := []Record{}, []int{}
	v := Verdict{Reason: NotInFeed, Chosen: -1, Next: s}
	for i := range reports {
		if why, ok := reports[i].Usable(now); ok {
			usable, indexes = append(usable, reports[i]), append(indexes, i)
		} else if slices.Index(unusable, why) > slices.Index(unusable, v.Reason) {
			v.Reason, v.Chosen = why, i
		}
	}
	best := Choose(usable, now)
	if best < 0 {
		v.Words = unusableWords(v, reports, now)
		return v
	}
	v.Chosen = indexes[best]
	v.weigh(s, &usable[best], now)
	if v.Action == None && usable[best].Format != Own {
		v.hear(usable, indexes, now)
	}
	return v
}

// weigh says what the report means that is to be believed.
func (v *Verdict) weigh(s State, r *Record, now Time) {
	seen := baselineOf(r, now)
	i := slices.IndexFunc(s.Baselines, func(b Baseline) bool { return b.Virtual == seen.Virtual })
	switch {
	case !s.HaveCopy:
		v.Action, v.Reason, v.Words = Download, FirstSight, "nothing was downloaded yet"
	case i < 0:
		v.Reason, v.Words = baselineRecorded, "the first report: later ones are compared with it"
	default:
		known := s.Baselines[i]
		if known.Detected > now+Skew { // by a clock that was wrong
			known.Detected = 0
		}
		if r.isDay() && known.LastModified > r.LastModified && known.LastModified < r.LastModified+day {
			v.Reason, v.Words = unchanged, "what is known is of the day that is reported"
			return
		}
		v.Action, v.Reason, v.Words = known.compare(seen)
		if v.Action == Download && r.Format == Sitemap { // which often have today's date for everything
			v.Action = Recheck
		}
		if !v.replaces(known, seen) {
			return
		}
	}
	v.Next.Baselines = remember(s.Baselines, seen)
}

// hear has the origin asked where the report that is to be believed has no news, and another one has: of a later time
// than is known, and than one for which that was done before. An agent that says of each URL that it was seen just now
// is believed before all others, and does not silence them. The client's own look does: what others say of a time
// before it is no news.
func (v *Verdict) hear(usable []Record, indexes []int, now Time) {
	for i := range usable {
		seen := baselineOf(&usable[i], now)
		at := slices.IndexFunc(v.Next.Baselines, func(b Baseline) bool { return b.Virtual == seen.Virtual })
		if at < 0 || seen.LastModified <= max(v.Next.Baselines[at].LastModified, v.Next.Heard) {
			continue
		}
		v.Action, v.Reason, v.Chosen = Recheck, Modified, indexes[i]
		v.Words = fmt.Sprintf("modified at %v, known was %v, and an agent that looked later says nothing of it", seen.LastModified, v.Next.Baselines[at].LastModified)
		v.Next.Heard = seen.LastModified
	}
}

// Usable reports whether Decide can use r, and if not, why.
func (r Record) Usable(now Time) (why Reason, ok bool) {
	modified := believable(r.LastModified)
	if r.Failed {
		return retrievalFailed, false
	}
	if modified == 0 && r.Size == 0 && r.MD5 == "" {
		return NoInformation, false
	}
	if t, _ := r.detected(now); t > now+Skew {
		return DetectedInFuture, false
	}
	if t, ends := r.GoodUntil(now); ends && now > t {
		return stale, false
	}
	if modified > now+Skew {
		return ModifiedInFuture, false
	}
	return "", true
}

func unusableWords(v Verdict, reports []Record, now Time) string {
	switch v.Reason {
	case retrievalFailed:
		return "the agent of the feed could not reach the site"
	case NoInformation:
		return "the feed has the URL, but neither a time of modification since 1990 nor a size nor an MD5"
	case DetectedInFuture:
		t, _ := reports[v.Chosen].detected(now)
		return fmt.Sprintf("detected at %v, which is more than an hour ahead", t)
	case stale:
		t, _ := reports[v.Chosen].GoodUntil(now)
		return fmt.Sprintf("the report was good until %v", t)
	case ModifiedInFuture:
		return fmt.Sprintf("modified at %v, which is more than an hour ahead", reports[v.Chosen].LastModified)
	}
	return "no feed has the URL"
}

func baselineOf(r *Record, now Time) Baseline {
	b := Baseline{LastModified: believable(r.LastModified), Size: r.Size, MD5: r.MD5}
	detected, _ := r.detected(now)
	b.Detected = min(detected, now)
	if b.Virtual = r.Virtual; r.Virtual != "" {
		if key, ok := Key(r.Virtual); ok {
			b.Virtual = key
		}
	}
	return b
}

// compare says what it means that b was known and seen is reported. What one of them does not know is not compared.
func (b Baseline) compare(seen Baseline) (Action, Reason, string) {
	times := b.LastModified != 0 && seen.LastModified != 0
	sums := b.MD5 != "" && seen.MD5 != ""
	sizes := b.Size != 0 && seen.Size != 0
	switch {
	case !times && !sums && !sizes:
		return None, baselineRecorded, "nothing that is reported was known before: later reports are compared with it"
	case times && seen.LastModified > b.LastModified:
		return Download, Modified, fmt.Sprintf("modified at %v, known was %v", seen.LastModified, b.LastModified)
	case times && seen.LastModified < b.LastModified && seen.Detected > b.Detected:
		return Recheck, WentBackwards, fmt.Sprintf("modified at %v, which is older than %v but was seen later", seen.LastModified, b.LastModified)
	case times && seen.LastModified < b.LastModified:
		return None, olderThanKnown, fmt.Sprintf("modified at %v, known is %v", seen.LastModified, b.LastModified)
	case sums && seen.MD5 != b.MD5:
		return Download, MD5Changed, fmt.Sprintf("MD5 %q, known was %q", seen.MD5, b.MD5)
	case sizes && seen.Size != b.Size && seen.Detected >= b.Detected:
		return Download, SizeChanged, fmt.Sprintf("%d octets, known were %d", seen.Size, b.Size)
	}
	return None, unchanged, "nothing that is reported has changed"
}

// replaces reports whether seen is what to remember now. A report that says nothing new is, if it is not older and knows no
// less: a single one without a size must not make the next size look like the first.
func (v *Verdict) replaces(known, seen Baseline) bool {
	switch v.Reason {
	case olderThanKnown:
		return false
	case unchanged:
		return seen.Detected >= known.Detected && (seen.LastModified != 0 || known.LastModified == 0) &&
			(seen.Size != 0 || known.Size == 0) && (seen.MD5 != "" || known.MD5 == "")
	}
	return true
}

// maxBaselines bounds what feeds can have remembered with ever new Virtuals.
const maxBaselines = 8

// remember returns list with b in the place of the one with the same Virtual, and without the one that was detected first if
// there are too many. The list itself is left as it is.
func remember(list []Baseline, b Baseline) []Baseline {
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, func(old Baseline) bool { return old.Virtual == b.Virtual }); i >= 0 {
		list[i] = b
		return list
	}
	if len(list) >= maxBaselines {
		oldest := 0
		for i := range list {
			if list[i].Detected < list[oldest].Detected {
				oldest = i
			}
		}
		list = slices.Delete(list, oldest, oldest+1)
	}
	return append(list, b)
}
