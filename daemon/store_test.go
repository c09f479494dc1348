package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"braid/daemon/queue"
	"braid/internal/database"
	"braid/internal/test/fsystest"
)

// TestKilledBeforeStored checks that a file whose completion was not stored is not downloaded again, whether or not its
// server sends a digest.
func TestKilledBeforeStored(t *testing.T) {
	for _, bare := range []bool{false, true} {
		s, b := newSite(t), newBench(t)
		s.bare = bare
		s.holdAll()
		b.start()
		notices, done := b.Subscribe()
		g := b.add(s.urls(1, 1<<20)...)[0]
		b.half(g)
		stored := b.holdStore() // until the store is copied
		s.release()
		for n := range notices {
			if n.What == queue.OnComplete {
				break
			}
		}
		done()
		old := b.config.Dir
		b.config.Dir = t.TempDir() // as it is now on disk
		for _, name := range []string{storeFile, "key"} {
			data, err := os.ReadFile(filepath.Join(old, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(b.config.Dir, name), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		saved := t.TempDir()
		if err := os.CopyFS(saved, os.DirFS(b.files)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(saved, "000.part.journal")); err != nil {
			t.Fatalf("the queue on disk knows of its end: %v", err)
		}
		stored()
		b.stop()
		name := filepath.Join(b.files, "000")
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		b.files = saved
		os.Chtimes(filepath.Join(saved, "000"), info.ModTime(), info.ModTime())
		b.config.Client.JournalKey = filepath.Join(b.config.Dir, "key")
		b.start()
		b.awaitStatus(g, queue.Complete)
		b.await("settled", func(q *queue.Queue) bool { e, _ := q.Entry(g); return !e.Outcome.Due })
		b.right(s.urls(1, 1<<20)...)
		if n := s.sent.Load(); n > 1<<20 {
			t.Errorf("bare %t: %d bytes were sent for 1 MiB", bare, n)
		}
		b.stop()
	}
}

// holdStore blocks writes to the store until release is called.
func (b *bench) holdStore() (release func()) {
	b.t.Helper()
	tx, err := b.store.db.Begin(true)
	if err != nil {
		b.t.Fatal(err)
	}
	release = sync.OnceFunc(func() { tx.Rollback() })
	b.t.Cleanup(release) // before the daemon is stopped, because it writes
	return release
}

// TestGrouped checks that ten thousand entries in one call, and concurrent calls, need few transactions.
func TestGrouped(t *testing.T) {
	b := newBench(t)
	b.start()
	written := func() (n int) {
		b.store.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil })
		return n
	}
	before := written()
	begun := time.Now()
	b.do(func(q *queue.Queue) error {
		for i := range 10_000 {
			q.Add(time.Now(), queue.Entry{URIs: []string{fmt.Sprintf("http://127.0.0.1:1/%d", i)}, Status: queue.Paused}, -1)
		}
		return nil
	})
	t.Logf("10,000 entries in %v", time.Since(begun))
	if n := written() - before; n != 1 {
		t.Errorf("%d transactions for one call", n)
	}
	before = written()
	release := b.holdStore()
	var wg, heard sync.WaitGroup
	for i := range 100 {
		heard.Add(1)
		wg.Go(func() {
			b.do(func(q *queue.Queue) error {
				defer heard.Done()
				q.ChangeGlobal(map[string]string{"x": fmt.Sprint(i)})
				return nil
			})
		})
	}
	heard.Wait()
	release()
	wg.Wait()
	if n := written() - before; n < 1 || n > 2 { // one for the first call, and one for those that came meanwhile
		t.Errorf("%d transactions for a hundred calls at once", n)
	}
	b.stop()
	b.start()
	b.do(func(q *queue.Queue) error {
		if _, n, _ := q.Count(); n != 10_000 {
			t.Errorf("%d entries after a restart", n)
		}
		return nil
	})
}

// TestStoreDamaged checks that a damaged store is moved aside and logged, and that the queue is then empty.
func TestStoreDamaged(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.config.Dir, storeFile)
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 20_000), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.stop()
	if data, err := os.ReadFile(path + ".bad"); err != nil || len(data) != 20_000 ||
		!strings.Contains(b.log.String(), path+".bad") {
		t.Errorf("aside are %d bytes, %v; the log says %s", len(data), err, b.log)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestStoreOfNewer_Rule8 checks that the queue of a newer braid is refused and kept.
func TestStoreOfNewer_Rule8(t *testing.T) {
	b := newBench(t)
	d, err := Open(b.config)
	if err != nil {
		t.Fatal(err)
	}
	err = d.store.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyVersion, []byte("2")) })
	if err := errors.Join(err, d.store.db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(b.config); !strings.Contains(fmt.Sprint(err), "written by a newer braid (version 2; this braid knows 1)") {
		t.Errorf("the error is %v", err)
	}
	if names, err := os.ReadDir(b.config.Dir); len(names) != 1 || names[0].Name() != storeFile || err != nil {
		t.Errorf("there are %v, %v", names, err)
	}
}

// TestOlderStore_Rule8 checks that the queue that revision 696ef86 left is read.
func TestOlderStore_Rule8(t *testing.T) {
	data := fsystest.Unpacked(t, "testdata/696ef86.db.gz")
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.config.Dir, storeFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.do(func(q *queue.Queue) error {
		gid, _ := queue.ParseGID("63adf38aa5e502db")
		if e, ok := q.Entry(gid); !ok || e.Status != queue.Paused || e.URIs[0] != "http://127.0.0.1:18931/small.txt" {
			t.Errorf("%+v, %t", e, ok)
		}
		return nil
	})
}

// TestStoreLocked checks that only one daemon can use a folder.
func TestStoreLocked(t *testing.T) {
	b := newBench(t)
	b.start()
	_, err := Open(b.config)
	if locked, ok := errors.AsType[*database.LockedError](err); !ok || locked.PID != os.Getpid() {
		t.Errorf("opened twice: %v", err)
	}
}

// TestStoreFails checks that a caller gets the error of a failed write, and that Config.Last is called nevertheless.
func TestStoreFails(t *testing.T) {
	b, last := newBench(t), false
	b.config.Last = func(*queue.Queue) { last = true }
	d, err := Open(b.config)
	if err != nil {
		t.Fatal(err)
	}
	d.store.db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	err = d.Do(ctx, func(q *queue.Queue) error { q.ChangeGlobal(map[string]string{"a": "b"}); return nil })
	if err == nil || !strings.Contains(err.Error(), "could not be written") {
		t.Errorf("what is not on disk was accepted: %v", err)
	}
	cancel()
	if err := <-ended; err == nil || !last {
		t.Errorf("the daemon ends as if all were on disk: %v, %t", err, last)
	}
}
