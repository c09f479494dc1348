//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fleetRig is a server with files and a feed about them, and processes of braid with one queue.
type fleetRig struct {
	t      *testing.T
	dir    string
	queue  []string // flags
	to     string   // where workers put files
	env    []string // of what is started next
	shell  string   // what is done before that
	lease  string   // of workers and watchers: longer than a busy machine keeps a process waiting
	server *httptest.Server

	mirrors  []string // that the server names, with the folder that they serve
	mirrored string
	bare     bool              // the server has no digests
	password string            // that the server wants of root for files
	answer   time.Duration     // that the server takes for each request of a file
	pace     time.Duration     // that the server takes for 64 KiB
	logs     string            // a folder
	announce func(body []byte) // told of a version before the server has it; may be nil

	mu    sync.Mutex
	files map[string]fleetFile
	polls map[string]int           // of the feed, by User-Agent
	gets  map[string]int           // of files
	gates map[string]chan struct{} // files whose names begin with slow end when theirs is closed
}

type fleetFile struct {
	body  []byte
	at    time.Time
	seen  time.Time // when it was published
	wrong bool      // its digest is that of another file
}

func newFleetRig(t *testing.T, queue ...string) *fleetRig {
	f := &fleetRig{t: t, dir: t.TempDir(), lease: "15s", files: map[string]fleetFile{}, polls: map[string]int{},
		gets: map[string]int{}, gates: map[string]chan struct{}{}}
	if f.queue = queue; len(queue) == 0 {
		f.queue = []string{"--queue", "embedded:" + filepath.Join(f.dir, "queue")}
	}
	f.to = filepath.Join(f.dir, "out")
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

func (f *fleetRig) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/files/")
	f.mu.Lock()
	file, ok := f.files[name]
	gate := f.gates[name]
	if name == "/feed.lirs" {
		f.polls[r.UserAgent()]++
		defer f.mu.Unlock()
		f.feed(w, r)
		return
	}
	f.gets[name]++
	f.mu.Unlock()
	time.Sleep(f.answer) // as a server far away
	if _, password, _ := r.BasicAuth(); password != f.password {
		w.Header().Set("WWW-Authenticate", "Basic realm=files")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(file.body)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:8]))
	if file.wrong {
		sum[0]++
	}
	if !f.bare {
		w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
	}
	for _, m := range f.mirrors {
		w.Header().Add("Link", fmt.Sprintf("<http://%s/%s>; rel=duplicate", m, name))
	}
	var body io.ReadSeeker = bytes.NewReader(file.body)
	if f.pace > 0 {
		body = &paced{bytes.NewReader(file.body), f.pace}
	}
	if strings.HasPrefix(name, "slow") {
		body = &gated{bytes.NewReader(file.body), int64(len(file.body)) / 2, gate, r.Context().Done()}
	}
	http.ServeContent(w, r, name, file.at, body)
}

// gated is a file whose second half comes when a gate is opened.
type gated struct {
	*bytes.Reader
	half int64
	gate <-chan struct{}
	gone <-chan struct{}
}

func (g *gated) Read(p []byte) (int, error) {
	if at := g.Size() - int64(g.Len()); at < g.half {
		return g.Reader.Read(p[:min(int64(len(p)), g.half-at)])
	}
	select {
	case <-g.gate:
	case <-g.gone:
	}
	return g.Reader.Read(p)
}

// paced is a file that takes its time.
type paced struct {
	*bytes.Reader
	pace time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b[:min(len(b), 64<<10)])
	time.Sleep(p.pace * time.Duration(n) / (64 << 10)) // as a slow line
	return n, err
}

// feed answers with all files that there are, or that they are those which the client knows.
func (f *fleetRig) feed(w http.ResponseWriter, r *http.Request) {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		fmt.Fprintf(&text, "LIRS,%d,%d,0,%d,%s/files/%s,%s,0,http://agent.example/,\n", file.at.Unix(),
			file.seen.Unix(), len(file.body), f.server.URL, name, name)
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(text.Bytes())))
	http.ServeContent(w, r, "feed.lirs", time.Time{}, bytes.NewReader(text.Bytes()))
}

// publish puts new versions of files on the server.
func (f *fleetRig) publish(size int, wrong bool, names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		body := make([]byte, size)
		seed := [32]byte{} // of so many that no two versions are equal
		for i := range seed {
			seed[i] = byte(rand.IntN(256))
		}
		rand.NewChaCha8(seed).Read(body)
		at := f.files[name].at.Add(time.Minute)
		if at.Before(firstModified) {
			at = firstModified
		}
		if f.announce != nil {
			f.announce(body)
		}
		f.mirror(name, body, at)
		f.files[name] = fleetFile{body, at, time.Now(), wrong}
		f.gates[name] = make(chan struct{})
	}
}

// mirror puts a file where the mirrors have it, if there are any.
func (f *fleetRig) mirror(name string, body []byte, at time.Time) {
	if f.mirrored == "" {
		return
	}
	path := filepath.Join(f.mirrored, name)
	err := os.WriteFile(path+".new", body, 0o644)
	if err == nil {
		err = os.Chtimes(path+".new", at, at)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		f.t.Error(err)
	}
}

// A fleetProcess is one of the fleet.
type fleetProcess struct {
	*exec.Cmd
	log    lockedBuffer
	exited chan struct{}
}

// start runs braid with the queue, until the test ends.
func (f *fleetRig) start(args ...string) *fleetProcess {
	f.t.Helper()
	p := &fleetProcess{exited: make(chan struct{})}
	p.Cmd = f.command(args...)
	p.Stdout, p.Stderr = &p.log, &p.log
	f.run(p)
	f.t.Cleanup(func() {
		p.Process.Kill()
		<-p.exited
		if f.t.Failed() {
			f.t.Logf("%q:\n%s", args, p.log.String())
		}
	})
	return p
}

func (f *fleetRig) run(p *fleetProcess) {
	f.t.Helper()
	if err := p.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		p.Wait()
		close(p.exited)
	}()
}

func (f *fleetRig) command(args ...string) *exec.Cmd {
	at := 1
	if args[0] == "queue" {
		at = 2
	}
	cmd := exec.Command(binary, slices.Concat(args[:at], f.queue, args[at:])...)
	if f.shell != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", f.shell + `; exec "$0" "$@"`}, cmd.Args...)...)
	}
	cmd.Env = append(os.Environ(), "HOME="+f.dir, "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "XDG_CONFIG_HOME="+f.dir)
	cmd.Env = append(cmd.Env, f.env...)
	return cmd
}

// worker starts one.
func (f *fleetRig) worker() *fleetProcess {
	p := f.start(f.work()...)
	f.await("a worker is ready", func() bool { return strings.Contains(p.log.String(), "msg=ready") })
	return p
}

func (f *fleetRig) work(more ...string) []string {
	return append([]string{"work", "--to", f.to, "--lease", f.lease, "-v", "--retry-wait", "100ms"}, more...)
}

// watcher starts one with a name, of the configuration that all have.
func (f *fleetRig) watcher(name string) *fleetProcess {
	f.t.Helper()
	p := f.start(f.watch(name)...)
	f.await("a watcher is ready", func() bool {
		return strings.Contains(p.log.String(), "polling for the fleet") || strings.Contains(p.log.String(), "standing by")
	})
	return p
}

func (f *fleetRig) watch(name string) []string {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	config := fmt.Sprintf("user-agent = %q\n[feed.news]\nurl = %q\nevery = \"1s\"\nlimits = { updates-a-day = "+
		"\"unlimited\" }\n[watch.files]\nglob = %q\ndir = \"isos\"\n",
		name, f.server.URL+"/feed.lirs", f.server.URL+"/files/*")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "isos.toml"), []byte(config), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return []string{"watch", "--lease", f.lease, "--state", dir, filepath.Join(dir, "isos.toml")}
}

// braid runs braid with the queue, and returns what it prints.
func (f *fleetRig) braid(args ...string) string {
	f.t.Helper()
	out, err := f.command(args...).CombinedOutput()
	// what was started last makes it
	for late := time.Now().Add(2 * time.Minute); err != nil &&
		bytes.Contains(out, []byte("the queue does not exist")) && time.Now().Before(late); {
		time.Sleep(50 * time.Millisecond)
		out, err = f.command(args...).CombinedOutput()
	}
	if err != nil {
		f.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// A fleetJob is what braid queue list says of one.
type fleetJob struct {
	Job    struct{ Name, Version string }
	State  string
	Tries  int
	Lease  struct{ Holder string }
	Since  time.Time
	Next   time.Time
	Last   struct{ Kind, Why, Proof, Worker, Path string }
	Upload string
}

func (f *fleetRig) jobs() map[string]fleetJob {
	f.t.Helper()
	jobs := map[string]fleetJob{}
	d := json.NewDecoder(strings.NewReader(f.braid("queue", "list", "--json")))
	for d.More() {
		var j fleetJob
		if err := d.Decode(&j); err != nil {
			f.t.Fatal(err)
		}
		jobs[j.Job.Name] = j
	}
	return jobs
}

// await waits until something is so, and returns for how long it did. The limit only ends a hang.
func (f *fleetRig) await(what string, ok func() bool) time.Duration {
	f.t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > 5*time.Minute {
			f.t.Fatalf("in vain: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

// right reports whether all files are in place as the server has them.
func (f *fleetRig) right(names ...string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(f.dir, "out", "isos", name))
		if err != nil || !bytes.Equal(data, f.files[name].body) {
			return false
		}
	}
	return true
}

// taken waits until a worker has a job, and says which of two that is.
func (f *fleetRig) taken(name string, workers ...*fleetProcess) (has, other *fleetProcess) {
	f.t.Helper()
	f.await(name+" is taken", func() bool {
		for i, w := range workers {
			if w != nil && strings.Contains(f.jobs()[name].Lease.Holder, fmt.Sprintf("/%d/", w.Process.Pid)) {
				has, other = w, workers[1-i]
				return true
			}
		}
		return false
	})
	return has, other
}

// open lets a slow file come.
func (f *fleetRig) open(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.gates[name])
}

func (f *fleetRig) counts(of map[string]int) map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]int{}
	for k, v := range of {
		all[k] = v
	}
	return all
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d.iso", prefix, i))
	}
	return names
}
