//go:build !nofleet

package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/antenna"
	"braid/fleet/jetstream"
)

// TestWatchTakesOver: a watcher of a fleet was killed when the queue had the ETag of its feed, and neither what the
// feed said nor jobs. The next one asks in full, and reports all of it.
func TestWatchTakesOver(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	var feed bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "feed.lirs", time.Time{}, bytes.NewReader(feed.Bytes()))
	}))
	defer server.Close()
	const files = 30
	for i := range files {
		fmt.Fprintf(&feed, "LIRS,%d,%d,0,7,%s/files/%d.iso,a,0,http://agent.example/,\n", time.Now().Unix()-3600,
			time.Now().Unix(), server.URL, i)
	}
	watch := func(state string) string {
		file := filepath.Join(state, "isos.toml")
		text := fmt.Sprintf("[feed.news]\nurl = %q\nevery = \"1h\"\n[watch.files]\nglob = %q\ndir = \"isos\"\n",
			server.URL+"/feed.lirs", server.URL+"/files/*")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		if code := run(ctx, []string{"braid", "watch", "--once", "--queue", "embedded:" + dir, "--state", state, file},
			streams{out: &told, err: &told}); code != 0 {
			t.Errorf("the watcher ends with %d: %s", code, &told)
		}
		return told.String()
	}
	first := watch(t.TempDir())
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "killed"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	jobs, err := q.All(ctx)
	if err != nil || len(jobs) != files {
		t.Fatalf("%d jobs, %v: %s", len(jobs), err, first)
	}
	for _, r := range jobs {
		if _, err := q.Drop(ctx, r.Job.Key()); err != nil {
			t.Fatal(err)
		}
	}
	if told := watch(t.TempDir()); strings.Contains(told, "msg=job") { // all is known
		t.Errorf("after an orderly end it reports again: %s", told)
	}
	lead, err := q.Lead(ctx, "isos", "1", antenna.LastBucket, nil)
	if err != nil {
		t.Fatal(err)
	}
	type value struct{ bucket, key string }
	var others []value
	if err := lead.Kept(ctx, func(bucket, key string, _ []byte) { others = append(others, value{bucket, key}) }); err != nil {
		t.Fatal(err)
	}
	for _, v := range others {
		if v.bucket != antenna.LastBucket {
			lead.Keep(v.bucket, v.key, nil)
		}
	}
	lead.Keep("reports", "large", make([]byte, 9<<20)) // so that not all is stored
	if err := lead.Resign(ctx); err != nil {
		t.Fatal(err)
	}
	if told := watch(t.TempDir()); strings.Count(told, "msg=job") != files {
		t.Errorf("%d files are reported: %s", strings.Count(told, "msg=job"), told)
	}
}

// TestWatchStandby checks that watch run and watch forget are refused where a watcher stands by, because it replaces its
// store when it leads.
func TestWatchStandby(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "leads"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	lead, err := q.Lead(ctx, "isos", "1", antenna.LastBucket, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(filepath.Dir(state), "isos.toml")
	text := "[watch.a]\nurl = 'http://127.0.0.1:1/a.iso'\ndir = 'd'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	standing, stop := context.WithCancel(ctx)
	log, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(standing, []string{"braid", "watch", "--queue", "embedded:" + dir, "--state", state, file},
			streams{out: told, err: told})
		told.Close()
	}()
	lines := bufio.NewReader(log)
	for line := ""; !strings.Contains(line, "has a different configuration"); { // follows "standing by"
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go io.Copy(io.Discard, lines)
	for _, verb := range []string{"run", "forget"} {
		var out bytes.Buffer
		code := run(ctx, []string{"braid", "watch", verb, "a", "--state", state, file}, streams{out: &out, err: &out})
		if code != exitLocal || !strings.Contains(out.String(), "a copy of that in the queue") {
			t.Errorf("%s ends with %d: %s", verb, code, &out)
		}
	}
	stop()
	<-ended
	if err := lead.Resign(ctx); err != nil {
		t.Error(err)
	}
}
