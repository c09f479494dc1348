//go:build !nofleet

package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
	"braid/fleet/jetstream"
)

// queueHere runs the server of a queue in a folder, for the time of a test.
func queueHere(t *testing.T) (ctx context.Context, dir string, h *jetstream.Host) {
	t.Helper()
	dir = t.TempDir()
	h, err := hostIn(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(stop)
	return ctx, dir, h
}

// TestQueueDrain: a drain ends when no worker has a job, though one was killed that had one. What another program has
// called a job writes no escapes on the screen.
func TestQueueDrain(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "killed\x1b[31m", Works: true, Lease: time.Second})
	if err == nil {
		_, err = q.Report(ctx, fleet.Job{Name: "a\x1b[31m.iso", URIs: []string{"https://example.org/a.iso"}})
	}
	if err == nil {
		_, err = q.Next(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	var out, told bytes.Buffer
	for _, verb := range []string{"drain", "list"} {
		if code := run(ctx, []string{"braid", "queue", verb, "--queue", "embedded:" + dir},
			streams{out: &out, err: &told}); code != 0 {
			t.Errorf("%s ends with %d: %s", verb, code, &told)
		}
	}
	if !strings.Contains(out.String(), "running") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("the list is %q", &out)
	}
}

// TestQueueRetryKilled_Rule76: a job that a retry had stored that was killed before its message comes to a worker with
// the next retry.
func TestQueueRetryKilled_Rule76(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	j := fleet.Job{Name: "a.iso", URIs: []string{"https://example.org/a.iso"}}
	if _, err := q.Report(ctx, j); err != nil {
		t.Fatal(err)
	}
	c, err := q.Next(ctx)
	if err == nil {
		_, err = c.Finish(ctx, fleet.Ending{Kind: fleet.Useless})
	}
	if err == nil {
		err = queuedOnly(ctx, h, j.Key())
	}
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	if code := run(ctx, []string{"braid", "queue", "retry", "--all", "--queue", "embedded:" + dir},
		streams{out: &told, err: &told}); code != 0 {
		t.Errorf("retry ends with %d: %s", code, &told)
	}
	if c, err := q.Next(ctx); err != nil || c.Record.Job.Name != "a.iso" {
		t.Errorf("it waits for ever: %v", err)
	}
}

// TestQueueDropAll: all dead jobs are dropped, or those of the states that are said, or the old ones of them; those
// that were reported again since stay.
func TestQueueDropAll(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	job := func(name, version string) fleet.Job {
		return fleet.Job{Name: name, Version: version, URIs: []string{"https://example.org/" + name}}
	}
	for name, kind := range map[string]fleet.Kind{"right": fleet.Right, "useless": fleet.Useless, "wrong": fleet.Wrong,
		"queued": ""} {
		if _, err = q.Report(ctx, job(name, "1")); err == nil && kind != "" {
			var c *jetstream.Claim
			for c == nil || c.Record.Job.Name != name {
				if c, err = q.Next(ctx); err != nil {
					t.Fatal(err)
				}
				if c.Record.Job.Name != name {
					c.Release(ctx)
				}
			}
			_, err = c.Finish(ctx, fleet.Ending{Kind: kind})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var done fleet.Record
	left := func(args ...string) string {
		t.Helper()
		var told bytes.Buffer
		if code := run(ctx, append([]string{"braid", "queue", "drop", "--queue", "embedded:" + dir, "--all"}, args...),
			streams{out: &told, err: &told}); code != 0 {
			t.Fatalf("%q ends with %d: %s", args, code, &told)
		}
		all, err := q.All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range all {
			names = append(names, r.Job.Name)
			if r.State == fleet.Done {
				done = r
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	if got := left("--older", "1h", "done", "waiting", "dead", "queued"); got != "queued right useless wrong" {
		t.Errorf("of those that are an hour old: %s", got)
	}
	if got := left(); got != "queued right wrong" {
		t.Errorf("of the dead: %s", got)
	}
	if _, err := q.Report(ctx, job("right", "2")); err != nil {
		t.Fatal(err)
	}
	if dropped, err := q.DropAs(ctx, &done); dropped || err != nil {
		t.Errorf("what was reported again is dropped: %v", err)
	}
	if got := left("waiting", "queued"); got != "" {
		t.Errorf("of those that wait: %s", got)
	}
	for _, args := range [][]string{{"--all", "running"}, {"--all", "x.iso"}, {"--older", "1h", "x.iso"}} {
		var told bytes.Buffer
		if code := run(ctx, append([]string{"braid", "queue", "drop", "--queue", "embedded:" + dir}, args...),
			streams{out: &told, err: &told}); code != exitUsage {
			t.Errorf("%q ends with %d: %s", args, code, &told)
		}
	}
}

// TestQueueMasked_Rule62 checks that the list of jobs and the status show no secret of a URL, in text and in JSON.
func TestQueueMasked_Rule62(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, version := range []string{"1", "2"} { // the second is reported while a worker has the first
		_, err := q.Report(ctx, fleet.Job{
			Name: "a.iso", Watch: "w", Version: version, URIs: []string{"https://example.org/a.iso?token=SECRET"},
			Options: []fleet.Option{
				{Name: "mirror", Value: "https://m.example/a.iso?token=SECRET"}, {Name: "require", Value: "digest"},
			},
		})
		if err == nil && version == "1" {
			_, err = q.Next(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	urls := []string{`"newer":{`, "https://example.org/a.iso?", "https://m.example/a.iso?", `"value":"digest"`}
	for args, want := range map[string][]string{
		"list": {"a.iso"}, "status": {"running  1"}, "list --json": urls, "status --json": urls,
	} {
		var out bytes.Buffer
		all := append([]string{"braid", "queue"}, append(strings.Fields(args), "--queue", "embedded:"+dir)...)
		if code := run(ctx, all, streams{out: &out, err: &out}); code != exitDone || strings.Contains(out.String(), "SECRET") {
			t.Errorf("%s ends with %d: %s", args, code, &out)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s shows no %s: %s", args, w, &out)
			}
		}
	}
}

// TestQueueNewer: jobs that a newer braid has written are told of, and left alone; the others are shown, dropped and
// tried again as ever.
func TestQueueNewer(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	names := []string{"a.iso", "b.iso"}
	for _, name := range names {
		if _, err := q.Report(ctx, fleet.Job{Name: name, URIs: []string{"https://example.org/" + name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stored(ctx, h, fleet.KeyOf("a.iso"),
		func([]byte) []byte { return []byte(`{"format":9,"state":"queued"}`) }); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"status"}, exitDone, []string{"queued   1\n", "newer    1, written by a newer braid"}},
		{[]string{"list"}, exitRefused, []string{"queued   b.iso\n",
			"1 of the queue's values (format 9; this braid knows 1)", "update braid on this machine"}},
		{[]string{"retry", "a.iso"}, exitRefused, []string{"a newer braid"}},
		{[]string{"drop", "a.iso"}, exitRefused, []string{"a newer braid"}},
		{[]string{"drain"}, exitRefused, []string{"a newer braid"}},
		{[]string{"drop", "--all", "queued"}, exitRefused, []string{"a newer braid"}},
		{[]string{"status"}, exitDone, []string{"queued   0\n", "newer    1, "}},
	} {
		var out bytes.Buffer
		code := run(ctx, slices.Concat([]string{"braid", "queue", tt.args[0], "--queue", "embedded:" + dir},
			tt.args[1:]), streams{out: &out, err: &out})
		if code != tt.code {
			t.Errorf("%q ends with %d, want %d: %s", tt.args, code, tt.code, &out)
		}
		for _, want := range tt.want {
			if !strings.Contains(strings.ReplaceAll(out.String(), "queued  ", "queued "),
				strings.ReplaceAll(want, "queued  ", "queued ")) {
				t.Errorf("%q says nothing of %q: %s", tt.args, want, &out)
			}
		}
	}
}

// queuedOnly makes a dead job a queued one, without a message.
func queuedOnly(ctx context.Context, h *jetstream.Host, key string) error {
	return stored(ctx, h, key, func(record []byte) []byte {
		return bytes.Replace(record, []byte(`"dead"`), []byte(`"queued"`), 1)
	})
}

// stored changes a record as another program might.
func stored(ctx context.Context, h *jetstream.Host, key string, change func([]byte) []byte) error {
	return storedIn(ctx, h, "braid_jobs", func(jobs natsjs.KeyValue) error {
		e, err := jobs.Get(ctx, key)
		if err == nil {
			_, err = jobs.Put(ctx, key, change(e.Value()))
		}
		return err
	})
}

// storedIn changes one of the buckets of the queue, as another program may.
func storedIn(ctx context.Context, h *jetstream.Host, bucket string, change func(natsjs.KeyValue) error) error {
	conn, err := nats.Connect(nats.DefaultURL, nats.SetCustomDialer(h))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return err
	}
	return change(kv)
}

// TestWorkElsewhere: a worker that would put files into another folder than the running one takes no job.
func TestWorkElsewhere(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := q.PlaceAt(ctx, jetstream.Destination{ID: "1", Name: "/srv/out"}); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	code := run(ctx, []string{"braid", "work", "--queue", "embedded:" + dir, "--to", t.TempDir()},
		streams{out: &told, err: &told})
	if want := "the worker worker of this queue places files elsewhere, in /srv/out (give all workers of a queue the " +
		"same --to)"; code != exitUsage || !strings.Contains(told.String(), want) {
		t.Errorf("it ends with %d: %s", code, &told)
	}
}
