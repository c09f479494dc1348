package feed

import (
	"fmt"
	"slices"
)

// An Action is what to do because of a report.
type Action int

const (
	None     Action = iota
	Recheck         // ask the origin conditionally whether the file has changed, even to an older version
	Download        // fetch the file conditionally, with the client's own validators
)

func (a Action) String() string { return [...]string{"none", "recheck", "download"}[a] }

// A Reason is the reason for an Action, for programs. Verdict.Words describes it.
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

// unusable lists the reasons why a record is not used, ordered by increasing significance.
var unusable = []Reason{NotInFeed, retrievalFailed, NoInformation, DetectedInFuture, stale, ModifiedInFuture}

// A State is the remembered state of a watched URL.
type State struct {
	// HaveCopy reports that the file was downloaded.
	HaveCopy bool
	// Baselines are the records believed last: one for the URL itself, and one for each Virtual that a report had.
	Baselines []Baseline
	// Heard is the latest modification time in a report that caused a recheck although a different report was
	// preferred.
	Heard Time `json:",omitempty"`
}

// A Baseline is the content of one record. Values that the record lacked are unknown. They are not taken from other
// records (hina-di, section 12).
type Baseline struct {
	// Virtual is the key of the URL that the record describes instead of the watched URL, or "".
	Virtual      string
	LastModified Time
	Detected     Time
	Size         int64
	MD5          string
}

// A Verdict is the result of Decide.
type Verdict struct {
	Action Action
	Reason Reason
	// Words describes the reason.
	Words string
	// Chosen is the index of the decisive report, or -1.
	Chosen int
	// Next is the state to store once the action is done. If Next is not stored, the same reports lead to the same
	// Verdict again.
	Next State
}

// Decide evaluates the reports about a URL: those of the last poll of each feed. Reports are only hints. A missing
// report is no news, and a report that is stale, from the future or empty changes nothing.
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

// weigh evaluates the preferred report.
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
		if known.Detected > now+Skew { // stored with a wrong clock
			known.Detected = 0
		}
		if r.isDay() && known.LastModified > r.LastModified && known.LastModified < r.LastModified+day {
			v.Reason, v.Words = unchanged, "the known version was modified on the reported day"
			return
		}
		v.Action, v.Reason, v.Words = known.compare(seen)
		// Sitemaps often have today's date for every URL, and the dates of index pages may be hours off.
		if v.Action == Download && (r.Format == Sitemap || r.Format == IndexPage) {
			v.Action = Recheck
		}
		if !v.replaces(known, seen) {
			return
		}
	}
	v.Next.Baselines = remember(s.Baselines, seen)
}

// hear requests a recheck if the preferred report has no news and another report has. News is a modification time later
// than that of the baseline and than Heard. So an agent that claims to have just seen each URL, and is therefore
// preferred, does not hide the reports of other agents. hear is not called if the client's own observation is
// preferred, because reports of earlier times are then no news.
func (v *Verdict) hear(usable []Record, indexes []int, now Time) {
	if v.Next.Heard > now+Skew+farthestZone { // stored with a wrong clock
		v.Next.Heard = 0
	}
	for i := range usable {
		seen := baselineOf(&usable[i], now)
		at := slices.IndexFunc(v.Next.Baselines, func(b Baseline) bool { return b.Virtual == seen.Virtual })
		if at < 0 || seen.LastModified <= max(v.Next.Baselines[at].LastModified, v.Next.Heard) {
			continue
		}
		v.Action, v.Reason, v.Chosen = Recheck, Modified, indexes[i]
		v.Words = fmt.Sprintf("modified at %v, the known version at %v, and a later report does not confirm it",
			seen.LastModified, v.Next.Baselines[at].LastModified)
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
	if modified > now+Skew+r.zones() {
		return ModifiedInFuture, false
	}
	return "", true
}

func unusableWords(v Verdict, reports []Record, now Time) string {
	switch v.Reason {
	case retrievalFailed:
		return "the agent of the feed could not reach the site"
	case NoInformation:
		return "the feed lists the URL, but without a size, an MD5 or a plausible modification time (1990 or later)"
	case DetectedInFuture:
		t, _ := reports[v.Chosen].detected(now)
		return fmt.Sprintf("detected at %v, which is more than an hour in the future", t)
	case stale:
		t, _ := reports[v.Chosen].GoodUntil(now)
		return fmt.Sprintf("the report expired at %v", t)
	case ModifiedInFuture:
		return fmt.Sprintf("modified at %v, which is more than an hour in the future", reports[v.Chosen].LastModified)
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

// compare compares the known baseline b with a reported baseline. It compares only values that both have.
func (b Baseline) compare(seen Baseline) (Action, Reason, string) {
	times := b.LastModified != 0 && seen.LastModified != 0
	sums := b.MD5 != "" && seen.MD5 != ""
	sizes := b.Size != 0 && seen.Size != 0
	switch {
	case !times && !sums && !sizes:
		return None, baselineRecorded, "no reported value was known before: later reports are compared with these values"
	case times && seen.LastModified > b.LastModified:
		return Download, Modified, fmt.Sprintf("modified at %v, and the known version at %v", seen.LastModified, b.LastModified)
	case times && seen.LastModified < b.LastModified && seen.Detected > b.Detected:
		return Recheck, WentBackwards, fmt.Sprintf("modified at %v, before the known version (%v), but detected later",
			seen.LastModified, b.LastModified)
	case times && seen.LastModified < b.LastModified:
		return None, olderThanKnown, fmt.Sprintf("modified at %v, and the known version at %v", seen.LastModified, b.LastModified)
	case sums && seen.MD5 != b.MD5:
		return Download, MD5Changed, fmt.Sprintf("MD5 %q instead of %q", seen.MD5, b.MD5)
	case sizes && seen.Size != b.Size && seen.Detected >= b.Detected:
		return Download, SizeChanged, fmt.Sprintf("%d octets instead of %d", seen.Size, b.Size)
	}
	return None, unchanged, "no reported value has changed"
}

// replaces reports whether seen replaces the known baseline. An unchanged report replaces it only if the report is not
// older and lacks no value that the baseline has. Otherwise a single report without a size would make the next size
// look like the first.
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

// maxBaselines limits the baselines that feeds can add with new Virtuals.
const maxBaselines = 8

// remember returns list with b in place of the baseline with the same Virtual. If list is full, the baseline with the
// earliest detection is dropped. list itself is not modified.
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
