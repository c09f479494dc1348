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
	"time"
)

// TestDaemonTrust_Rule78: no client of a daemon lifts the keys to which the user bound a URL: neither by options, nor by
// another demand, a digest, a mirror or a new URL of a download; and none is bound elsewhere.
func TestDaemonTrust_Rule78(t *testing.T) {
	fixture := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("../verify/minisign/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	tool, signature := fixture("tool.tar"), fixture("hashed.minisig")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pub/tool.tar", "/pub/plain.tar", "/free/plain.tar":
			http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(string(tool)))
		case "/pub/tool.tar.minisig":
			w.Write(signature)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	d := newDaemonRun(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, _, stderr := command(t, "trust", "add", s.URL+"/pub/", "../verify/minisign/testdata/key.pub"); code != exitDone {
		t.Fatal(stderr)
	}
	d.start("--require", "none", "--key", "../verify/minisign/testdata/other.pub", "--no-lookup")
	digest := fmt.Sprintf("%x", sha256.Sum256(tool))
	for name, tt := range map[string]struct {
		uris    []string
		options map[string]string
		status  string
	}{
		"signed":   {[]string{s.URL + "/pub/tool.tar"}, nil, "complete"},
		"free":     {[]string{s.URL + "/free/plain.tar"}, nil, "complete"},
		"none":     {[]string{s.URL + "/pub/plain.tar"}, map[string]string{"require": "none"}, "error"},
		"digest":   {[]string{s.URL + "/pub/plain.tar"}, map[string]string{"checksum": "sha-256=" + digest}, "error"},
		"fragment": {[]string{s.URL + "/pub/plain.tar#sha256=" + digest}, nil, "error"},
		"mirror":   {[]string{s.URL + "/pub/plain.tar", s.URL + "/free/plain.tar"}, nil, "error"},
		"second":   {[]string{s.URL + "/free/none.tar", s.URL + "/pub/plain.tar"}, nil, "error"},
		"spelled":  {[]string{s.URL + "/free/../pub/plain.tar"}, nil, "error"},
	} {
		options := map[string]string{"out": name}
		for k, v := range tt.options {
			options[k] = v
		}
		gid, failure := d.call("aria2.addUri", tt.uris, options)
		if failure != "" {
			t.Fatalf("%s: %s", name, failure)
		}
		if status := d.status(gid); status["status"] != tt.status {
			t.Errorf("%s: %v", name, status)
		}
		if _, err := os.Stat(filepath.Join(d.root, name)); (err == nil) != (tt.status == "complete") {
			t.Errorf("%s: %v", name, err)
		}
	}

	// a document that the daemon fetches from a bound URL is bound; one that the client has is the client's
	document := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="own.tar"><hash type="sha-256">%s</hash><url>%s/free/plain.tar</url></file></metalink>`, digest, s.URL)
	gids, failure := d.call("aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(document)))
	if failure != "" {
		t.Fatal(failure)
	}
	if status := d.status(gids.([]any)[0]); status["status"] != "complete" {
		t.Errorf("a client's document: %v", status)
	}
}
