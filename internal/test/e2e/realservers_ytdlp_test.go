//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// TestRealYtDlp: yt-dlp has braid download a video of a page, one that it had begun itself, one in fragments, and one
// that is not there.
func TestRealYtDlp(t *testing.T) {
	t.Parallel()
	video, fragments := mirrortest.Generate(3<<20, 7).Bytes(), [][]byte{}
	list := "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n"
	site := http.NewServeMux()
	serve := func(path, kind string, data []byte) {
		site.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(data))
		})
	}
	for i := range 5 {
		data := mirrortest.Generate(300_000, uint64(i+1)).Bytes()
		fragments = append(fragments, data)
		list += fmt.Sprintf("#EXTINF:4,\ns%d.ts\n", i)
		serve(fmt.Sprintf("/s%d.ts", i), "video/mp2t", data)
	}
	serve("/list.m3u8", "application/vnd.apple.mpegurl", []byte(list+"#EXT-X-ENDLIST\n"))
	serve("/v.mp4", "video/mp4", video)
	serve("/page.html", "text/html", []byte(`<html><head><title>T</title></head><body><video src="v.mp4"></video></body></html>`))
	serve("/gone.html", "text/html",
		[]byte(`<html><head><title>T</title></head><body><video src="nowhere.mp4"></video></body></html>`))
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	link := linkNamedAria2c(t)
	for _, tt := range []struct {
		name, page string
		begun      int // bytes that are there
		want       []byte
	}{
		{"page", "/page.html", 0, video},
		{"video", "/v.mp4", 0, video},
		{"begun", "/v.mp4", 1_500_000, video},
		{"fragments", "/list.m3u8", 0, bytes.Join(fragments, nil)},
		{"gone", "/gone.html", 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tt.begun > 0 {
				if err := os.WriteFile(filepath.Join(dir, "x.mp4.part"), video[:tt.begun], 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("yt-dlp", "-v", "--ignore-config", "--no-cache-dir", "--downloader", link,
				"--downloader", "m3u8:"+link, "-o", "x.%(ext)s", server.URL+tt.page)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir, "http_proxy=", "all_proxy=")
			out, err := cmd.CombinedOutput()
			if !strings.Contains(string(out), "aria2c command line: "+link) {
				t.Fatalf("braid was not asked: %v\n%s", err, out)
			}
			if tt.want == nil {
				if err == nil || !strings.Contains(string(out), "aria2c exited with code 3") ||
					!strings.Contains(string(out), "status 404 Not Found") {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			got, failed := os.ReadFile(filepath.Join(dir, "x.mp4"))
			if err != nil || failed != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("%v, %v, %d bytes\n%s", err, failed, len(got), out)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "*.part*"))
			if len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		})
	}
}
