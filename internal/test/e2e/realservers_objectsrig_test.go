//go:build realservers

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
)

// An objectsRig is a store, and a user who puts objects there.
type objectsRig struct {
	*testing.T
	store *s3test.Store
	home  string
	held  s3test.Fault // what begin has the store do; nil: nothing
}

func newObjectsRig(t *testing.T) *objectsRig {
	return &objectsRig{T: t, store: s3test.New(t), home: t.TempDir()}
}

// command is braid, as it is run at home.
func (r *objectsRig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = append(r.store.Env(), "HOME="+r.home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true",
		"TMPDIR="+r.home, "NO_PROXY=127.0.0.1"), r.home
	return cmd
}

// run runs braid, which must end with a code. It returns what it wrote to standard output, and to standard error.
func (r *objectsRig) run(code int, args ...string) (out, told string) {
	r.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		r.Fatalf("braid %v: exit %d, want %d:\n%s%s", args, got, code, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// An objectEvent is a line of --json.
type objectEvent struct {
	Event           string `json:"event"`
	Path            string `json:"path"`
	Here            int64  `json:"here"`
	InUse           bool   `json:"in_use"`
	PID             int    `json:"pid"`
	Size            int64  `json:"size"`
	Resumed         int64  `json:"resumed"`
	Fetched         int64  `json:"fetched"`
	Verified        bool   `json:"verified"`
	Signed          bool   `json:"signed"`
	Signatures      []any  `json:"signatures"`
	AlreadyComplete bool   `json:"already_complete"`
	NotModified     bool   `json:"not_modified"`
	Older           bool   `json:"older"`
}

// objectEvents are the lines of --json of a kind.
func objectEvents(t testing.TB, out, kind string) (all []objectEvent) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e objectEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Event == kind {
			all = append(all, e)
		}
	}
	return all
}

// begin runs braid until so many parts are in the store and in its journal. No more are taken before goOn is called.
func (r *objectsRig) begin(parts int, args ...string) (cmd *exec.Cmd, goOn func()) {
	r.Helper()
	over := make(chan struct{})
	goOn = sync.OnceFunc(func() { close(over) })
	r.Cleanup(goOn)
	r.held = func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if n, _ := strconv.Atoi(q.URL.Query().Get("partNumber")); n > parts {
			select {
			case <-over:
			case <-q.Context().Done():
				return
			}
		}
		store.ServeHTTP(w, q)
	}
	r.store.Faults(r.held)
	cmd = r.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	before := r.journaled()
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) // it must not write any more when its home is removed
	for deadline := time.Now().Add(2 * time.Minute); r.journaled() < before+parts; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			cmd.Wait()
			r.Fatalf("%d parts are in the journals, want %d:\n%s", r.journaled(), before+parts, &out)
		}
	}
	return cmd, goOn
}

// kill runs braid as begin does, and kills it.
func (r *objectsRig) kill(parts int, args ...string) {
	r.Helper()
	cmd, _ := r.begin(parts, args...)
	cmd.Process.Kill()
	cmd.Wait()
	r.held = nil
	r.store.Faults(nil)
}

// atAnotherTime makes the store say in its listings of some kinds that it is another year. What a process that runs has
// not sent yet is held as before.
func (r *objectsRig) atAnotherTime(years int, kinds ...string) {
	now, held := time.Now().UTC().Year(), r.held
	if held == nil {
		held = func(w http.ResponseWriter, q *http.Request, store http.Handler) { store.ServeHTTP(w, q) }
	}
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if !slices.Contains(kinds, s3test.Kind(q)) {
			held(w, q, store)
			return
		}
		page := httptest.NewRecorder()
		store.ServeHTTP(page, q)
		w.WriteHeader(page.Code)
		io.WriteString(w, strings.ReplaceAll(page.Body.String(), fmt.Sprintf(">%d-", now), fmt.Sprintf(">%d-", now+years)))
	})
}

// journals are the files of journals.
func (r *objectsRig) journals() []string {
	all, err := filepath.Glob(filepath.Join(r.home, ".local/state/braid/uploads/*.upload"))
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// journaled is how many parts the journals have.
func (r *objectsRig) journaled() (parts int) {
	for _, name := range r.journals() {
		data, _ := os.ReadFile(name) // it may just have ended
		parts += max(0, bytes.Count(data, []byte("\n"))-1)
	}
	return parts
}

// holds checks that the objects are those with this content, each with its evidence, and that nothing else is left.
func (r *objectsRig) holds(key string, want mirrortest.Content) {
	r.Helper()
	if err := want.Compare(bytes.NewReader(r.store.Object(key))); err != nil {
		r.Errorf("%s: %v", key, err)
	}
	if got := strings.Join(r.store.Keys(), " "); got != key+" "+key+".evidence.json" {
		r.Errorf("in the store: %v", got)
	}
	r.clean()
}

// uploads are the paths of those that braid parts shows.
func (r *objectsRig) uploads(words ...string) (paths []string) {
	r.Helper()
	out, _ := r.run(0, append([]string{"parts", "list", "--json"}, words...)...)
	for _, e := range objectEvents(r, out, "upload") {
		paths = append(paths, e.Path)
	}
	slices.Sort(paths)
	return paths
}

// clean checks that no upload and no journal is left.
func (r *objectsRig) clean() {
	r.Helper()
	if left := r.uploads("s3://bucket/"); len(left) > 0 {
		r.Errorf("uploads: %v", left)
	}
	if left := r.journals(); len(left) > 0 {
		r.Errorf("journals: %v", left)
	}
}
