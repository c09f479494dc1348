//go:build realservers

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	endian "encoding/binary"
	"encoding/hex"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/s3test"
)

// A history knows the right versions of each file in their order, and what was put in place under its name.
type history struct {
	mu       sync.Mutex
	versions map[string][]string // SHA-256; that of a wrong version is ""
	puts     map[string][]placing
}

type placing struct {
	sum string
	ino uint64 // of a file: the same one may be looked at twice
}

func newHistory() *history {
	return &history{versions: map[string][]string{}, puts: map[string][]placing{}}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// expect is told of a version before the server has it.
func (h *history) expect(name string, body []byte, wrong bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := ""
	if !wrong {
		sum = sumOf(body)
	}
	h.versions[name] = append(h.versions[name], sum)
}

// number is that of a version, -1 if it is none.
func (h *history) number(name, sum string) int {
	for i, v := range h.versions[name] {
		if v == sum {
			return i
		}
	}
	return -1
}

// seen checks what is seen of a file, and reports whether it is the last version.
func (h *history) seen(t *testing.T, name string, data []byte) bool {
	t.Helper()
	if data == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.number(name, sumOf(data))
	if n < 0 {
		t.Errorf("%s is seen with %d bytes that are none of its versions, or of a wrong one", name, len(data))
	}
	return n == len(h.versions[name])-1
}

func (h *history) last(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.versions[name][len(h.versions[name])-1]
}

// add takes down what was put in place.
func (h *history) add(name string, data []byte, ino uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, put := h.puts[name], placing{sumOf(data), ino}
	if n := len(all); n > 0 && ino > 0 && all[n-1] == put { // a newer file may have the number of one that is gone
		return
	}
	h.puts[name] = append(all, put)
}

func (h *history) count() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.puts {
		n += len(all)
	}
	return n
}

// check: what was put in place are right versions, each once, none after a newer one, and the last one in the end. What
// watches a folder hears of that a moment later.
func (h *history) check(t *testing.T, names []string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !h.atEnd(names) && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		last, numbers := -1, []int{}
		for _, p := range h.puts[name] {
			numbers = append(numbers, h.number(name, p.sum))
		}
		for _, n := range numbers {
			if n <= last {
				t.Errorf("%s: the versions that were put in place are %v of %d", name, numbers, len(h.versions[name]))
				break
			}
			last = n
		}
		if last != len(h.versions[name])-1 {
			t.Errorf("%s: the last version in place is %d of %d", name, last, len(h.versions[name]))
		}
	}
}

// atEnd reports whether the version of each file that was put in place most recently is its last one.
func (h *history) atEnd(names []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool {
		all := h.puts[name]
		return len(all) == 0 || h.number(name, all[len(all)-1].sum) != len(h.versions[name])-1
	})
}

// watchStore takes down each request of a store that makes an object below a prefix.
func watchStore(store *s3test.Store, prefix string) *history {
	h := newHistory()
	var locks sync.Map
	store.Faults(func(w http.ResponseWriter, r *http.Request, s http.Handler) {
		name, below := strings.CutPrefix(r.URL.Path, "/"+s3test.Bucket+"/"+prefix)
		if kind := s3test.Kind(r); !below || kind != "complete" && kind != "put" || strings.HasSuffix(name, ".json") ||
			strings.HasPrefix(name, ".") {
			s.ServeHTTP(w, r)
			return
		}
		lock, _ := locks.LoadOrStore(name, &sync.Mutex{})
		lock.(*sync.Mutex).Lock()
		defer lock.(*sync.Mutex).Unlock()
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context()))) // also if its process was killed
		if answer.Code == http.StatusOK {
			h.add(name, store.Object(prefix+name), 0)
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	})
	return h
}

// watchFolder takes down what gets a name in a folder.
func watchFolder(t *testing.T, dir string) *history {
	h := newHistory()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_MOVED_TO|syscall.IN_CREATE)
	}
	if err != nil {
		t.Fatal(err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { events.Close() })
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := events.Read(buf)
			if err != nil {
				return
			}
			for b := buf[:n]; len(b) > 0; {
				size := endian.NativeEndian.Uint32(b[12:])
				name := string(bytes.TrimRight(b[16:16+size], "\x00"))
				b = b[16+size:]
				h.addFile(dir, name)
			}
		}
	}()
	return h
}

func (h *history) addFile(dir, name string) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return
	}
	defer f.Close()
	var data bytes.Buffer
	info, err := f.Stat()
	if _, failed := data.ReadFrom(f); err == nil && failed == nil {
		h.add(name, data.Bytes(), info.Sys().(*syscall.Stat_t).Ino)
	}
}
