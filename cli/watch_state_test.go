package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/antenna"
)

// TestStatusOfWatches checks the row of a watch in each state of its update.
func TestStatusOfWatches(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) time.Time { return now.Add(d) }
	stage := func(name string) *antenna.ReleaseStatus {
		return &antenna.ReleaseStatus{Version: "2.0", Stage: name, Why: "no list beside the file", Newest: "2.1"}
	}
	for _, c := range []struct {
		status antenna.WatchStatus
		want   string
	}{
		{antenna.WatchStatus{}, "w never never | nothing yet"},
		{antenna.WatchStatus{Pending: true, Words: "modified", Next: at(time.Minute)},
			"w never never in 1 min 0 s | waits: modified"},
		{antenna.WatchStatus{Pending: true, Running: true, Next: at(-time.Minute)},
			"w never never | its download or its hook is running"},
		{antenna.WatchStatus{Pending: true, Try: 2, Err: "refused", Next: at(time.Minute), Tried: at(-time.Minute)},
			"w 1 min 0 s ago never in 1 min 0 s | failed 2 times: refused"},
		{antenna.WatchStatus{Reason: antenna.Excluded, Words: "all are excluded"}, "w never never | all are excluded"},
		{antenna.WatchStatus{HaveCopy: true, Last: antenna.Outcome{At: at(-time.Hour), ModTime: at(-2 * time.Hour)},
			Tried: at(-time.Minute), Release: stage("in-place")},
			"w 1 min 0 s ago 2 h 0 min ago | version 2.0 (the newest is 2.1): unverified"},
		{antenna.WatchStatus{Pending: true, Tried: at(-time.Second), Next: at(time.Minute), Release: stage("waiting")},
			"w 1 s ago never in 1 min 0 s | version 2.0 is not ready yet: no list beside the file"},
		{antenna.WatchStatus{Pending: true, Tried: at(-time.Hour), Next: at(-time.Minute), Release: stage("resting")},
			"w 1 h 0 min ago never | version 2.0 is not ready yet, and is tried again after other versions: no list " +
				"beside the file"},
		{antenna.WatchStatus{Pending: true, Running: true, Release: stage("waiting")},
			"w never never | version 2.0: its download or its hook is running"},
		{antenna.WatchStatus{Pending: true, Try: 3, Err: "wrong digest", Next: at(time.Minute), Release: stage("waiting")},
			"w never never in 1 min 0 s | version 2.0: failed 3 times: wrong digest"},
		{antenna.WatchStatus{Pending: true, Running: true, Queued: "downloads: 5 MiB", Release: stage("update")},
			"w never never | version 2.0: downloads: 5 MiB"},
		{antenna.WatchStatus{Tried: at(-time.Hour), Release: stage("given-up")},
			"w 1 h 0 min ago never | version 2.0 was given up after failures: no list beside the file"},
	} {
		c.status.Name = "w"
		text := statusText(antenna.Status{Watches: []antenna.WatchStatus{c.status}}, 1, now)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		head, row := lines[len(lines)-2], lines[len(lines)-1]
		state := strings.Index(head, "STATE")
		if got := strings.Join(strings.Fields(row[:state]), " ") + " | " + row[state:]; got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestStatusOfUnordered checks that the row of the version in place has the number of the versions that are ignored.
func TestStatusOfUnordered(t *testing.T) {
	text := statusText(antenna.Status{
		Watches: []antenna.WatchStatus{
			{Name: "w", Release: &antenna.ReleaseStatus{Version: "2.0", Stage: "in-place", Newest: "2.0"}, HaveCopy: true},
			{Name: "w", Release: &antenna.ReleaseStatus{Version: "2.1", Stage: "unwanted", Newest: "2.0"}},
		},
		Follows: []antenna.FollowStatus{
			{Name: "w", Current: "2.0", Unordered: 3, Example: "r2026c", Invalid: 1, InvalidTag: "cli/v2"},
		},
	}, 1, time.Now())
	const want = "; 3 versions cannot be ordered, and will not be downloaded, for example r2026c" +
		"; 1 tag cannot be part of a URL, and will be ignored, for example cli/v2"
	if !strings.Contains(text, "version 2.0: unverified"+want+"\n") || strings.Count(text, want) != 1 {
		t.Errorf("%s", text)
	}
}

// TestStatusJSON checks the number of ignored tags in the JSON of a status, and that an object, whose path is a URL, is
// not reported as a file that no longer exists.
func TestStatusJSON(t *testing.T) {
	var out bytes.Buffer
	v := &watchCommand{streams: streams{out: &out}}
	file := antenna.WatchStatus{Name: "w", HaveCopy: true, Last: antenna.Outcome{Path: filepath.Join(t.TempDir(), "x")}}
	object := antenna.WatchStatus{Name: "o", HaveCopy: true, Last: antenna.Outcome{Path: "s3://bucket/x"}}
	s := antenna.Status{
		Watches: []antenna.WatchStatus{file, object},
		Follows: []antenna.FollowStatus{{Name: "w", Invalid: 2, InvalidTag: "cli/v2"}},
	}
	if err := v.statusJSON(s, 0); err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(first, `"gone":true`) || !strings.Contains(first, `"invalid_tags":2,"invalid_tag":"cli/v2"`) ||
		strings.Contains(second, "gone") || strings.Contains(second, "invalid") {
		t.Errorf("%s", out.String())
	}
	if text := statusText(s, 0, time.Now()); strings.Count(text, "the file no longer exists") != 1 {
		t.Errorf("%s", text)
	}
}
