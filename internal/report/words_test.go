package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// TestWordsOfADrama: the summary names the sources, amounts, speeds, failures, takeovers and times.
func TestWordsOfADrama(t *testing.T) {
	got := drama().story().String()
	for _, want := range []string{
		"m1:80 sent ",
		"m3:80 fell silent at 2 s, after sending 1.6 MiB; the rest of its range went to m1:80 at 3 s.",
		"m4:80 was dropped at 0.5 s for wrong content: another digest.",
		"m5:80 failed at 2 s: connection reset.",
		"The link seems full: 1 connection more added no speed.",
		"5 further connections were opened to test whether the speed increases; 1 were closed",
		"The first answer came after 0.4 s.",
		"The check ended 12 ms after the last byte, and the file was in place 8 ms later.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// alone returns a download from one server. told generates its events, and receives the number of its fetch.
func alone(told func(t *tale, f int)) *Recorder {
	t := newTale(10 * mib)
	f := t.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
	told(t, f)
	if t.open[f] != nil {
		t.over(nil, f)
	}
	return t.done(10 * mib)
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		name       string
		r          *Recorder
		want, wont string
	}{
		{"one server", alone(func(t *tale, f int) {
			t.answer(f)
			t.bring(2*time.Second, 100*kib, f)
		}), "All bytes came from one server that names no mirrors", "slow"},
		{"no digest", alone(func(t *tale, f int) {
			t.tell(download.Offered{File: metalink.File{Size: 10 * mib, NoDigest: true, Mirrors: make([]metalink.Mirror, 2)}})
			t.answer(f)
			t.bring(2*time.Second, 100*kib, f)
		}), "named mirrors, but sent no digest", "names no mirrors"},
		{"late", alone(func(t *tale, f int) {
			t.until(1200 * ms).answer(f)
			t.bring(3*time.Second, 100*kib, f)
		}), "The first answer came after 1.2 s", ""},
		{"nothing came", alone(func(t *tale, f int) {
			t.answer(f)
			t.bring(time.Second, 100*kib, f)
			t.until(4 * time.Second)
			t.bring(5*time.Second, 100*kib, f)
		}), "No source sent bytes for 3.1 s in all; the longest pause was from 1 s to 4.1 s.", ""},
		{"a slow stretch", alone(func(t *tale, f int) {
			t.answer(f)
			t.bring(3*time.Second, 100*kib, f)
			t.bring(5*time.Second, 10*kib, f)
			t.bring(9*time.Second, 100*kib, f)
		}), "From 3 s to 5 s only 100 KiB/s arrived, otherwise 986 KiB/s.", ""},
		{"a slow end", alone(func(t *tale, f int) {
			t.answer(f)
			t.bring(6*time.Second, 100*kib, f)
			t.bring(9*time.Second, 10*kib, f)
		}), "From 6 s to the end only 99.2 KiB/s arrived, before that 998 KiB/s.", ""},
		{"begun again", alone(func(t *tale, f int) {
			t.answer(f)
			t.bring(2*time.Second, 100*kib, f)
			t.over(nil, f)
			t.tell(download.Restarted{Reason: "the file changed"})
			g := t.ask(0, 0, 10*mib, scheduler.ReasonFirst)
			t.answer(g)
			t.bring(4*time.Second, 100*kib, g)
			t.over(nil, g)
		}), "The bytes received until 2 s were discarded, and the download began again: the file changed.", "names no mirrors"},
		{"compared", compared(), "From 2 s to 9 s the received bytes were compared with those of other sources, because " +
			"some were wrong.", "slow"},
		{"compared for long", compared(), "", "No source sent bytes"},
		{"compared, and nobody is to blame", compared(), "", "instead of"},
		{"compared, and it is no slow time", compared(), "", "only"},
		{"silent, then compared", silentAndCompared(),
			"No source sent bytes for 2 s in all; the longest pause was from 2 s to 4 s.", "instead of"},
		{"limited", limited(102 * kib), "--limit-rate allowed 102 KiB/s in all, and that speed was reached.", "names no mirrors"},
		{"limit not reached", limited(mib), "--limit-rate allowed 1 MiB/s in all.", ""},
		{"waiting for one", stuck(), "From 2 s to the end only 4.7 KiB/s arrived, before that 2 MiB/s, while m1:80 " +
			"was silent.", "instead of"},
		{"nobody", newTale(-1).fail(errors.New("x")), "No source answered.", ""},
		{"refused", refusal(1).fail(failed(0, download.Refused, status(0))), "", "No source answered"},
		{"told in the headline", refusal(1).fail(failed(0, download.Refused, status(0))), "", "404"},
		{"failed often", refusal(3).fail(failed(0, download.Refused, status(0))), "m0:80 failed 3 times, first at 1 s.", "404"},
		{"no digest", newTale(-1).fail(failed(0, download.NoEvidence, errors.New("no digest"))), "", "No source answered"},
		{"the next source", second(), "m0:80 failed at 1 s", "began again"},
	} {
		got := tt.r.story().String()
		if !strings.Contains(got, tt.want) || tt.wont != "" && strings.Contains(got, tt.wont) {
			t.Errorf("%s: no %q, or %q, in\n%s", tt.name, tt.want, tt.wont, got)
		}
	}
}

func status(id int) error {
	return &source.Error{URL: link(id), Host: host(id), Status: 404, Fault: source.FaultRefused,
		Err: errors.New("status 404 Not Found")}
}

func failed(id int, kind download.Kind, err error) error {
	return &download.Error{Kind: kind, What: "download", Where: link(id), Err: err}
}

// refusal returns a download from one server that refuses a number of times, one second apart.
func refusal(times int) *tale {
	t := newTale(-1)
	for range times {
		f := t.ask(0, 0, byterange.Unbounded, scheduler.ReasonFirst)
		t.until(t.at+time.Second).over(failed(0, download.Refused, status(0)), f)
	}
	t.tell(download.SourceDown{ID: 0, URL: link(0), Host: host(0), Err: status(0), Gone: true})
	return t
}

// second returns a download whose first source fails, and that begins again at another one before any byte was
// received.
func second() *Recorder {
	t := refusal(1)
	t.tell(download.Restarted{Reason: "m0:80: status 404 Not Found"})
	f := t.ask(1, 0, byterange.Unbounded, scheduler.ReasonFirst)
	t.answer(f)
	t.bring(3*time.Second, 100*kib, f)
	t.over(nil, f)
	return t.done(2 * mib)
}

// TestFates: the table contains the reason of a failure only if the summary does not.
func TestFates(t *testing.T) {
	t2 := newTale(10 * mib)
	for id := range mostFailed + 1 {
		t2.over(fault(id, fmt.Sprintf("reason %d", id)), t2.ask(id, 0, 10*mib, scheduler.ReasonFirst))
	}
	r := t2.until(time.Second).fail(errors.New("x"))
	html := string(r.Draw(t2.zero.Add(time.Minute)))
	for id := range mostFailed + 1 {
		// once in the summary or otherwise the table, and in the log and the marks
		in := strings.Count(html, fmt.Sprintf("<td class=\"t\">failed: reason %d</td>", id))
		if want := id / mostFailed; in != want {
			t.Errorf("the table has reason %d %d times, want %d", id, in, want)
		}
	}
}

// TestReason: the reason of a failure is short, without host, URL and long digests.
func TestReason(t *testing.T) {
	digest := func(c string) verify.Digest {
		d, err := verify.ParseHex(verify.SHA256, strings.Repeat(c, 32))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	given := verify.Claim{Digest: digest("ab"), Channel: verify.User, Field: "--sha256"}
	told := verify.Claim{Digest: digest("cd"), Channel: verify.HTTPS, Field: "Digest"}
	none := &download.NoSourceError{Errs: []error{status(0), status(1)}, Last: status(1)}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("x\x1b"), `x\x1b`},
		{failed(0, download.Refused, status(0)), "404 Not Found"},
		{failed(0, download.Network, fault(0, "connect: connection refused")), "connection refused"},
		{failed(0, download.Network, &source.Error{Host: "m0:80", Err: errors.New("m0: no such host")}), "no such host"},
		{failed(0, download.Refused, none), "all 2 sources failed, the last: 404 Not Found"},
		{failed(0, download.Mismatch, &verify.MismatchError{Claim: given, Got: digest("ef")}),
			"wrong digest: does not match the sha-256 from --sha256"},
		{failed(0, download.Mismatch, &verify.ConflictError{A: given, B: told}),
			"digests differ: sha-256 from --sha256, and sha-256 from Digest over https"},
		{failed(0, download.BadSignature, &verify.SignatureError{Code: verify.SignatureRevoked, By: "0123"}),
			"signature key revoked"},
		{&download.Error{Kind: download.Usage, What: "usage"}, "usage: <nil>"},
	} {
		if got := Reason(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

// compared returns a download from two sources with a wrong file. It was compared for 7 s, and then half of it was
// fetched again.
func compared() *Recorder {
	t := newTale(10 * mib)
	a, b := t.ask(0, 0, 5*mib, scheduler.ReasonFirst), t.ask(1, 5*mib, 10*mib, scheduler.ReasonGrowth)
	t.answer(a, b)
	t.bring(2*time.Second, 200*kib, a, b)
	t.over(nil, a, b)
	t.tell(download.Complete{Size: 10 * mib}, download.Note{Text: "it is compared"})
	for ; t.at < 9*time.Second; t.at += time.Second {
		t.tell(download.Comparing{Done: int64(t.at.Seconds()) * mib, Size: 10 * mib})
	}
	c := t.ask(0, 0, 5*mib, scheduler.ReasonFirst)
	t.answer(c)
	t.bring(10*time.Second, 200*kib, c)
	t.over(nil, c)
	return t.done(10 * mib)
}

// silentAndCompared returns a download that was also silent for a while.
func silentAndCompared() *Recorder {
	t := newTale(10 * mib)
	a := t.ask(0, 0, 5*mib, scheduler.ReasonFirst)
	t.answer(a)
	t.bring(2*time.Second, 200*kib, a)
	t.over(nil, a)
	t.until(4 * time.Second).tell(download.Comparing{Size: 10 * mib})
	t.until(8 * time.Second).tell(download.SourceDown{ID: 1, URL: link(1), Host: host(1), Err: fault(1, "wrong bytes"),
		Banned: true})
	c := t.ask(0, 0, 5*mib, scheduler.ReasonFirst)
	t.answer(c)
	t.bring(9*time.Second, 200*kib, c)
	t.over(nil, c)
	return t.done(10 * mib)
}

// limited returns a download of 1 MiB a second with the given limit in bytes a second.
func limited(limit int64) *Recorder {
	r := alone(func(t *tale, f int) {
		t.answer(f)
		t.bring(4*time.Second, 10*kib, f)
	})
	r.Limit = limit
	return r
}

// stuck returns a download from two sources, one of which has nothing left to do when the other falls silent.
func stuck() *Recorder {
	t := newTale(10 * mib)
	a, b := t.ask(0, 0, 5*mib, scheduler.ReasonFirst), t.ask(1, 5*mib, 10*mib, scheduler.ReasonGrowth)
	t.answer(a, b)
	t.bring(2*time.Second, 100*kib, a, b)
	t.over(nil, a)
	t.until(4 * time.Second)
	t.cut(b, 7*mib, true, scheduler.ReasonSilent)
	t.over(nil, b)
	c := t.ask(0, 7*mib, 7*mib+10*kib, scheduler.ReasonNext)
	t.answer(c)
	t.bring(t.at+100*ms, 10*kib, c)
	t.over(nil, c)
	return t.done(10 * mib)
}

// TestWordsOfMany: the speeds of all mirrors show what limits them.
func TestWordsOfMany(t *testing.T) {
	several := func(speeds ...int64) string {
		t := newTale(100 * mib)
		var fetches []int
		for i := range speeds {
			f := t.ask(i, int64(i)*20*mib, int64(i+1)*20*mib, scheduler.ReasonGrowth)
			t.answer(f)
			fetches = append(fetches, f)
		}
		for t.at < 2*time.Second {
			at := t.at
			for i, f := range fetches {
				t.at = at
				t.bring(at+100*ms, speeds[i], f)
			}
		}
		t.over(nil, fetches...)
		return t.done(100 * mib).story().String()
	}
	if got := several(100*kib, 101*kib, 102*kib); !strings.Contains(got, "share one link that is full") {
		t.Error(got)
	}
	if got := several(100*kib, 300*kib, 50*kib); !strings.Contains(got, "more mirrors might help") {
		t.Error(got)
	}
	if got := several(100*kib, 130*kib, 160*kib); strings.Contains(got, "All known mirrors") {
		t.Error(got)
	}
}

// TestHeadline: the headline describes the result in one line.
func TestHeadline(t *testing.T) {
	cut := &download.Error{Kind: download.Interrupted, What: "download", Err: context.Canceled, Kept: 5 * mib}
	for _, tt := range []struct {
		r              *Recorder
		class, outcome string
		want           string
	}{
		{drama(), "open", "complete, not verified", "48 MiB in 6.1 s: 4.7 MiB/s on average; proof: unverified."},
		{newTale(5).until(2 * time.Second).fail(cut), "stopped", "interrupted",
			"After 2 s: context canceled. 0 B were received in this run; 5 MiB are kept, and the same command continues " +
				"from there."},
		{newTale(5).fail(errors.New("disk is full")), "failed", "failed",
			"At once: disk is full. 0 B were received in this run; nothing is kept."},
		{alone(func(t *tale, f int) { // 20 MiB for a file of 10 MiB
			t.answer(f)
			t.bring(2*time.Second, 1024*kib, f)
		}), "open", "complete, not verified", "10 MiB in 2 s: 5 MiB/s on average"},
	} {
		class, outcome := tt.r.ending.outcome()
		if got := tt.r.ending.headline(tt.r.Fetched, tt.r.earlier.bytes); class != tt.class || outcome != tt.outcome ||
			!strings.Contains(got, tt.want) {
			t.Errorf("%s, %s: %s; want %s, %s: %s", class, outcome, got, tt.class, tt.outcome, tt.want)
		}
	}
}

// TestTakers: the source that is asked for a lost range is named, and a source that becomes slow and then silent is
// reported once.
func TestTakers(t *testing.T) {
	tl := newTale(100 * mib)
	a := tl.ask(0, 0, 10*mib, scheduler.ReasonFirst)
	b := tl.ask(1, 10*mib, 20*mib, scheduler.ReasonGrowth)
	tl.answer(a, b)
	tl.bring(time.Second, 10*kib, a, b)
	tl.bring(2500*ms, 10*kib, a)
	tl.cut(b, 15*mib, false, scheduler.ReasonSlow)
	tl.until(3 * time.Second)
	tl.cut(b, 10*mib+100*kib, true, scheduler.ReasonSilent)
	tl.over(nil, b)
	tl.ask(0, 30*mib, 40*mib, scheduler.ReasonNext) // not the lost range
	tl.ask(2, 14*mib, 16*mib, scheduler.ReasonNext)
	got := tl.fail(errors.New("x")).story().String()
	if !strings.Contains(got, "m1:80 fell silent at 1 s, after sending 100 KiB; the rest of its range went to "+
		"m2:80 at 3 s.") || strings.Contains(got, "slow") {
		t.Error(got)
	}
}

func TestSplitsAreTold(t *testing.T) {
	tl := newTale(100 * mib)
	a := tl.ask(0, 0, 10*mib, scheduler.ReasonFirst)
	tl.answer(a)
	tl.bring(time.Second, 10*kib, a)
	tl.cut(a, 5*mib, false, scheduler.ReasonSplit)
	tl.ask(1, 5*mib, 10*mib, scheduler.ReasonSplit)
	if got := tl.fail(errors.New("x")).story().String(); !strings.Contains(got,
		"To finish at the same time, m1:80 took over part of the range of m0:80.") {
		t.Error(got)
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		part, whole int64
		want        string
	}{{0, 0, "0 %"}, {0, 5, "0 %"}, {1, 1000, "under 1 %"}, {999, 1000, "over 99 %"}, {5, 5, "100 %"}, {2, 3, "67 %"}} {
		if got := share(tt.part, tt.whole); got != tt.want {
			t.Errorf("share(%d, %d) is %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
}
