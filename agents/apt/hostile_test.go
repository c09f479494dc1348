package apt

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// demanding returns the fields of a request for data with the digest and size from apt's lists.
func demanding(data []byte) string {
	return fmt.Sprintf("Expected-SHA256: %x\nExpected-Checksum-FileSize: %d\n", sha256.Sum256(data), len(data))
}

// TestMethodPasswordOfPartial checks that a mirror does not get the password when a partial file is resumed and the
// mirror is tried first.
func TestMethodPasswordOfPartial(t *testing.T) {
	large := bytes.Repeat(body, 8)
	locked := func(w http.ResponseWriter, r *http.Request) bool {
		if _, _, ok := r.BasicAuth(); ok {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Basic realm=x")
		http.Error(w, "", http.StatusUnauthorized)
		return true
	}
	broken := true
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			http.Error(w, "", http.StatusServiceUnavailable)
		} else if !locked(w, r) {
			serving(large)(w, r)
		}
	})
	mirror := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" || !locked(w, r) {
			serving(large)(w, r)
		}
	})
	dir := t.TempDir()
	auth, partial := filepath.Join(dir, "auth.conf"), filepath.Join(dir, "partial")
	for name, data := range map[string]string{auth: "machine " + server.URL + " login me password secret\n",
		partial: string(large[:len(large)/2])} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := newTalk(t, "Config-Item: Dir::Etc::netrc="+auth, "Config-Item: Acquire::braid::Mirrors::="+server.URL,
		"Config-Item: Acquire::braid::Mirrors::="+mirror.URL)
	// The server fails, so that it is not tried first any more.
	if m, _ := k.acquire(server.URL+"/first", demanding(large)); m.Code != 201 {
		t.Errorf("%v", m)
	}
	broken = false
	k.say("600 URI Acquire\nURI: " + server.URL + "/second\nFilename: " + partial + "\n" + demanding(large))
	if m, _ := k.answer(); m.Code != 201 {
		t.Errorf("%v", m)
	}
	if got := mirror.requests(); strings.Contains(got, "Basic") || !strings.Contains(got, "/second") {
		t.Errorf("the mirror was told: %s", got)
	}
}

// TestMethodIMS checks that a file with a known digest is downloaded whatever its modification time, because apt does
// not check the digest after an IMS-Hit.
func TestMethodIMS(t *testing.T) {
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(body)
	})
	k := newTalk(t)
	const since = "Last-Modified: Mon, 10 Sep 2001 01:46:40 GMT\n"
	if m, data := k.acquire(server.URL+"/Packages", demanded()+since); m.Code != 201 || m.Get("IMS-Hit") != "" ||
		data != string(body) {
		t.Errorf("with a digest: %v", m)
	}
	if m, _ := k.acquire(server.URL+"/InRelease", since); m.Code != 201 || m.Get("IMS-Hit") != "true" {
		t.Errorf("without: %v", m)
	}
}

// TestMethodPartsInTheWay checks that a link, or a file of another user, with the name of the part file or journal is
// removed and not written to.
func TestMethodPartsInTheWay(t *testing.T) {
	large := bytes.Repeat(body, 8)
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			serving(large)(w, r)
			return
		}
		serving(body)(w, r)
	})
	k := newTalk(t)
	for _, ending := range []string{".part", ".part.journal"} {
		for at, want := range map[string][]byte{"/small": body, "/large": large} {
			for what, put := range map[string]func(victim, name string) error{
				"a link":        os.Symlink,
				"a second name": os.Link,
				"a file of another": func(_, name string) error {
					if err := os.WriteFile(name, []byte("junk"), 0o600); err != nil || os.Getuid() != 0 {
						return err
					}
					return os.Lchown(name, 1, 1)
				},
			} {
				dir := t.TempDir()
				victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "file")
				if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := put(victim, name+ending); err != nil {
					t.Fatal(err)
				}
				k.say("600 URI Acquire\nURI: " + server.URL + at + "\nFilename: " + name + "\n" + demanding(want))
				m, _ := k.answer()
				got, err := os.ReadFile(name)
				if info, failed := os.Lstat(name); m.Code != 201 || err != nil || !bytes.Equal(got, want) ||
					failed != nil || !info.Mode().IsRegular() {
					t.Errorf("%s at %s of %s: %v, %v", what, ending, at, m, err)
				}
				if kept, _ := os.ReadFile(victim); string(kept) != "mine" {
					t.Errorf("%s at %s of %s: %d bytes are written through it", what, ending, at, len(kept))
				}
			}
		}
	}
}

// TestMethodOneName checks that a request is refused while another file is downloaded to the same name, because the
// reported digests would be those of the other file.
func TestMethodOneName(t *testing.T) {
	goOn := make(chan bool)
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		<-goOn
		serving(body)(w, r)
	})
	k := newTalk(t)
	name := filepath.Join(t.TempDir(), "file")
	for _, path := range []string{"/first", "/second"} {
		k.say("600 URI Acquire\nURI: " + server.URL + path + "\nFilename: " + name + "\n" + demanded())
	}
	if m, _ := k.answer(); m.Code != 400 || !strings.Contains(m.Get("Message"), "another file is being written there") {
		t.Errorf("%v", m)
	}
	close(goOn)
	if m, _ := k.answer(); m.Code != 201 {
		t.Errorf("%v", m)
	}
}

// TestMethodConfiguredOnce checks that a second configuration is refused: it would be read during downloads and after
// root's rights were dropped.
func TestMethodConfiguredOnce(t *testing.T) {
	k := newTalk(t)
	k.say("601 Configuration\nConfig-Item: APT::Sandbox::User=\n")
	if m := k.next(); m.Code != 401 || !strings.Contains(m.Get("Message"), "twice") {
		t.Errorf("%v", m)
	}
}

// TestMethodMany checks the limit on waiting requests.
func TestMethodMany(t *testing.T) {
	server := newHost(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	k, dir := newTalk(t), t.TempDir()
	go func() {
		for i := range mostWaiting + 1 {
			k.say(fmt.Sprintf("600 URI Acquire\nURI: %s/x\nFilename: %s/%d\nMaximum-Size: 1\n", server.URL, dir, i))
		}
	}()
	if m, _ := k.answer(); m.Code != 401 || !strings.Contains(m.Get("Message"), "more than 1024 files") {
		t.Errorf("%v", m)
	}
}
