//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/s3test"
)

// inStore makes the workers of f put files into a store, each with a state folder of its own if apart is true, as on
// several machines.
func (f *fleetRig) inStore(apart bool) (store *s3test.Store, one, two *fleetProcess) {
	store = s3test.New(f.t)
	f.watcher("watcher") // which runs the queue
	f.to = "s3://bucket/pool/"
	worker := func(name string) *fleetProcess {
		if f.env = store.Env(); apart {
			f.env = append(f.env, "XDG_STATE_HOME="+filepath.Join(f.dir, name))
		}
		return f.worker()
	}
	return store, worker("one"), worker("two")
}

// stored waits until the job of a file is done, and its object is what the server has.
func (f *fleetRig) stored(store *s3test.Store, name string) fleetJob {
	f.t.Helper()
	f.await(name+" is stored", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return bytes.Equal(store.Object("pool/isos/"+name), f.files[name].body)
	})
	f.await(name+" is done", func() bool { return f.jobs()["isos/"+name].State == "done" })
	j := f.jobs()["isos/"+name]
	if want := "s3://bucket/pool/isos/" + name; j.Last.Path != want || j.Last.Proof == "" || j.Upload != "" {
		f.t.Errorf("the evidence of %s is %+v, upload %q", want, j.Last, j.Upload)
	}
	return j
}

// nothingLeft waits until the store has the objects, their evidence, and no upload: what another worker had begun it
// may still remove.
func (f *fleetRig) nothingLeft(store *s3test.Store, names ...string) {
	f.t.Helper()
	var want []string
	for _, name := range names {
		want = append(want, "pool/isos/"+name, "pool/isos/"+name+".evidence.json")
	}
	slices.Sort(want)
	var got []string
	f.await(fmt.Sprintf("there are %v, and nothing else", want), func() bool {
		if now := store.Keys(); !slices.Equal(now, got) {
			got = now
			f.t.Logf("in the store: %v", got)
		}
		return slices.Equal(got, want)
	})
	queue := f.queue
	f.queue = nil
	defer func() { f.queue = queue }()
	out := ""
	f.await("no upload is left", func() bool {
		if now := f.braid("parts", "list", "s3://bucket/"); now != out {
			out = now
			f.t.Logf("uploads: %s", out)
		}
		return strings.Contains(out, "no unfinished uploads there")
	})
}

// TestRealFleetObjects_Rule75: workers put files into a store, and newer versions in their place. What one was
// uploading that is killed is ended by the one that takes over.
func TestRealFleetObjects_Rule75(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	store, one, two := f.inStore(true)
	f.publish(30_000, false, "a.iso")
	f.stored(store, "a.iso")
	f.publish(31_000, false, "a.iso")
	f.publish(24<<20, false, "slow.iso")
	f.stored(store, "a.iso")
	has, other := f.taken("isos/slow.iso", one, two)
	f.await("a part is uploaded, and told", func() bool {
		return store.Count("part", "pool/isos/slow.iso") > 0 && f.jobs()["isos/slow.iso"].Upload != ""
	})
	has.Process.Kill()
	<-has.exited
	f.open("slow.iso")
	took := f.await("the other has it", func() bool {
		return strings.Contains(f.jobs()["isos/slow.iso"].Lease.Holder, fmt.Sprintf("/%d/", other.Process.Pid))
	})
	t.Logf("taken over %v after kill -9, with a lease of %s", took, f.lease)
	f.stored(store, "slow.iso")
	if n := store.Count("complete", "pool/isos/slow.iso"); n != 1 || store.Count("abort", "pool/isos/slow.iso") == 0 ||
		store.Count("open", "pool/isos/slow.iso") != 2 {
		t.Errorf("%d times complete of %v", n, store.Requests())
	}
	f.nothingLeft(store, "a.iso", "slow.iso")
}

// TestRealFleetObjectsStopped_Rule75: a worker is stopped when it has asked whether the job is still its own, and its
// Complete reaches the store after the take-over, right before that of the other worker: there is no object yet, and
// its upload is gone. Both workers have one state folder. A file of one part has no upload: there the late worker makes
// the object, and the other one finds out that it is that of the job.
func TestRealFleetObjectsStopped_Rule75(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind string
		size int
		code int // the answer to the late request
	}{{"complete", 24 << 20, http.StatusNotFound}, {"put", 30_000, http.StatusOK}} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			lateObject(t, tt.kind, tt.size, tt.code)
		})
	}
}

func lateObject(t *testing.T, kind string, size, want int) {
	f := newFleetRig(t)
	store, one, two := f.inStore(false)
	const key = "pool/isos/big.iso"
	reached, goOn, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	code := 0 // of the late Complete
	var completes atomic.Int32
	store.Faults(func(w http.ResponseWriter, r *http.Request, s http.Handler) {
		if s3test.Kind(r) != kind || !strings.HasSuffix(r.URL.Path, key) { // as that of the probe for conditions
			s.ServeHTTP(w, r)
			return
		}
		if n := completes.Add(1); n > 1 {
			if n == 2 {
				close(goOn)
				<-answered
			}
			s.ServeHTTP(w, r)
			return
		}
		close(reached)
		<-goOn
		late := httptest.NewRecorder()
		s.ServeHTTP(late, r)
		code = late.Code
		close(answered)
		maps.Copy(w.Header(), late.Header())
		w.WriteHeader(late.Code)
		w.Write(late.Body.Bytes())
	})
	f.publish(size, false, "big.iso")
	select {
	case <-reached:
	case <-time.After(3 * time.Minute):
		t.Fatal("no Complete")
	}
	stale, other := f.taken("isos/big.iso", one, two)
	stale.Process.Signal(syscall.SIGSTOP)
	j := f.stored(store, "big.iso")
	evidence := store.Object(key + ".evidence.json")
	if code != want {
		t.Errorf("the late request is answered %d, want %d", code, want)
	}
	stale.Process.Signal(syscall.SIGCONT)
	f.await("the worker that was stopped finds out",
		func() bool { return strings.Contains(stale.log.String(), "another worker has the job now") })
	if again := f.stored(store, "big.iso"); again.Last != j.Last ||
		!strings.Contains(j.Last.Worker, fmt.Sprintf("/%d/", other.Process.Pid)) {
		t.Errorf("done by %+v, then %+v", j.Last, again.Last)
	}
	if want != http.StatusOK && !bytes.Equal(store.Object(key+".evidence.json"), evidence) {
		t.Error("the evidence beside the object is another now")
	}
	f.nothingLeft(store, "big.iso")
	f.await("no journal is left", func() bool {
		left, err := filepath.Glob(filepath.Join(f.dir, "state", "braid", "uploads", "*.upload"))
		return err == nil && len(left) == 0
	})
}

// TestRealFleetObjectsGivenBack_Rule76: a worker ends while the store makes the object, and does not hear that it has.
// Its job is given back, and the next worker finds that the object is that of the job.
func TestRealFleetObjectsGivenBack_Rule76(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind string
		size int
	}{{"complete", 24 << 20}, {"put", 30_000}} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			f := newFleetRig(t)
			f.bare = true
			store := s3test.New(t)
			f.to, f.env = "s3://bucket/pool/", store.Env()
			one := f.worker()
			const key = "pool/big.iso"
			made := make(chan struct{})
			var first atomic.Bool
			store.Faults(func(w http.ResponseWriter, r *http.Request, s http.Handler) {
				if s3test.Kind(r) != tt.kind || !strings.HasSuffix(r.URL.Path, key) || first.Swap(true) {
					s.ServeHTTP(w, r)
					return
				}
				s.ServeHTTP(httptest.NewRecorder(), r)
				close(made)
				<-r.Context().Done()
			})
			f.publish(tt.size, false, "big.iso")
			f.braid("get", f.server.URL+"/files/big.iso")
			select {
			case <-made:
			case <-time.After(3 * time.Minute):
				t.Fatal("no object")
			}
			one.Process.Signal(syscall.SIGTERM)
			<-one.exited
			f.worker()
			f.await("the job has ended", func() bool {
				return slices.Contains([]string{"done", "dead"}, f.jobs()["big.iso"].State)
			})
			if j := f.jobs()["big.iso"]; j.State != "done" {
				t.Errorf("%s: %+v", j.State, j.Last)
			}
		})
	}
}
