package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDaemonDocument: the files of a document at a URL are entries that follow it, each with its own digest;
// select-file chooses some.
func TestDaemonDocument(t *testing.T) {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	var doc strings.Builder
	doc.WriteString(`<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">`)
	for _, name := range []string{"a.txt", "b/c.txt", "d.txt"} {
		fmt.Fprintf(&doc, `<file name="%s"><size>%d</size><hash type="sha-256">%x</hash><url>%s/files/%s</url></file>`,
			name, len(name), sha256.Sum256([]byte(name)), s.URL, name)
		mux.HandleFunc("/files/"+name, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(name)) })
	}
	doc.WriteString(`</metalink>`)
	serve := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/metalink4+xml")
		w.Write([]byte(doc.String()))
	}
	mux.HandleFunc("/all.meta4", serve)
	mux.HandleFunc("/download", serve)
	d := newDaemonRun(t)
	d.start()
	for _, tt := range []struct {
		path, numbers string
		files         []string
	}{{"/all.meta4", "", []string{"a.txt", "b/c.txt", "d.txt"}}, {"/download", "1,3-9", []string{"a.txt", "d.txt"}},
		{"/all.meta4", "2", []string{"b/c.txt"}}, {"/all.meta4", "4", nil}} {
		dir := filepath.Join(d.root, strings.Trim(tt.path, "/.")+tt.numbers)
		status := d.status(d.add(s.URL+tt.path, map[string]string{"dir": dir, "select-file": tt.numbers}))
		followers, _ := status["followedBy"].([]any)
		if (status["status"] == "complete") != (tt.files != nil) || len(tt.files) > 1 && len(followers) != len(tt.files) {
			t.Errorf("%s %s: %v", tt.path, tt.numbers, status)
		}
		for _, gid := range followers {
			if status := d.status(gid); status["status"] != "complete" {
				t.Errorf("%s %s: %v", tt.path, tt.numbers, status)
			}
		}
		n := 0
		filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.Contains(path, ".part") {
				n++
			}
			return err
		})
		for _, name := range tt.files {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != name {
				t.Errorf("%s %s: %q, %v", tt.path, tt.numbers, data, err)
			}
		}
		if n != len(tt.files) {
			t.Errorf("%s %s: %d files", tt.path, tt.numbers, n)
		}
	}
}

// TestDaemonRefusedName: a document of which no file is left, as their names are refused, fails with the words of braid get.
func TestDaemonRefusedName(t *testing.T) {
	const text = `<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="../evil"><size>1</size><url>http://127.0.0.1:1/a</url></file></metalink>`
	d := newDaemonRun(t)
	d.start()
	if _, failure := d.call("aria2.addMetalink",
		base64.StdEncoding.EncodeToString([]byte(text))); !strings.Contains(failure, "document, file ../evil: ") {
		t.Error(failure)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }))
	defer s.Close()
	status := d.status(d.add(s.URL+"/all.meta4", map[string]string{}))
	const torrent = "d4:infod6:lengthi1e4:name7:../evil12:piece lengthi16384e6:pieces20:01234567890123456789ee"
	gid, failure := d.call("aria2.addTorrent", base64.StdEncoding.EncodeToString([]byte(torrent)))
	if failure != "" {
		t.Fatal(failure)
	}
	for _, status := range []map[string]any{status, d.status(fmt.Sprint(gid))} {
		if message := fmt.Sprint(status["errorMessage"]); status["status"] != "error" ||
			!strings.Contains(message, "file ../evil: ") || strings.Contains(message, "select-file") {
			t.Errorf("%v", status)
		}
	}
}
