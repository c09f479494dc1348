package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"braid/antenna"
	"braid/internal/test/mirrortest"
)

// TestDaemonWatchKilledBeforeLast_Rule80 checks that the last try of a version takes over the queue entry of an earlier
// try during which the daemon was killed: the version is given up, and the entry leaves the queue.
func TestDaemonWatchKilledBeforeLast_Rule80(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a-1.2.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(1000))
	w := newWatchingDaemon(t, s, "require = 'digest'")
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "a-1.2.iso", "a-{version}.iso", 1))
	w.begin()
	first := w.becomes("active")
	w.kill()
	w.ages(3 * 24 * time.Hour)
	s.Set(mirrortest.StallAfter(-1), mirrortest.Status(http.StatusNotFound))
	w.begin()
	w.says("version 1.2 was given up after failures: ")
	if all := w.entries(); len(all) > 0 {
		t.Errorf("the queue has %+v", all)
	}
	if _, err := os.Lstat(w.in("files/a-1.2.iso.part")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the part file of %s stays: %v", first.GID, err)
	}
	s.Set(mirrortest.Status(0))
	w.asks(exitDone, "run", "w", "watch.toml")
	w.becomes("complete")
	w.says("version 1.2: sha-256 from Digest")
}

// ages changes the stored state of all watches, so that their releases have waited for d and were tried 60 times.
func (w *watchingDaemon) ages(d time.Duration) {
	w.t.Helper()
	store, err := antenna.OpenStore(w.in("state/antenna.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	values := map[string]map[string][]byte{}
	err = store.Each(func(bucket, key string, value []byte) {
		if values[bucket] == nil {
			values[bucket] = map[string][]byte{}
		}
		var saved map[string]any
		if bucket == "watches" && json.Unmarshal(value, &saved) == nil {
			r := saved["Release"].(map[string]any)
			r["Stage"], r["Since"], r["Asked"] = "waiting", time.Now().Add(-d), 60
			value, _ = json.Marshal(saved)
		}
		values[bucket][key] = value
	})
	if err = errors.Join(err, store.Replace(values), store.Close()); err != nil || len(values["watches"]) == 0 {
		w.t.Fatal(len(values["watches"]), err)
	}
}
