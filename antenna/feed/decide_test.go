package feed

import (
	"slices"
	"strings"
	"testing"
)

const noon Time = 1794312000

// known returns the state of a URL that has been downloaded and has the baseline b.
func known(b Baseline) State { return State{HaveCopy: true, Baselines: []Baseline{b}} }

var (
	hour = Time(3600)
	base = Baseline{LastModified: noon - 10*hour, Detected: noon - 2*hour, Size: 1000, MD5: strings.Repeat("0", 32)}
)

// report returns a fresh record that says the same as base, after change.
func report(change func(*Record)) Record {
	r := Record{Format: HinaDI, LastModified: base.LastModified, Detected: noon - hour, Size: base.Size, MD5: base.MD5}
	change(&r)
	return r
}

func TestDecide_Rule54(t *testing.T) {
	otherMD5 := strings.Repeat("1", 32)
	for _, tt := range []struct {
		name    string
		state   State
		reports []Record
		action  Action
		reason  Reason
		chosen  int
		next    []Baseline // nil if unchanged
	}{
		{"nobody has it", known(base), nil, None, NotInFeed, -1, nil},
		{"failed", known(base), []Record{{Failed: true, Detected: noon, LastModified: noon}}, None, retrievalFailed, 0, nil},
		{"only a URL", known(base), []Record{{Detected: noon}}, None, NoInformation, 0, nil},
		// rule 54
		{"before 1990", known(base), []Record{report(func(r *Record) {
			r.LastModified, r.Size, r.MD5 = earliest-1, 0,
				""
		})}, None, NoInformation, 0, nil},
		{"1990", known(base), []Record{report(func(r *Record) {
			r.LastModified, r.Detected = earliest,
				base.Detected
		})}, None, olderThanKnown, 0, nil},
		{"an hour ahead", known(base), []Record{report(func(r *Record) { r.LastModified = noon + Skew })}, Download, Modified, 0,
			[]Baseline{{LastModified: noon + Skew, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"more than an hour ahead", known(base), []Record{report(func(r *Record) { r.LastModified = noon + Skew + 1 })},
			None, ModifiedInFuture, 0, nil},
		{"detected ahead", known(base), []Record{report(func(r *Record) { r.Detected = noon + Skew + 1 })}, None,
			DetectedInFuture, 0, nil},
		{"detected an hour ahead", known(base), []Record{report(func(r *Record) { r.Detected = noon + Skew })}, None,
			unchanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon, Size: 1000, MD5: base.MD5}}},
		{"far ahead", known(base), []Record{report(func(r *Record) { r.Detected = 1<<63 - 1 })}, None, DetectedInFuture, 0, nil},
		{"far ahead, too", known(base), []Record{report(func(r *Record) { r.LastModified = 1<<63 - 1 })}, None,
			ModifiedInFuture, 0, nil},

		{"stale by its own word", known(base), []Record{report(func(r *Record) { r.Expires = noon - 1 })}, None, stale, 0, nil},
		{"in its last second", known(base), []Record{report(func(r *Record) { r.Expires = noon })}, None, unchanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"stale by age", known(base), []Record{report(func(r *Record) { r.Detected = noon - Validity - 1 })}, None,
			stale, 0, nil},
		{"an old block in a new feed", known(base),
			[]Record{report(func(r *Record) { r.Detected, r.FeedDate = noon-Validity-1, noon })}, None, stale, 0, nil},
		{"the date of the block stands in", known(base),
			[]Record{report(func(r *Record) { r.Detected, r.Date, r.FeedDate = 0, noon-Validity-1, noon })}, None, stale, 0, nil},
		{"the date of the feed stands in", known(base),
			[]Record{report(func(r *Record) { r.Detected, r.FeedDate = 0, noon-Validity-1 })}, None, stale, 0, nil},
		{"the server's word stands in", known(base),
			[]Record{report(func(r *Record) { r.Detected, r.Received = 0, noon-Validity-1 })}, None, stale, 0, nil},
		{"nothing stands in", known(base), []Record{report(func(r *Record) { r.Detected, r.LastModified = 0, noon })},
			Download, Modified, 0,
			[]Baseline{{LastModified: noon, Detected: noon, Size: 1000, MD5: base.MD5}}},
		{"SOIF does not expire", known(base),
			[]Record{report(func(r *Record) { r.Format, r.Detected, r.LastModified = SOIF, noon-100*hour, noon })},
			Download, Modified, 0,
			[]Baseline{{LastModified: noon, Detected: noon - 100*hour, Size: 1000, MD5: base.MD5}}},
		{"a site's own news do not expire", known(base), []Record{report(func(r *Record) {
			r.Format, r.Detected, r.Received, r.LastModified = News, 0, noon-100*hour, noon-99*hour
		})}, None, olderThanKnown, 0, nil},
		{"news", known(base), []Record{{Format: News, Received: noon - 9*hour, LastModified: noon - 9*hour}}, Download,
			Modified, 0,
			[]Baseline{{LastModified: noon - 9*hour, Detected: noon - 9*hour}}},
		{"news beside a summary that never expires", known(base), []Record{
			report(func(r *Record) { r.Format, r.Detected = SOIF, noon-30*hour }), {Format: News, Received: noon,
				LastModified: noon - hour},
		}, Download, Modified, 1, []Baseline{{LastModified: noon - hour, Detected: noon}}},
		{"a sitemap beside a far Expires", known(base), []Record{
			report(func(r *Record) { r.Expires = noon + 9000*hour }), {Format: Sitemap, Received: noon,
				LastModified: noon - hour/2},
		}, Recheck, Modified, 1, []Baseline{{LastModified: noon - hour/2, Detected: noon}}},
		{"a day, and a look in its course", known(base), []Record{
			report(func(r *Record) { r.LastModified, r.Detected = noon-50*hour, noon-hour }),
			{Format: Sitemap, Received: noon - 1, LastModified: noon + 12*hour - 24*hour},
		}, None, unchanged, 1, nil},
		{"another day, and a look in its course", known(Baseline{LastModified: noon - 50*hour, Detected: noon - hour}), []Record{
			report(func(r *Record) { r.LastModified, r.Detected = noon-50*hour, noon-hour }),
			{Format: Sitemap, Received: noon - 1, LastModified: noon - 12*hour},
		}, Recheck, Modified, 1, []Baseline{{LastModified: noon - 12*hour, Detected: noon - 1}}},
		{"another day, and a look after the map", known(Baseline{LastModified: noon - 50*hour, Detected: noon - hour}), []Record{
			report(func(r *Record) { r.LastModified, r.Detected, r.Size, r.MD5 = noon-50*hour, noon-hour, 0, "" }),
			{Format: Sitemap, Received: noon - 2*hour, LastModified: noon - 12*hour},
		}, Recheck, Modified, 1, nil},
		{"an hour of a day beside the day", known(Baseline{LastModified: noon - 12*hour, Detected: noon - 9*hour}), []Record{
			{Format: News, Received: noon, LastModified: noon - 12*hour}, {Format: News, Received: noon,
				LastModified: noon - 2*hour},
		}, Download, Modified, 1, []Baseline{{LastModified: noon - 2*hour, Detected: noon}}},
		{"news of before the last look", known(base), []Record{
			report(func(r *Record) { r.Detected = noon - hour }), {Format: News, Received: noon, LastModified: noon - 2*hour},
		}, Recheck, Modified, 1, []Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"a sitemap is asked about", known(base), []Record{{Format: Sitemap, Received: noon - 9*hour,
			LastModified: noon - 9*hour}}, Recheck, Modified, 0,
			[]Baseline{{LastModified: noon - 9*hour, Detected: noon - 9*hour}}},
		{"an index page is asked about", known(base),
			[]Record{{Format: IndexPage, Received: noon, LastModified: noon - hour}}, Recheck, Modified, 0,
			[]Baseline{{LastModified: noon - hour, Detected: noon}}},
		{"an index page with the time of the easternmost zone", known(base),
			[]Record{{Format: IndexPage, Received: noon, LastModified: noon + 14*hour + Skew}},
			Recheck, Modified, 0, []Baseline{{LastModified: noon + 14*hour + Skew, Detected: noon}}},
		{"an index page farther ahead", known(base),
			[]Record{{Format: IndexPage, Received: noon, LastModified: noon + 14*hour + Skew + 1}}, None,
			ModifiedInFuture, 0, nil},
		{"an old index page", known(base), []Record{{Format: IndexPage, Received: noon - 100*hour,
			LastModified: noon - hour}}, Recheck, Modified, 0,
			[]Baseline{{LastModified: noon - hour, Detected: noon - 100*hour}}},
		{"a release", known(base), []Record{{Format: ReleaseAPI, Received: noon - 100*hour, LastModified: noon - hour}},
			Download, Modified, 0,
			[]Baseline{{LastModified: noon - hour, Detected: noon - 100*hour}}},
		{"a release ahead", known(base), []Record{{Format: ReleaseAPI, Received: noon, LastModified: noon + Skew + 1}},
			None, ModifiedInFuture, 0, nil},
		{"a sitemap, and no file", State{}, []Record{{Format: Sitemap, Received: noon, LastModified: noon}}, Download,
			FirstSight, 0,
			[]Baseline{{LastModified: noon, Detected: noon}}},

		{"first sight", State{}, []Record{{LastModified: 1794261600, Detected: noon}}, Download, FirstSight, 0,
			[]Baseline{{LastModified: 1794261600, Detected: noon}}},
		{"a baseline without a file", State{Baselines: []Baseline{base}}, []Record{report(func(*Record) {})}, Download,
			FirstSight, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"a file without a baseline", State{HaveCopy: true}, []Record{{Size: 5, Detected: noon}}, None,
			baselineRecorded, 0, []Baseline{{Size: 5, Detected: noon}}},
		{"newer, without size and sum", known(base),
			[]Record{report(func(r *Record) { r.LastModified, r.Size, r.MD5 = noon, 0, "" })}, Download, Modified, 0,
			[]Baseline{{LastModified: noon, Detected: noon - hour}}}, // records are not mixed (section 12)
		{"older, seen later", known(base), []Record{report(func(r *Record) { r.LastModified -= 1 })}, Recheck, WentBackwards, 0,
			[]Baseline{{LastModified: base.LastModified - 1, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"older, seen at the same time", known(base),
			[]Record{report(func(r *Record) { r.LastModified -= 1; r.Detected = base.Detected })}, None, olderThanKnown, 0, nil},
		{"another sum", known(base), []Record{report(func(r *Record) { r.MD5 = otherMD5 })}, Download, MD5Changed, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000, MD5: otherMD5}}},
		{"another size", known(base), []Record{report(func(r *Record) { r.Size = 1001 })}, Download, SizeChanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1001, MD5: base.MD5}}},
		{"another size, seen at the same time", known(base),
			[]Record{report(func(r *Record) { r.Size, r.Detected = 1001, base.Detected })}, Download, SizeChanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: base.Detected, Size: 1001, MD5: base.MD5}}},
		{"another size, seen before", known(base),
			[]Record{report(func(r *Record) { r.Size, r.Detected = 1001, base.Detected-1 })}, None, unchanged, 0, nil},
		{"only a size, another one", known(base),
			[]Record{report(func(r *Record) { r.LastModified, r.MD5, r.Size = 0, "", 1001 })}, Download, SizeChanged, 0,
			[]Baseline{{Detected: noon - hour, Size: 1001}}},
		{"unchanged, without a size", known(base), []Record{report(func(r *Record) { r.Size = 0 })}, None, unchanged, 0, nil},
		{"unchanged, seen before", known(base), []Record{report(func(r *Record) { r.Detected = base.Detected - 1 })},
			None, unchanged, 0, nil},
		{"a size that was not known", known(Baseline{LastModified: base.LastModified, Detected: 1}),
			[]Record{report(func(r *Record) { r.MD5 = "" })}, None, unchanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000}}},
		{"a size that was not known, seen at the same time",
			known(Baseline{LastModified: base.LastModified, Detected: noon - hour}),
			[]Record{report(func(r *Record) { r.MD5 = "" })}, None, unchanged, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, Size: 1000}}},
		{"unchanged, without a time", known(base), []Record{report(func(r *Record) { r.LastModified = 0 })}, None,
			unchanged, 0, nil},
		{"never with a time", known(Baseline{Size: 1000, Detected: 1}),
			[]Record{report(func(r *Record) { r.LastModified, r.MD5 = 0, "" })}, None, unchanged, 0,
			[]Baseline{{Size: 1000, Detected: noon - hour}}},
		{"nothing to compare", known(Baseline{Size: 1000, Detected: noon}),
			[]Record{report(func(r *Record) { r.Size = 0 })}, None, baselineRecorded, 0,
			[]Baseline{{LastModified: base.LastModified, Detected: noon - hour, MD5: base.MD5}}},

		{"from elsewhere", known(base), []Record{report(func(r *Record) {
			r.Virtual, r.LastModified = "HTTP://v.example", noon
		})}, None, baselineRecorded, 0,
			[]Baseline{base, {Virtual: "http://v.example/", LastModified: noon, Detected: noon - hour, Size: 1000,
				MD5: base.MD5}}},
		{"from elsewhere again", State{HaveCopy: true,
			Baselines: []Baseline{base, {Virtual: "http://v.example/", LastModified: noon - 1}}},
			[]Record{report(func(r *Record) { r.Virtual, r.LastModified = "http://V.example/", noon })}, Download, Modified, 0,
			[]Baseline{base, {Virtual: "http://v.example/", LastModified: noon, Detected: noon - hour, Size: 1000,
				MD5: base.MD5}}},

		{"the usable one of several", known(base), []Record{
			report(func(r *Record) { r.Expires = 1 }), report(func(r *Record) { r.LastModified = noon }), {Failed: true},
		}, Download, Modified, 1, []Baseline{{LastModified: noon, Detected: noon - hour, Size: 1000, MD5: base.MD5}}},
		{"the reason that says most", known(base), []Record{{Failed: true}, report(func(r *Record) { r.Expires = 1 }),
			{Detected: noon}}, None, stale, 1, nil},
		{"twice the same reason", known(base), []Record{{Failed: true}, {Failed: true}}, None, retrievalFailed, 0, nil},
	} {
		before := slices.Clone(tt.state.Baselines)
		v := Decide(tt.state, tt.reports, noon)
		if v.Action != tt.action || v.Reason != tt.reason || v.Chosen != tt.chosen || v.Words == "" {
			t.Errorf("%s: %v, %v, %d, %q, want %v, %v, %d", tt.name, v.Action, v.Reason, v.Chosen, v.Words, tt.action,
				tt.reason, tt.chosen)
		}
		want := tt.next
		if want == nil {
			want = before
		}
		if !slices.Equal(v.Next.Baselines, want) || v.Next.HaveCopy != tt.state.HaveCopy {
			t.Errorf("%s: next is %+v, want %+v", tt.name, v.Next, want)
		}
		if !slices.Equal(tt.state.Baselines, before) {
			t.Errorf("%s: the state was changed", tt.name)
		}
	}
}

func TestWords(t *testing.T) {
	v := Decide(known(base), []Record{report(func(r *Record) { r.LastModified = noon })}, noon)
	if want := "modified at 2026-11-10 12:00:00 UTC, and the known version at 2026-11-10 02:00:00 UTC"; v.Words != want {
		t.Errorf("%q, want %q", v.Words, want)
	}
}

// TestManyVirtuals checks that a feed cannot add baselines without limit.
func TestManyVirtuals(t *testing.T) {
	s := known(base)
	for i := range Time(100) {
		r := report(func(r *Record) { r.Virtual, r.Detected = "urn:"+string(rune('!'+i)), noon-hour+i })
		s = Decide(s, []Record{r}, noon).Next
	}
	if len(s.Baselines) != maxBaselines || s.Baselines[maxBaselines-1].Detected != noon-hour+99 {
		t.Errorf("%d baselines, the last from %v", len(s.Baselines), s.Baselines[len(s.Baselines)-1].Detected)
	}
}

// TestOldestVirtualGoes checks that the baseline with the earliest detection is dropped if there are too many, wherever
// it is in the list.
func TestOldestVirtualGoes(t *testing.T) {
	for oldest := range maxBaselines {
		var list []Baseline
		for i := range maxBaselines {
			b := Baseline{Virtual: string(rune('a' + i)), Detected: Time(1_700_000_000 + i)}
			if i == oldest {
				b.Detected = 1_600_000_000
			}
			list = append(list, b)
		}
		next := remember(list, Baseline{Virtual: "new", Detected: 1_800_000_000})
		gone := list[oldest].Virtual
		if len(next) != maxBaselines || slices.ContainsFunc(next, func(b Baseline) bool { return b.Virtual == gone }) {
			t.Errorf("%q was the oldest, and these stayed: %v", gone, next)
		}
	}
}

// TestChoose checks the order of decision 7: latest detection, fewest agents, latest Last-Modified, first record.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []Record
		want    int
	}{
		{"none", nil, -1},
		{"the latest detection, not the latest change", []Record{{Detected: noon, LastModified: noon - hour},
			{Detected: noon - 1, LastModified: noon}}, 0},
		{"a stand-in ranks last", []Record{{Received: noon, LastModified: noon}, {Detected: noon - 5*hour}}, 1},
		{"a date of the block is no stand-in", []Record{{Detected: noon - 5*hour}, {Date: noon}}, 1},
		{"news are of their own date", []Record{{Detected: noon - 5*hour}, {Format: News, LastModified: noon - 4*hour,
			Received: noon - 9*hour}}, 1},
		{"a sitemap is of its own date", []Record{{Format: SOIF, Detected: noon - 5*hour},
			{Format: Sitemap, LastModified: noon - 4*hour}}, 1},
		{"somebody has looked since the news", []Record{{Format: News, LastModified: noon - 6*hour, Received: noon},
			{Detected: noon - 5*hour}}, 1},
		{"news without a date", []Record{{Format: News, Size: 5, Received: noon}, {Detected: noon - 5*hour}}, 1},
		{"news with an impossible date", []Record{{Format: News, LastModified: earliest - 1, Received: noon},
			{Detected: noon - 5*hour}}, 1},
		{"the latest news", []Record{{Format: News, LastModified: noon - 2, Received: noon},
			{Format: News, LastModified: noon - 1, Received: noon - 9*hour}}, 1},
		{"fewer agents", []Record{{Detected: noon, Method: []string{"REMOTE", "remote", "GET"}},
			{Detected: noon, Method: []string{"REMOTE", "GET"}}}, 1},
		{"the latest change", []Record{{Detected: noon, LastModified: noon - 2}, {Detected: noon, LastModified: noon - 1}}, 1},
		{"the first", []Record{{Detected: noon, Title: "a"}, {Detected: noon, Title: "b"}}, 0},
	} {
		if got := Choose(tt.records, noon); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestOneFeedMutesNone checks that an agent that always reports no change, detected half an hour from now, does not
// hide the news of another one: each news causes one recheck.
func TestOneFeedMutesNone(t *testing.T) {
	s, now := known(base), noon
	news := report(func(r *Record) { r.LastModified = noon - 3*hour })
	newer := report(func(r *Record) { r.LastModified = noon - 2*hour })
	backwards := report(func(r *Record) { r.LastModified = noon - 20*hour })
	for i, tt := range []struct {
		other  []Record
		action Action
		chosen int
	}{
		{nil, None, 0},
		{[]Record{news}, Recheck, 1},
		{[]Record{news}, None, 0},
		{[]Record{news, newer}, Recheck, 2},
		{[]Record{newer, news}, None, 0},
		{[]Record{backwards}, None, 0},
		{[]Record{report(func(r *Record) { r.LastModified, r.Expires = noon, 1 })}, None, 0},
		{[]Record{report(func(r *Record) { r.LastModified = now + 4*Skew })}, None, 0},
		{[]Record{news}, None, 0},
	} {
		now += 600
		mute := report(func(r *Record) { r.Detected = now + hour/2 })
		v := Decide(s, append([]Record{mute}, tt.other...), now)
		if v.Action != tt.action || v.Chosen != tt.chosen {
			t.Errorf("poll %d: %v for %d, want %v for %d: %s", i, v.Action, v.Chosen, tt.action, tt.chosen, v.Words)
		}
		s = v.Next
	}
}

// TestHeardWithWrongClock checks that a time that was heard while the clock was ahead does not hide later news.
func TestHeardWithWrongClock(t *testing.T) {
	s := known(base)
	s.Heard = noon + 365*24*hour
	mute := report(func(r *Record) { r.Detected = noon })
	news := report(func(r *Record) { r.LastModified, r.Detected = noon-2*hour, noon-hour })
	if v := Decide(s, []Record{mute, news}, noon); v.Action != Recheck || v.Next.Heard != news.LastModified {
		t.Errorf("%v: %s, heard %v", v.Action, v.Words, v.Next.Heard)
	}
}

// TestNoCreditForTheFuture checks that a detection in the future counts as one of now, in the choice of a record and
// for the time for which the site need not be asked.
func TestNoCreditForTheFuture(t *testing.T) {
	ahead := report(func(r *Record) { r.Detected = noon + hour/2 })
	if got := Choose([]Record{ahead, report(func(r *Record) { r.Detected, r.LastModified = noon, noon-1 })}, noon); got != 1 {
		t.Errorf("%d is believed", got)
	}
	if until, ok := ahead.SeenUntil(noon); !ok || until != noon+Validity {
		t.Errorf("the site is spared until %v, %v", until, ok)
	}
}
