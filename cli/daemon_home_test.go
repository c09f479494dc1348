package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestDaemonHome: no client gets a program run by a file that it puts where programs read their settings. A daemon has
// the home folder only if --root names it, and then no client writes to a name with a dot, or to braid's own folders,
// wherever these are.
func TestDaemonHome(t *testing.T) {
	d := newDaemonRun(t)
	home := os.Getenv("HOME")
	for _, words := range [][]string{
		{"daemon", "-d", home}, {"daemon", "-d", filepath.Dir(home)}, {"daemon", "-d", "/"}, {"daemon", "-d", linkTo(t, home)},
	} {
		code, _, message := command(t, append(words, "--state", d.state, "--rpc-listen-port", "0")...)
		if code != exitUsage || !strings.Contains(message,
			"clients could replace files in your home folder (choose a folder for downloads alone with -d FOLDER") {
			t.Errorf("%q: %d, %s", words, code, message)
		}
	}
	t.Chdir(home)
	if code, _, message := command(t, "daemon", "--state", d.state, "--rpc-listen-port", "0"); code != exitUsage ||
		!strings.Contains(message, "home folder") {
		t.Errorf("%d, %s", code, message)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, filepath.Join(home, strings.ToLower(name)))
	}
	linked := filepath.Join(home, "innocent")
	own := filepath.Join(home, "xdg_config_home", "braid")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, linked); err != nil {
		t.Fatal(err)
	}
	d.root = home
	d.start("--root", home)
	file := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Name("config.toml")).URL
	if status := d.status(d.add(file, map[string]string{"dir": filepath.Join(home,
		"downloads")})); status["status"] != "complete" {
		t.Error(status)
	}
	for _, options := range []map[string]any{
		{"out": ".bashrc"}, {"dir": filepath.Join(home, ".ssh"), "out": "authorized_keys"},
		{"dir": own}, {"out": "xdg_config_home/braid/config.toml"}, {"dir": filepath.Join(home, "xdg_state_home", "braid")},
		{"out": "xdg_cache_home/braid/digests"}, {"dir": linked}, {"out": "innocent/config.toml"},
	} {
		options["allow-overwrite"] = "true"
		gid, failure := d.call("aria2.addUri", []any{file}, options)
		if failure != "" {
			continue
		}
		if status := d.status(gid); status["status"] != "error" {
			t.Errorf("%v: %v", options, status)
		}
	}
	for _, session := range []string{".bashrc", "xdg_config_home/braid/config.toml", "innocent/config.toml"} {
		if _, failure := d.call("aria2.changeGlobalOption", map[string]any{"save-session": session}); failure == "" {
			if _, failure = d.call("aria2.saveSession"); failure == "" {
				t.Errorf("%s: written", session)
			}
		}
	}
	for _, name := range []string{".bashrc", ".ssh/authorized_keys", "xdg_config_home/braid/config.toml",
		"xdg_state_home/braid/config.toml", "xdg_cache_home/braid/digests"} {
		if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	d.end()
}

// linkTo makes a symbolic link to a folder.
func linkTo(t *testing.T, folder string) string {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	return link
}
