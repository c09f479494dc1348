package cli

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/fleet"
	"braid/internal/job"
	"braid/internal/test/mirrortest"
)

// testRoot is a certificate.
func testRoot() string {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// writeSite writes settings in a home of its own, in which a site names files of a folder.
func writeSite(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	at := job.SettingsFile("config.toml")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[site.\"https://other.example/*\"]\n"
	for _, name := range []string{"keyring", "smime-ca", "cacert"} {
		text += fmt.Sprintf("%s = [%q]\n", name, filepath.Join(dir, "site-"+name))
	}
	write(t, at, text)
}

// TestDaemonOwnFiles_Rule69: where the configuration of the watcher, its state or what says who is trusted lies in the
// root, no client replaces it: the configuration names programs. Nor does a server that names the file.
func TestDaemonOwnFiles_Rule69(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Name("a.iso"))
	named := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Header("Content-Disposition",
		`attachment; filename="watch.toml"`))
	d := newDaemonRun(t)
	writeSite(t, d.root)
	own := map[string]string{
		"watch.toml": fmt.Sprintf("state = 'memory'\n[watch.w]\nurl = '%s'\ndir = 'pub'\nrequire = 'none'\ncheck-every = '20h'\n"+
			"run = ['sh', 'hook']\non-failure = ['sh', '%s', '%s']\n", s.URL, filepath.Join(d.root, "script"), d.root),
		"pub/hook": "", "script": "",
		"roots.pem": testRoot(), "ca.pem": testRoot(),
		"site-keyring": "", "site-smime-ca": testRoot(), "site-cacert": testRoot(),
	}
	for name, text := range own {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(d.root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(d.root, name), text)
	}
	d.start("--watch", filepath.Join(d.root, "watch.toml"), "--smime-ca", filepath.Join(d.root, "roots.pem"),
		"--cacert", filepath.Join(d.root, "ca.pem"), "--require", "none")
	asked := map[string]map[string]string{named.URL: {"remote-name": "true"}}
	for _, name := range []string{"watch.toml", "roots.pem", "memory/antenna.db", "pub/hook", "script", "ca.pem",
		"site-keyring", "site-smime-ca", "site-cacert"} {
		asked[s.URL+"?"+name] = map[string]string{"out": name}
	}
	for name, options := range asked {
		options["allow-overwrite"] = "true"
		status := d.status(d.add(name, options))
		if status["status"] != "error" || !strings.Contains(fmt.Sprint(status["errorMessage"]),
			"this folder is reserved for the daemon") {
			t.Errorf("%s: %v", name, status)
		}
	}
	if status := d.status(d.add(s.URL, map[string]string{"out": "pub/b.iso"})); status["status"] != "complete" {
		t.Error(status)
	}
	for name, text := range own {
		if got, err := os.ReadFile(filepath.Join(d.root, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestWatchOwnFiles: a feed and the server of a glob choose the names of its files, and so neither replaces the
// configuration, which names programs, nor a keyring of another watch or of a site.
func TestWatchOwnFiles(t *testing.T) {
	for _, name := range []string{"watch.toml", "roots.pem", "site-smime-ca"} {
		s := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Name(name),
			mirrortest.Modified(time.Now().Add(time.Hour)))
		dir := t.TempDir()
		writeSite(t, dir)
		own := filepath.Join(dir, name)
		for _, file := range []string{"site-keyring", "site-smime-ca", "site-cacert"} {
			write(t, filepath.Join(dir, file), testRoot())
		}
		write(t, filepath.Join(dir, "roots.pem"), testRoot())
		write(t, filepath.Join(dir, "feed.rss"),
			fmt.Sprintf("<rss version='2.0'><channel><item><link>%s</link></item></channel></rss>", s.URL))
		write(t, filepath.Join(dir, "watch.toml"), fmt.Sprintf(`state = "memory"
[feed.f]
file = "feed.rss"
[watch.all]
glob = "%s"
feeds = ["f"]
dir = "."
require = "none"
[watch.other]
glob = "http://127.0.0.1:1/*"
feeds = ["f"]
smime-ca = ["roots.pem"]
dir = "other"
`, strings.TrimSuffix(s.URL, name)+"*"))
		before, err := os.ReadFile(own)
		if err != nil {
			t.Fatal(err)
		}
		_, _, told := command(t, "watch", "--once", filepath.Join(dir, "watch.toml"))
		if after, err := os.ReadFile(own); err != nil || string(after) != string(before) {
			t.Errorf("%s was replaced: %v\n%s", name, err, told)
		}
		if !strings.Contains(told, "no feed may replace it") {
			t.Errorf("%s: %s", name, told)
		}
	}
}

// TestWorkOwnFiles: neither the file nor the link of a job replaces what says whom the worker trusts, or the queue.
func TestWorkOwnFiles(t *testing.T) {
	dir := t.TempDir()
	writeSite(t, dir)
	conf, err := job.ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	w := &workCommand{Job: newDefaults(streams{}), To: dir}
	w.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	if _, err := w.prepareClient(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Job.HTTP.Sites, w.Job.HTTP.Trust.ClientKey = job.NewSites(conf), filepath.Join(dir, "key.pem")
	w.Fleet.Queue = "embedded:" + filepath.Join(w.To, "q")
	if err := w.Job.Anchors.Keyring.Set(filepath.Join(w.To, "keys.asc")); err != nil {
		t.Fatal(err)
	}
	for name, free := range map[string]bool{"keys.asc": false, "key.pem": false, "site-keyring": false,
		"site-smime-ca": false, "site-cacert": false, "q/lock": false, "q/jetstream/y": false, "q/a.iso": true,
		"q2/lock": true, "x/keys.asc": true, "a.iso": true} {
		linked := fleet.Job{Name: "pub/a.iso", Follows: &fleet.Follows{Link: name}}
		for _, j := range []fleet.Job{{Name: name}, linked} {
			j.URIs = []string{"https://h.example/x"}
			if _, err := w.request(&j); (err == nil) != free {
				t.Errorf("%s, %s: %v", j.Name, name, err)
			}
		}
	}
	w.To, w.Fleet.Queue = "s3://b/", "nats://127.0.0.1:4222"
	if _, err := w.request(&fleet.Job{Name: "q/lock", URIs: []string{"https://h.example/x"}}); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
