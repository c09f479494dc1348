package watch

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
)

// shelf is a server with the files of versions at /TAG/tool_VERSION, and perhaps a list of their digests.
type shelf struct {
	*httptest.Server
	mu     sync.Mutex
	files  map[string]string // by version
	bare   map[string]bool   // versions without a digest
	header http.Header       // of answers without a file
	cut    bool              // a body breaks off after its first half
	dir    string            // if not empty, other answers wait until the bare file with that tag is in this folder
	bodies int
	asked  int // requests
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{files: map[string]string{}, bare: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	version := strings.TrimPrefix(filepath.Base(r.URL.Path), "tool_")
	body, ok := s.files[version]
	if tag, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/"); !ok && s.dir != "" && s.bare[tag] {
		want := s.files[tag]
		s.mu.Unlock()
		for r.Context().Err() == nil {
			if got, _ := os.ReadFile(filepath.Join(s.dir, "tool_"+tag+".part")); string(got) == want {
				break
			}
			time.Sleep(time.Millisecond)
		}
		s.mu.Lock()
	}
	if !ok {
		for name, values := range s.header {
			w.Header()[name] = values
		}
		http.Error(w, "none", http.StatusNotFound)
		return
	}
	sum := sha256.Sum256([]byte(body))
	if !s.bare[version] {
		w.Header().Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]))
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:4]))
	if r.Method == http.MethodGet {
		s.bodies++
	}
	if s.cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body[:len(body)/2])
		return
	}
	http.ServeContent(w, r, "tool", time.Time{}, strings.NewReader(body))
}

// put sets the file of a version.
func (s *shelf) put(version, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[version] = body
}

// remove removes the file of a version.
func (s *shelf) remove(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, version)
}

// following returns a world with a watch that follows the releases of a shelf. more is added to its configuration.
func following(t *testing.T, more string) (*world, *shelf) {
	t.Helper()
	s, w := newShelf(t), newWorld(t)
	text := strings.NewReplacer("http://a.example/dl/{tag}/tool_{version}.tar.gz", s.URL+"/{tag}/tool_{version}", "'d'",
		"'"+w.rule.Dir+"'").Replace(releasesOf)
	watch := parse(t, text+more).Watches[0]
	w.rule.Watch = &watch
	w.start()
	return w, s
}

// next handles the update to a version after the last one.
func (w *world) next(version string) (antenna.Outcome, error) {
	w.t.Helper()
	r, ok := w.rule.Releases.Template.Of(feed.Record{Format: feed.News, URL: "http://a.example/releases/v" + version})
	if !ok {
		w.t.Fatalf("no release %s", version)
	}
	u := antenna.Update{Watch: "w", URL: r.URL, Release: &r, Action: feed.Download, Reason: antenna.Released,
		Last: w.last, Try: 1}
	if w.last.Path != "" {
		u.Previous, u.Last.ETag, u.Last.Host = "before", "", ""
	}
	return w.handle(u)
}

// recheck handles an update about the version in place.
func (w *world) recheck(version string) (antenna.Outcome, error) {
	w.t.Helper()
	r, _ := w.rule.Releases.Template.Of(feed.Record{Format: feed.News, URL: "http://a.example/releases/v" + version})
	return w.handle(antenna.Update{Watch: "w", URL: r.URL, Release: &r, Action: feed.Download, Reason: feed.Modified,
		Last: w.last, Try: 1})
}

// names returns the names in the folder of the watch, of a link with its target.
func (w *world) names() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.rule.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if to, err := os.Readlink(filepath.Join(w.rule.Dir, name)); err == nil {
			name += "->" + to
			if _, err := os.Stat(filepath.Join(w.rule.Dir, e.Name())); err != nil {
				w.t.Errorf("the link leads to nothing: %v", err)
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
