//go:build !nofleet

package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/fleet/jetstream"
)

// TestWatchFleetReleases_Rule80 checks that in a fleet a release whose list or file is missing does not hold up a lower
// one, and is in place only when its job is done.
func TestWatchFleetReleases_Rule80(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	there := map[string]string{"/tool-1.0.bin": "one", "/tool-2.0.bin": "two"} // 3.0 is only listed
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/feed.lirs" {
			for _, version := range []string{"1.0", "2.0", "3.0"} {
				fmt.Fprintf(w, "LIRS,%d,%d,0,3,http://%s/tool-%s.bin,a,0,http://agent.example/,\n",
					time.Now().Unix()-3600, time.Now().Unix(), r.Host, version)
			}
			return
		}
		if there[r.URL.Path] == "" {
			http.NotFound(w, r)
			return
		}
		if strings.Contains(r.URL.Path, "1.0") {
			sum := sha256.Sum256([]byte("one"))
			w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, strings.NewReader(there[r.URL.Path]))
	}))
	defer server.Close()
	state, to := t.TempDir(), t.TempDir()
	file := filepath.Join(state, "tools.toml")
	text := fmt.Sprintf("host-gap = '1ms'\n[feed.news]\nurl = '%[1]s/feed.lirs'\n[watch.tool]\nurl = "+
		"'%[1]s/tool-{version}.bin'\ndir = 'd'\nlink = 'latest'\n", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	worked := make(chan string)
	go func() {
		var log bytes.Buffer
		run(working, []string{"braid", "work", "--queue", "embedded:" + dir, "--to", to}, streams{out: &log, err: &log})
		worked <- log.String()
	}()
	var told bytes.Buffer
	code := run(ctx, []string{"braid", "watch", "--once", "--queue", "embedded:" + dir, "--state", state, file},
		streams{out: &told, err: &told})
	stop()
	log := <-worked
	if got, err := os.ReadFile(filepath.Join(to, "d", "latest")); string(got) != "one" || err != nil || code != 0 {
		t.Errorf("the link has %q, %v; exit code %d\n%s\n%s", got, err, code, &told, log)
	}
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	jobs, err := q.All(ctx)
	states := map[string]string{}
	for _, r := range jobs {
		states[r.Job.Name] = string(r.State)
	}
	if got := fmt.Sprint(states); got != "map[d/tool-1.0.bin:done d/tool-2.0.bin:dead d/tool-3.0.bin:dead]" || err != nil {
		t.Errorf("the jobs are %s, %v\n%s", got, err, &told)
	}
	if n := strings.Count(told.String(), `msg="not there yet"`); n != 2 {
		t.Errorf("%d versions wait: %s", n, &told)
	}
}
