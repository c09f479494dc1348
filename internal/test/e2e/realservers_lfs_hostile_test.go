//go:build realservers

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pushed commits and pushes with braid as the agent, from a clone of a repository whose .lfsconfig is the given one. It
// returns the clone, what git said, and what git traced of the commands that were run.
func (w *lfsWorld) pushed(config string) (dir, out, ran string) {
	w.t.Helper()
	w.agent("")
	w.git(w.dir, "clone", "-q", "--bare", "origin", "bare.git")
	w.git(w.dir, "-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false", "clone",
		"-q", "bare.git", "mine")
	dir = filepath.Join(w.dir, "mine")
	writeFile(w.t, filepath.Join(dir, ".lfsconfig"), config)
	writeFile(w.t, filepath.Join(dir, "new.bin"), "an object of the user's")
	w.git(dir, "add", "new.bin")
	w.git(dir, "commit", "-q", "-m", "mine")
	log := filepath.Join(w.dir, "ran")
	cmd := w.command(dir, "push", "origin", "HEAD:refs/heads/mine")
	cmd.Env = append(cmd.Env, "GIT_TRACE2_EVENT="+log, "GIT_TRACE_REDACT=0") // git prepends its own folder to PATH
	said, _ := cmd.CombinedOutput()
	return dir, string(said), readFile(w.t, log)
}

// TestRealLFSHostile: no program of a repository runs in a push, whatever its .lfsconfig says that the LFS server is.
// The repository has the program under each name that the setting of the agent could be made to have.
func TestRealLFSHostile(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"customtransfer.x.path=./evil",
		"customtransfer.x.path=./evil#",
		"https://customtransfer.x.path=./evil",
		"http://x/lfs.customtransfer.x.path=./evil",
		"http://x/?lfs.customtransfer.x.path=./evil",
		"-c",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			w := newLFSWorld(t, 1, 1000)
			w.server.transfer = "x"
			origin := filepath.Join(w.dir, "origin")
			for _, name := range []string{"evil", "evil.standalonetransferagent=", "evil#.standalonetransferagent="} {
				writeFile(t, filepath.Join(origin, name), "#!/bin/sh\ntouch '"+w.dir+"/pwned'\n")
				if err := os.Chmod(filepath.Join(origin, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			w.git(origin, "add", ".")
			w.git(origin, "commit", "-q", "-m", "for the victim")
			_, out, _ := w.pushed("[lfs]\nurl = \"" + url + "\"\npushurl = " + w.server.URL + "/repo.git/info/lfs\n")
			if _, err := os.Stat(filepath.Join(w.dir, "pwned")); err == nil {
				t.Errorf("the program of the repository ran:\n%s", out)
			}
		})
	}
}

// TestRealLFSUploadHidden: an upload shows no password to who lists processes, and comes also where the server names
// braid for it.
func TestRealLFSUploadHidden(t *testing.T) {
	t.Parallel()
	for _, transfer := range []string{"", "braid"} {
		w := newLFSWorld(t, 1, 1000)
		w.server.user, w.server.transfer = "me:s3cret", transfer
		_, out, ran := w.pushed("[lfs]\nurl = " + strings.Replace(w.server.URL, "://", "://me:s3cret@", 1) +
			"/repo.git/info/lfs\n")
		if len(w.server.uploads) == 0 {
			t.Errorf("%q: nothing came:\n%s", transfer, out)
		}
		if strings.Contains(ran, "s3cret") {
			t.Errorf("%q: %s", transfer, ran)
		}
	}
}
