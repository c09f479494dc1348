//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/s3test"
)

// A valve stands before a server. While it is shut, nothing comes through and no connection ends, as on a network that was cut.
type valve struct {
	addr string
	mu   sync.Mutex
	open chan struct{} // closed while it is open
}

func newValve(t *testing.T, backend string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	v := &valve{addr: l.Addr().String(), open: make(chan struct{})}
	close(v.open)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", backend)
			if err != nil {
				client.Close()
				continue
			}
			go v.pass(server, client)
			go v.pass(client, server)
		}
	}()
	return v
}

func (v *valve) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		v.mu.Lock()
		open := v.open
		v.mu.Unlock()
		if <-open; err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (v *valve) shut() (reopen func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = make(chan struct{})
	return sync.OnceFunc(func() { close(v.open) })
}

// TestRealFleetCut_Rules74_75: a worker that is cut off from the queue keeps its job for as long as its lease lasts,
// and has it still if the network is back by then. Else another one takes it over, and the first can neither end it nor
// put its file in place.
func TestRealFleetCut_Rules74_75(t *testing.T) {
	t.Parallel()
	c := newNATS(t, 1)
	f := newFleetRig(t, c.flags()...)
	placed := watchFolder(t, filepath.Join(f.dir, "out", "isos"))
	f.announce = func(body []byte) { placed.expect("slow.iso", body, false) }
	f.watcher("watcher")
	direct := f.queue
	v := newValve(t, strings.TrimPrefix(c.urls[0], "tls://"))
	f.queue = append([]string{"--queue", "tls://" + v.addr}, direct[2:]...)
	cut := f.worker()
	f.queue = direct
	f.publish(5<<20, false, "slow.iso")
	first, _ := f.taken("isos/slow.iso", cut, nil)

	reopen := v.shut()
	time.Sleep(3 * time.Second) // of the fifteen that the lease lasts
	reopen()
	other := f.worker()
	if j := f.jobs()["isos/slow.iso"]; j.Tries != 1 || !f.has(j, first) {
		t.Errorf("after 3 s without the queue: %+v", j)
	}

	reopen = v.shut()
	defer reopen()
	took := f.await("the other has it", func() bool { return f.has(f.jobs()["isos/slow.iso"], other) })
	f.open("slow.iso")
	f.await("the job is done", func() bool { return f.jobs()["isos/slow.iso"].State == "done" })
	reopen()
	f.await("the worker that was cut off finds out",
		func() bool { return strings.Contains(cut.log.String(), "another worker has the job now") })
	if j := f.jobs()["isos/slow.iso"]; !f.right("slow.iso") ||
		!strings.Contains(j.Last.Worker, fmt.Sprintf("/%d/", other.Process.Pid)) {
		t.Errorf("done by %s", j.Last.Worker)
	}
	placed.check(t, []string{"slow.iso"})
	t.Logf("taken over %v after the cut, with a lease of %s", took, f.lease)
}

func (f *fleetRig) has(j fleetJob, p *fleetProcess) bool {
	return strings.Contains(j.Lease.Holder, fmt.Sprintf("/%d/", p.Process.Pid))
}

// waits waits until a job has ended in a state, for a reason.
func (f *fleetRig) waits(name, state, why string) {
	f.t.Helper()
	var j fleetJob
	f.await(name+" is "+state, func() bool { j = f.jobs()["isos/"+name]; return j.State == state })
	if !strings.Contains(j.Last.Why, why) {
		f.t.Errorf("%s is %s: %s", name, state, j.Last.Why)
	}
}

// TestRealFleetFull: where the disk of a worker is full, its job waits, nothing is seen of the file, and another worker has it.
func TestRealFleetFull(t *testing.T) {
	t.Parallel()
	for _, objects := range []bool{false, true} {
		t.Run(fmt.Sprintf("objects=%t", objects), func(t *testing.T) {
			t.Parallel()
			f := newFleetRig(t)
			f.watcher("watcher")
			var store *s3test.Store
			if objects {
				store, f.to = s3test.New(t), "s3://bucket/pool/"
				f.env = store.Env()
			}
			f.shell = "ulimit -f 4096" // blocks of 512 bytes
			full := f.worker()
			f.publish(20<<20, false, "big.iso")
			f.waits("big.iso", "waiting", "file too large")
			if f.right("big.iso") || objects && len(store.Keys()) > 0 {
				t.Error("it is there")
			}
			full.Process.Kill()
			<-full.exited
			f.shell = ""
			f.worker() // which takes it as soon as it may
			if objects {
				f.stored(store, "big.iso")
				f.nothingLeft(store, "big.iso")
				return
			}
			f.await("it is right", func() bool { return f.right("big.iso") })
		})
	}
}

// TestRealFleetStoreFaults: what a store may answer, and what becomes of a job then. One worker has all, one after the other.
func TestRealFleetStoreFaults(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	store := s3test.New(t)
	f.watcher("watcher")
	v := newValve(t, strings.TrimPrefix(store.Endpoint, "http://"))
	f.to, f.env = "s3://bucket/pool/", append(store.Env(), "AWS_ENDPOINT_URL_S3=http://"+v.addr)
	f.worker()
	var fault atomic.Pointer[storeFault]
	store.Faults(func(w http.ResponseWriter, r *http.Request, s http.Handler) {
		if now := fault.Load(); now == nil || !strings.HasSuffix(r.URL.Path, ".iso") || !now.answers(w, r) {
			s.ServeHTTP(w, r)
		}
	})
	refuse := func(kind string, times int32, status int, code string) *storeFault {
		return &storeFault{kind: kind, times: times,
			do: func(w http.ResponseWriter) bool { s3test.Refuse(w, status, code); return true }}
	}
	foreign := func(name string) *storeFault {
		return &storeFault{kind: "complete", times: 1,
			do: func(http.ResponseWriter) bool { store.Put("pool/isos/"+name, []byte("another's")); return false }}
	}
	for _, tt := range []struct {
		name  string
		fault *storeFault
		state string
		why   string
	}{
		{"a.iso", refuse("part", 3, 503, "SlowDown"), "done", ""},
		{"b.iso", refuse("complete", 2, 503, "SlowDown"), "done", ""},
		{"c.iso", refuse("complete", 2, 409, "ConditionalRequestConflict"), "done", ""},
		// another worker may have the right ones
		{"d.iso", refuse("open", 1, 403, "AccessDenied"), "waiting", "403 AccessDenied"},
		{"e.iso", refuse("complete", 1, 404, "NoSuchUpload"), "waiting", "another process has aborted it"},
		{"f.iso", foreign("f.iso"), "dead", "exists"},
		{"a.iso", foreign("a.iso"), "waiting", "was changed meanwhile"},
		{"g.iso", &storeFault{kind: "part", times: 1, do: func(http.ResponseWriter) bool {
			time.AfterFunc(3*time.Second, v.shut()) // the network is cut for so long
			return false
		}}, "done", ""},
	} {
		fault.Store(tt.fault)
		f.publish(9<<20, false, tt.name)
		if tt.state == "done" {
			f.stored(store, tt.name)
			continue
		}
		f.waits(tt.name, tt.state, tt.why)
		if data := store.Object("pool/isos/" + tt.name); data != nil && string(data) != "another's" {
			t.Errorf("%s is there, with %d bytes", tt.name, len(data))
		}
		if tt.name == "f.iso" {
			store.Remove("pool/isos/f.iso")
		}
		f.braid("queue", "retry", "isos/"+tt.name)
		f.stored(store, tt.name)
	}
	f.nothingLeft(store, "a.iso", "b.iso", "c.iso", "d.iso", "e.iso", "f.iso", "g.iso")
}

// A storeFault is what a store does with some requests of a kind.
type storeFault struct {
	kind  string
	times int32
	do    func(http.ResponseWriter) (answered bool)
}

func (s *storeFault) answers(w http.ResponseWriter, r *http.Request) bool {
	return s3test.Kind(r) == s.kind && atomic.AddInt32(&s.times, -1) >= 0 && s.do(w)
}

// TestRealFleetUntold_Rule75: a worker is killed when its object is there, and before the queue knows. Nothing shows
// that the object is the file, as the server has no digest: it is not in the way of the next try, which makes it anew.
func TestRealFleetUntold_Rule75(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.bare = true
	store, one, two := f.inStore(true)
	two.Process.Kill()
	<-two.exited
	var puts atomic.Int32
	store.Faults(func(w http.ResponseWriter, r *http.Request, s http.Handler) {
		s.ServeHTTP(w, r)
		if s3test.Kind(r) == "put" && strings.HasSuffix(r.URL.Path, "/kept.iso") && puts.Add(1) == 1 {
			one.Process.Kill()
		}
	})
	f.publish(1000, false, "listed.iso")
	list := filepath.Join(f.dir, "list")
	if err := os.WriteFile(list, []byte(f.server.URL+"/files/listed.iso\n  out=kept.iso\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.braid("get", "-i", list)
	<-one.exited
	f.worker()
	f.await("it is done", func() bool { j := f.jobs()["kept.iso"]; return j.State == "done" || j.State == "dead" })
	if j := f.jobs()["kept.iso"]; j.State != "done" || !bytes.Equal(store.Object("pool/kept.iso"), f.files["listed.iso"].body) {
		t.Errorf("%+v", j)
	}
}
