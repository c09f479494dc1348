package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/prooftest"
	"braid/metalink"
	"braid/scheduler"
	"braid/verify"
)

// told is what a renderer says about events, on the screen and in JSON.
func told(verbose bool, events ...download.Event) (text, lines string) {
	var out, err bytes.Buffer
	w := NewDownload(&Screen{Out: &err, Verbose: verbose}, NewJSONWriter(&out), false)
	w.record.Path = "d/a.iso"
	for _, ev := range events {
		w.apply(moment{at: time.Unix(0, 0), ev: ev})
	}
	return err.String(), strings.ReplaceAll(out.String(), `{"v":1,"time":"1970-01-01T00:00:00Z","event":`, "{")
}

func TestWatch(t *testing.T) {
	m, _ := url.Parse("http://m/a")
	const evil, safe = "\x1b[31m", `\x1b[31m`
	for _, tt := range []struct {
		ev         download.Event
		brief      bool // said without -v, too
		text, json string
	}{
		{download.Started{URL: "u", Path: "p"}, false, "", `{"start","url":"u","path":"p"}`},
		{download.Resumed{Bytes: 2048}, false, "a.iso: 2 KiB were received in an earlier run\n", `{"resume","bytes":2048}`},
		{download.SourceUp{ID: 1, URL: "u", Host: "h", RTT: 20 * time.Millisecond}, false,
			"mirror u: in use (h, 20 ms away)\n", `{"mirror","state":"up","id":1,"url":"u","host":"h","rtt":0.02}`},
		{download.SourceUp{ID: 1, URL: "u", Host: "h"}, false, "mirror u: in use (h)\n",
			`{"mirror","state":"up","id":1,"url":"u","host":"h"}`},
		{download.SourceUp{ID: 1, URL: "u", Host: "h", Whole: true}, false, "mirror u: sends whole files only (h)\n",
			`{"mirror","state":"up","id":1,"url":"u","host":"h","whole":true}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, Ended: true, Why: scheduler.ReasonNoRanges}, false,
			"mirror h: not used, because others would finish sooner\n",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":0,"ended":true,"why":"no ranges"}`},
		{download.Comparing{Done: 1, Size: 2}, false, "", `{"compare","done":1,"size":2}`},
		{download.SourceDown{ID: 2, URL: "u", Host: "h", Err: errors.New(evil), Banned: true}, true,
			"mirror u: dropped for wrong content: " + safe + "\n",
			`{"mirror","state":"banned","id":2,"url":"u","host":"h","why":"\\x1b[31m"}`},
		{download.SourceDown{ID: 2, URL: "u", Err: errors.New("e"), Gone: true}, false, "mirror u: dropped: e\n",
			`{"mirror","state":"down","id":2,"url":"u","why":"e"}`},
		{download.SourceDown{ID: 0, URL: "u", Host: "h", Err: errors.New("e"), Back: 2 * time.Second, Active: 1}, false,
			"mirror u: again in 2 s: e\n", `{"retry","id":0,"url":"u","host":"h","wait":2,"why":"e"}`},
		{download.SourceDown{ID: 0, URL: "u", Err: errors.New("e"), Active: 1}, false, "mirror u: again later: e\n",
			`{"retry","id":0,"url":"u","why":"e"}`},
		{download.SourceDown{ID: 0, URL: "u", Host: "h", Err: errors.New("e"), Back: 2 * time.Second}, true,
			"a.iso: e; trying again in 2 s\n", `{"retry","id":0,"url":"u","host":"h","wait":2,"why":"e"}`},
		{download.RangeStarted{ID: 1, Host: "h", Range: byterange.Range{Start: 5, End: 10}, Fetch: 3,
			Why: scheduler.ReasonSplit}, false, "", `{"range","id":1,"host":"h","start":5,"end":10,"fetch":3,"why":"split"}`},
		{download.RangeStarted{ID: 1, Range: byterange.Range{End: byterange.Unbounded}, Fetch: 1,
			Why: scheduler.ReasonFirst}, false, "", `{"range","id":1,"start":0,"fetch":1,"why":"first"}`},
		{download.RangeAnswered{ID: 1, Host: "h", Fetch: 3}, false, "", `{"range_answer","id":1,"host":"h","fetch":3}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, End: 7, Why: scheduler.ReasonSlow}, false,
			"mirror h: too slow for its range; other sources fetch the rest\n",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":7,"why":"slow"}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, End: 7, Ended: true, Why: scheduler.ReasonSameHost}, false, "",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":7,"ended":true,"why":"same host"}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, End: 7, Why: scheduler.ReasonSilent}, false,
			"mirror h: sends nothing; the rest of its range is requested again\n",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":7,"why":"silent"}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, End: 7, Ended: true, Why: scheduler.ReasonUseless}, false,
			"mirror h: connection closed, because it adds no speed\n",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":7,"ended":true,"why":"useless"}`},
		{download.RangeCut{ID: 1, Host: "h", Fetch: 3, End: 7, Ended: true, Why: scheduler.ReasonCrowded}, false,
			"mirror h: connection closed to test whether fewer are as fast\n",
			`{"range_cut","id":1,"host":"h","fetch":3,"end":7,"ended":true,"why":"crowded"}`},
		{download.RangeEnded{ID: 1, Host: "h", Fetch: 3, Bytes: 5, Took: 2 * time.Second}, false, "",
			`{"range_end","id":1,"host":"h","fetch":3,"bytes":5,"took":2}`},
		{download.RangeEnded{ID: 1, Fetch: 3, Err: errors.New(evil)}, false, "",
			`{"range_end","id":1,"fetch":3,"bytes":0,"took":0,"why":"\\x1b[31m"}`},
		{download.Complete{Size: 5}, false, "", `{"complete","size":5}`},
		{download.Progress{Done: 1, Size: 2, Rate: 3, Active: 4}, false, "",
			`{"progress","done":1,"size":2,"rate":3,"mirrors":4}`},
		{download.Progress{Done: 1, Size: -1}, false, "", `{"progress","done":1,"rate":0,"mirrors":0}`},
		{download.Restarted{Reason: "r" + evil}, true, "a.iso: starting again: r" + safe + "\n", `{"retry","why":"r\u001b[31m"}`},
		{download.Verified{Proof: verify.Unchecked(5)}, false, "", `{"verify","verified":false,"digests":{},"evidence":[]}`},
		{download.Note{Text: "n"}, false, "n\n", `{"note","text":"n"}`},
		{
			download.Offered{File: metalink.File{
				Size: 2048, Claims: []verify.Claim{claim(t)}, ETag: `"e"`,
				Mirrors:   []metalink.Mirror{{URL: m, Pri: 1, Geo: "DE", Pref: true}},
				Documents: []metalink.MetaURL{{URL: m, Type: "t", Name: "n"}}, IgnoredCount: 4,
				Ignored: []metalink.Ignored{{Target: "x", Reason: "scheme"}, {Target: "y", Reason: "self"},
					{Target: "z", Reason: "scheme"},
					{Target: "Digest: MD5=x", Reason: "short"}},
			}}, false,
			"server: 2 KiB, sha-256 from Digest over https, 1 mirror\nserver: 4 statements ignored: scheme (2), self " +
				"(1), Digest: short (1)\n",
			`{"offer","size":2048,"etag":"\"e\"","claims":[{"algorithm":"sha-256","hex":"` + strings.Repeat("00", 32) +
				`","field":"Digest","channel":"https"}],` +
				`"mirrors":[{"url":"http://m/a","pri":1,"pref":true,"geo":"DE","depth":0}],"documents":[{"url":"http://m/a","type":"t","name":"n"}],` +
				`"ignored":[{"target":"x","reason":"scheme"},{"target":"y","reason":"self"},{"target":"z","reason":"scheme"},` +
				`{"target":"Digest: MD5=x","reason":"short"}],"ignored_count":4,"no_digest":false}`,
		},
	} {
		text, lines := told(true, tt.ev)
		if _, started := tt.ev.(download.Started); text != tt.text && !started || lines != tt.json+"\n" {
			t.Errorf("%+v:\n%q and %s\nwant\n%q and %s", tt.ev, text, lines, tt.text, tt.json)
		}
		if text, _ := told(false, tt.ev); (text != "") != tt.brief {
			t.Errorf("%+v: without -v %q", tt.ev, text)
		}
	}
}

func claim(t *testing.T) verify.Claim {
	t.Helper()
	d, err := verify.NewDigest(verify.SHA256, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return verify.Claim{Digest: d, Field: "Digest", Channel: verify.HTTPS}
}

// TestNilEventIsNoLine: no event, no line.
func TestNilEventIsNoLine(t *testing.T) {
	if e := jsonEvent(moment{}); e != nil {
		t.Errorf("%v", e)
	}
}

func TestOutOfDate(t *testing.T) {
	p, n := moment{ev: download.Progress{}}, moment{ev: download.Note{}}
	if !outOfDate(p, p) || outOfDate(p, n) || outOfDate(n, p) || outOfDate(n, n) {
		t.Error("only progress replaces progress")
	}
}

// TestWatchNamesSources: what is said of a source that answered is said of its URL, as all else.
func TestWatchNamesSources(t *testing.T) {
	text, _ := told(true, download.SourceUp{ID: 1, URL: "u", Host: "h"}, download.RangeCut{ID: 1, Host: "h",
		Why: scheduler.ReasonSilent})
	if !strings.HasSuffix(text, "\nmirror u: sends nothing; the rest of its range is requested again\n") {
		t.Errorf("%q", text)
	}
}

func TestResultLine(t *testing.T) {
	four := []download.SourceResult{{Host: "a", Bytes: 1}, {Host: "b", Bytes: 1}, {Host: "c"}, {Host: "d", Bytes: 5}}
	for _, tt := range []struct {
		r        download.Result
		noDigest bool
		want     string
	}{
		{download.Result{Size: 256 << 20, Fetched: 256 << 20, Elapsed: 3200 * time.Millisecond, Sources: four,
			Proof: prooftest.Of(t, verify.SHA256)}, false,
			"a.iso: 256 MiB in 3.2 s (80 MiB/s) from 3 mirrors; verified: sha-256 from Digest over https"},
		{download.Result{Size: 256 << 20, Fetched: 56 << 20, Resumed: 200 << 20, Elapsed: time.Second,
			Sources: four[:1], Proof: prooftest.Of(t, verify.SHA256)}, false,
			"a.iso: 256 MiB, 200 MiB of it from an earlier run, in 1 s (56 MiB/s) from a; verified: sha-256 from Digest " +
				"over https"},
		{download.Result{Size: 64 << 20, Fetched: 128 << 20, Elapsed: 32 * time.Second, Sources: four[:1],
			Proof: prooftest.Of(t, verify.SHA256)}, false,
			"a.iso: 64 MiB in 32 s (2 MiB/s) from a; verified: sha-256 from Digest over https"},
		{download.Result{AlreadyComplete: true, Size: 1 << 20, Proof: prooftest.Of(t, verify.SHA256, verify.MD5)}, false,
			"a.iso: already complete (1 MiB); verified: sha-256 from Digest over https"},
		{download.Result{Size: 1, Elapsed: 0, Proof: verify.Unchecked(1)}, false,
			"a.iso: 1 B in 0 ms (0 B/s); unverified: the server sent no checksum (give one with --sha256)"},
		{download.Result{Size: 1, Elapsed: 0, Proof: verify.Unchecked(1)}, true,
			"a.iso: 1 B in 0 ms (0 B/s); unverified: the server named mirrors, but sent no checksum, so they were not " +
				"used (give one with --sha256)"},
		{download.Result{Size: 1, Elapsed: 0, Proof: prooftest.Of(t, verify.MD5)}, false,
			"a.iso: 1 B in 0 ms (0 B/s); unverified (md5 from Digest over https matches, which proves nothing against " +
				"an attacker)"},
		{download.Result{NotModified: true}, false, "a.iso: nothing newer"},
		{download.Result{NotModified: true, Size: 1 << 20, Proof: prooftest.Of(t, verify.SHA256)}, false,
			"a.iso: nothing newer (1 MiB); verified: sha-256 from Digest over https"},
		{download.Result{NotModified: true, Older: true, LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, false,
			"a.iso: the existing file is kept, because the server's is older (" +
				time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Local().Format("2006-01-02 15:04 MST") +
				"); replace it with --allow-older"},
	} {
		w := NewDownload(nil, nil, false)
		w.record.Path, w.record.NoDigest = "d/a.iso", tt.noDigest
		if got := w.result(tt.r); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestShares(t *testing.T) {
	sources := []download.SourceResult{
		{Host: "fast:80", Bytes: 192 << 20, Rate: 12 << 20}, {Host: "slow:80", Bytes: 64 << 20, Rate: 300 << 10},
		{Host: "liar:80", Err: errors.New("liar:80: sha-256 differs\x1b"), Banned: true},
		{URL: "http://dead/a", Err: errors.New("refused")}, {Host: "idle"}, {Host: "idle"},
	}
	got := shareLines(sources, 0)
	want := []string{
		`  fast:80         192 MiB   75 %    12 MiB/s`,
		`  slow:80          64 MiB   25 %   300 KiB/s`,
		`  liar:80             0 B    0 %              dropped: sha-256 differs\x1b`,
		`  http://dead/a       0 B    0 %              failed: refused`,
		`  2 other mirrors not needed`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	for width, want := range map[int]string{
		200: want[2],
		66:  `  liar:80             0 B    0 %              dropped: sha-256 ...`,
		65:  `  liar:80             0 B              dropped: sha-256 differ...`,
		57:  `  liar:80             0 B  dropped: sha-256 differs\x1b`,
		40:  `  liar:80             0 B  dropped: s...`,
		20:  `  liar:80        ...`,
		2:   `...`,
	} {
		got := shareLines(sources, width)
		if got[2] != want {
			t.Errorf("width %d: %q, want %q", width, got[2], want)
		}
		for _, line := range got[:4] {
			if n := utf8.RuneCountInString(line); n > max(width, 3) {
				t.Errorf("width %d: %d in %q", width, n, line)
			}
		}
	}
	if got := shareLines([]download.SourceResult{{Host: "only", Bytes: 1}, {Host: "idle"}}, 0); got != nil {
		t.Errorf("one source is no table: %q", got)
	}
}

func TestDoneEvent(t *testing.T) {
	u, _ := url.Parse("http://me:pw@h/a?key=s3cret")
	e := doneEvent{NewHead(time.Unix(0, 0), "done"), NewOutcome(download.Request{URL: u}, download.Result{
		Path: "a", Size: 1, Proof: prooftest.Of(t, verify.SHA256), Resumed: 1, Fetched: 2, Duplicate: 3,
		Elapsed: time.Second, AlreadyComplete: true,
		Sources: []download.SourceResult{{URL: "u", Host: "h", Bytes: 4, Rate: 5, Banned: true, Err: errors.New("e")}},
	})}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"event":"done","url":"http://me:***@h/a?key=***","path":"a","size":1,"verified":true,"digests":{"sha-256":"2d711642`,
		`"evidence":["sha-256 from Digest over https"]`,
		`"already_complete":true,"resumed":1,"fetched":2,"duplicate":3,"elapsed":1,`,
		`"sources":[{"url":"u","host":"h","bytes":4,"rate":5,"banned":true,"why":"e"}]}`,
	} {
		if !strings.Contains(string(line), want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
}
