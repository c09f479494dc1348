//go:build realservers

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// An lfsServer has the objects of a repository, and answers as its fields say. Those may be set before it is asked.
type lfsServer struct {
	*httptest.Server
	objects  string              // folder, as .git/lfs/objects
	user     string              // "name:password" that it wants to see; empty: none
	transfer string              // the agent that it names
	header   string              // X-Object of actions, which it wants to see at objects
	status   map[string]int      // of an object in the answer of a batch
	bytes    map[string]string   // in place of an object's own
	refuse   map[string][]int    // what the next requests for an object get, each with a new href after it
	age      time.Duration       // how long ago the actions of an object expired, the first time
	pace     time.Duration       // between 64 KiB
	mirror   string              // that it names of objects
	uploads  map[string]struct{} // that came

	mu      sync.Mutex
	batches map[string]int // by object
	sent    int64
	most    int64         // 0: no limit; what is sent in all before the server holds back
	goOn    chan struct{} // closed when there is no limit any more
	agents  []string      // who asked for objects
	flow    chan struct{} // gets something for each 64 KiB, if there is room
}

func newLFSServer(t *testing.T, objects string) *lfsServer {
	t.Helper()
	s := &lfsServer{objects: objects, batches: map[string]int{}, uploads: map[string]struct{}{},
		refuse: map[string][]int{}, flow: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /repo.git/info/lfs/objects/batch", s.batch)
	mux.HandleFunc("GET /objects/{oid}/{token}", s.object)
	mux.HandleFunc("PUT /objects/{oid}", s.upload)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *lfsServer) batch(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); s.user != "" && user+":"+password != s.user {
		w.Header().Set("WWW-Authenticate", `Basic realm="lfs"`)
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"message": "who are you?"}`)
		return
	}
	var question struct {
		Operation string
		Objects   []struct {
			OID  string
			Size int64
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil || r.Header.Get("Accept") != "application/vnd.git-lfs+json" {
		http.Error(w, "no batch", http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	for _, o := range question.Objects {
		s.batches[o.OID]++
		object := map[string]any{"oid": o.OID, "size": o.Size, "authenticated": true}
		action := map[string]any{"href": fmt.Sprintf("%s/objects/%s/%d", s.URL, o.OID, s.batches[o.OID])}
		if s.header != "" {
			action["header"] = map[string]string{"X-Object": s.header}
		}
		if s.age > 0 && s.batches[o.OID] == 1 {
			action["expires_at"] = time.Now().Add(-s.age).Format(time.RFC3339)
		}
		switch {
		case s.status[o.OID] != 0:
			object["error"] = map[string]any{"code": s.status[o.OID], "message": "it was taken down"}
		case question.Operation == "upload":
			object["actions"] = map[string]any{"upload": map[string]string{"href": s.URL + "/objects/" + o.OID}}
		default:
			object["actions"] = map[string]any{"download": action}
		}
		list = append(list, object)
	}
	w.Header().Set("Content-Type", "application/vnd.git-lfs+json")
	transfer := "basic"
	if s.transfer != "" {
		transfer = s.transfer
	}
	json.NewEncoder(w).Encode(map[string]any{"transfer": transfer, "objects": list})
}

func (s *lfsServer) object(w http.ResponseWriter, r *http.Request) {
	oid := r.PathValue("oid")
	s.mu.Lock()
	s.agents = append(s.agents, r.UserAgent())
	refused := s.refuse[oid]
	if len(refused) > 0 && r.PathValue("token") == fmt.Sprint(s.batches[oid]) {
		s.refuse[oid] = refused[1:]
	}
	s.mu.Unlock()
	switch {
	case len(refused) > 0:
		http.Error(w, "the link is old", refused[0])
	case s.header != "" && r.Header.Get("X-Object") != s.header:
		http.Error(w, "no X-Object", http.StatusForbidden)
	case s.bytes[oid] != "":
		io.WriteString(w, s.bytes[oid])
	default:
		f, err := os.Open(filepath.Join(s.objects, oid[:2], oid[2:4], oid))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		if s.mirror != "" {
			w.Header().Set("Link", fmt.Sprintf("<%s/%s/%s/%s>; rel=duplicate", s.mirror, oid[:2], oid[2:4], oid))
		}
		http.ServeContent(&pacedWriter{w, s}, r, "", time.Time{}, f)
	}
}

func (s *lfsServer) upload(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[r.PathValue("oid")] = struct{}{}
}

// asked returns how often an object was asked for in batches.
func (s *lfsServer) asked(oid string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches[oid]
}

// holdBack lets the server send so many bytes more, and nothing after them until goOn is called.
func (s *lfsServer) holdBack(more int64) (goOn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := make(chan struct{})
	s.most, s.goOn = s.sent+more, over
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.most = 0
		close(over)
	})
}

func (s *lfsServer) sentBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// onlyBraid reports whether no other program asked for objects, and some did.
func (s *lfsServer) onlyBraid() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := slices.ContainsFunc(s.agents, func(name string) bool { return !strings.HasPrefix(name, "braid") })
	return len(s.agents) > 0 && !other
}

// A pacedWriter counts what it sends, at the pace of its server.
type pacedWriter struct {
	http.ResponseWriter
	server *lfsServer
}

func (w *pacedWriter) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, 64<<10) {
		m, err := w.ResponseWriter.Write(part)
		n += m
		w.server.mu.Lock()
		w.server.sent += int64(m)
		pace, goOn := w.server.pace, w.server.goOn
		if w.server.most == 0 || w.server.sent < w.server.most {
			goOn = nil
		}
		w.server.mu.Unlock()
		select {
		case w.server.flow <- struct{}{}:
		default:
		}
		if err != nil {
			return n, err
		}
		if pace > 0 {
			time.Sleep(pace) // this is how slow the server is
		}
		if goOn != nil {
			<-goOn
		}
	}
	return n, nil
}
