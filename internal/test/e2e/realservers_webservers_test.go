//go:build realservers

package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var confBlock = regexp.MustCompile("(?ms)^```(nginx|apache|sh)\n(.*?)^```$")

// pageOf is what a section of doc/webservers.md has, by the language of its blocks.
func pageOf(t *testing.T, section string) map[string]string {
	t.Helper()
	page := readFile(t, filepath.Join("doc", "webservers.md"))
	_, text, ok := strings.Cut(page, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	blocks := map[string]string{}
	for _, m := range confBlock.FindAllStringSubmatch(text, -1) {
		blocks[m[1]] = m[2]
	}
	return blocks
}

// TestRealWebservers runs the configurations of doc/webservers.md as they stand there, but for names and folders: what
// they say is enough for a verified download from all mirrors, and they say nothing of a file that they have no digest
// of.
func TestRealWebservers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		section, language string
		program           program
		around            func(page string, s site, dir, addr string) string
	}{
		{"nginx", "nginx", nginx, aroundNginx}, {"Apache", "apache", apache, aroundApache},
	} {
		t.Run(tt.section, func(t *testing.T) {
			srv := publicDir(t)
			pub := filepath.Join(srv, "pub")
			if err := os.MkdirAll(filepath.Join(pub, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
			body := strings.Repeat("a disk of many bytes\n", 400_000)
			for _, name := range []string{"d/disk.iso", "plain.txt"} {
				writeFile(t, filepath.Join(pub, name), body)
			}
			blocks := pageOf(t, tt.section)
			g := &gate{}
			gated := func(p program) string { return g.relay(t, p.start(t, site{root: pub, rate: 4 << 20}), func(int64) {}) }
			mirrors := []string{gated(nginx), gated(nginx)}
			here := strings.NewReplacer(
				"/srv/", srv+"/", "https://mirror.example.net", "http://"+mirrors[0], "https://mirror2.example.net",
				"http://"+mirrors[1],
			)
			if out, err := exec.Command("bash", "-euo", "pipefail", "-c",
				here.Replace(blocks["sh"])).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			writeFile(t, filepath.Join(pub, "new.txt"), body) // after the list was made
			p := tt.program
			p.config = func(s site, dir, addr string) string {
				return tt.around(here.Replace(blocks[tt.language]), s, dir, addr)
			}
			checkWebserver(t, g, gated(p), mirrors, body)
		})
	}
}

// TestRealBehindNginx runs the page's nginx before a server that answers like mirrorbits, which names mirrors and no digest.
func TestRealBehindNginx(t *testing.T) {
	t.Parallel()
	srv := publicDir(t)
	pub := filepath.Join(srv, "pub")
	if err := os.MkdirAll(pub, 0o755); err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("a disk of many bytes\n", 400_000)
	writeFile(t, filepath.Join(pub, "disk.iso"), body)
	g, mirrors := &gate{}, []string{}
	for range 2 {
		mirrors = append(mirrors, g.relay(t, nginx.start(t, site{root: pub, rate: 4 << 20}), func(int64) {}))
	}
	redirector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "sha256" {
			fmt.Fprintf(w, "%x  disk.iso", sha256.Sum256([]byte(body)))
			return
		}
		w.Header().Add("Link", fmt.Sprintf("<http://%s%s>; rel=duplicate; pri=1; geo=de", mirrors[1], r.URL.Path))
		http.Redirect(w, r, "http://"+mirrors[0]+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(redirector.Close)
	blocks := pageOf(t, "mirrorbits behind nginx")
	here := strings.NewReplacer("/srv/", srv+"/", "http://127.0.0.1:8080", redirector.URL)
	if out, err := exec.Command("bash", "-euo", "pipefail", "-c", here.Replace(blocks["sh"])).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := nginx
	p.config = func(s site, dir, addr string) string { return aroundNginx(here.Replace(blocks["nginx"]), s, dir, addr) }
	origin := "http://" + p.start(t, site{root: pub, rate: 4 << 20})
	for evidence, words := range map[string][]string{
		"sha-256 from Digest": {origin + "/disk.iso"},
		"sha-256 from line 1": {"--checksums", redirector.URL + "/disk.iso?sha256", redirector.URL + "/disk.iso"},
	} {
		out := filepath.Join(t.TempDir(), "disk.iso")
		g.together(mirrors...)
		said, err := exec.Command(binary, append([]string{"get", "-v", "--require", "digest", "-o", out},
			words...)...).CombinedOutput()
		if err != nil || readFile(t, out) != body || !strings.Contains(string(said), evidence) {
			t.Errorf("%v\n%s", err, said)
		}
		for _, host := range mirrors {
			if !strings.Contains(string(said), host) {
				t.Errorf("%s was not used:\n%s", host, said)
			}
		}
	}
}

// checkWebserver probes and downloads.
func checkWebserver(t *testing.T, g *gate, host string, mirrors []string, body string) {
	t.Helper()
	origin := "http://" + host
	run := func(words ...string) string {
		t.Helper()
		out, err := exec.Command(binary, words...).CombinedOutput()
		if err != nil {
			t.Fatalf("braid %q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	offer := run("probe", origin+"/d/disk.iso")
	for _, want := range []string{"http://" + mirrors[0] + "/d/disk.iso", "http://" + mirrors[1] + "/d/disk.iso", "from Digest"} {
		if !strings.Contains(offer, want) {
			t.Errorf("no %q in\n%s", want, offer)
		}
	}
	head, err := http.Head(origin + "/d/disk.iso")
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if sum, ok := strings.CutPrefix(head.Header.Get("Digest"), "SHA-256="); !ok ||
		head.Header.Get("Repr-Digest") != "sha-256=:"+sum+":" {
		t.Errorf("HEAD has %v", head.Header)
	}
	out := filepath.Join(t.TempDir(), "disk.iso")
	g.together(host, mirrors[0], mirrors[1])
	report := run("get", "-v", "--require", "digest", "-o", out, origin+"/d/disk.iso")
	if readFile(t, out) != body {
		t.Error("another file")
	}
	for _, host := range mirrors {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^ +%s +[0-9.]+ [KM]iB`, regexp.QuoteMeta(host))).MatchString(report) {
			t.Errorf("%s brought nothing:\n%s", host, report)
		}
	}
	if offer := run("probe", origin+"/new.txt"); strings.Contains(offer, "SHA-256=") || strings.Contains(offer, mirrors[0]) {
		t.Errorf("of a file without a digest it is said: %s", offer)
	}
}

// aroundNginx is what nginx needs to run the page's part as an ordinary process.
func aroundNginx(page string, s site, dir, addr string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\nevents { }\nhttp "+
		"{\naccess_log off;\n")
	for _, module := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&b, "%s_temp_path %s;\n", module, filepath.Join(dir, module))
	}
	page = strings.Replace(page, "listen 80;", "listen "+addr+";\nlimit_rate "+fmt.Sprint(s.rate)+";\nsendfile_max_chunk 64k;", 1)
	b.WriteString(page + "}\n")
	return b.String()
}

func aroundApache(page string, s site, dir, addr string) string {
	return "LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so\n" + apacheConfig(s, dir, addr) + page
}
