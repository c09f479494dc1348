//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
)

// TestRealObjectsKilled_Rule71_Rule72 kills the command at random moments of an upload, and runs it again: nothing is
// visible before, and in the end the object is right, is there once, and no upload is left (rules 71 and 72). A kill
// between the moment that the store opens an upload and the one that the journal has its name leaves an upload that
// nobody knows, whatever their order. So no kill comes before the first part.
func TestRealObjectsKilled_Rule71_Rule72(t *testing.T) {
	t.Parallel()
	const size = 96 << 20
	content := mirrortest.Generate(size, 19)
	a := mirrortest.New(t, content, mirrortest.Digest(), mirrortest.Rate(24<<20), mirrortest.ETag(`"one"`))
	b := mirrortest.New(t, content, mirrortest.Rate(24<<20))
	store, home := s3test.New(t), t.TempDir()
	command := func() (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(binary, "get", "--mirror", b.URL, "--to", "s3://bucket/isos/", a.URL)
		cmd.Env = append(store.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true", "TMPDIR="+home)
		cmd.Dir = home
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	name := filepath.Base(a.URL)
	kills := 0
	for range 40 {
		cmd, out := command()
		sent := store.Count("part", "isos/"+name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		timer := time.AfterFunc(300*time.Millisecond+rand.N(1500*time.Millisecond), func() {
			// Not before a part: a kill between the store's answer and the journal would leave an upload without parts.
			for store.Count("part", "isos/"+name) == sent {
				select {
				case <-time.After(5 * time.Millisecond):
				case <-ended:
					return
				}
			}
			cmd.Process.Kill()
		})
		err := cmd.Wait()
		close(ended)
		timer.Stop()
		if err == nil {
			break
		}
		if cmd.ProcessState.ExitCode() >= 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		if kills++; store.Object("isos/"+name) != nil && store.Count("complete", "isos/"+name) == 0 {
			t.Fatal("the object is visible before its time")
		}
	}
	if cmd, out := command(); cmd.Run() != nil {
		t.Fatalf("%s", out)
	}
	if err := content.Compare(bytes.NewReader(store.Object("isos/" + name))); err != nil {
		t.Fatal(err)
	}
	want := []string{"isos/" + name, "isos/" + name + ".evidence.json"}
	if strings.Join(store.Keys(), " ") != strings.Join(want, " ") {
		t.Errorf("in the store: %v", store.Keys())
	}
	fetched := a.Sent() + b.Sent()
	t.Logf("%d kills, %d parts sent, %d MiB fetched for %d", kills, store.Count("part", "isos/"+name), fetched>>20, size>>20)
	if left, _ := filepath.Glob(filepath.Join(home, ".local/state/braid/uploads/*.upload")); len(left) > 0 {
		t.Errorf("journals: %v", left)
	}
	list := exec.Command(binary, "parts", "list", "s3://bucket/")
	list.Env = append(store.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true")
	if out, err := list.Output(); err != nil || len(out) > 0 {
		t.Errorf("uploads: %s, %v", out, err)
	}
}

// TestRealObjectsPage runs what stands in doc/objects.md, as it stands there.
func TestRealObjectsPage(t *testing.T) {
	t.Parallel()
	page := readFile(t, filepath.Join("doc", "objects.md"))
	script, _ := blocks(page)
	w, store := newWorld(t), s3test.New(t)
	env := ""
	for _, v := range store.Env() {
		env += "export " + v + "\n"
	}
	out := w.run(t, env+"export NO_PROXY=127.0.0.1\n"+script, false)
	disk := []byte(strings.Repeat("disk ", 400_000))
	if !bytes.Equal(store.Object("isos/disk.iso"), disk) || string(store.Object("hello/world.txt")) != "hello world" {
		t.Errorf("in the store: %v\n%s", store.Keys(), out)
	}
	evidence := string(store.Object("isos/disk.iso.evidence.json"))
	if sum := fmt.Sprintf("%x", sha256.Sum256(disk)); !strings.Contains(evidence, sum) {
		t.Error("the evidence does not have the digest")
	}
	if strings.Contains(out, s3test.Secret) {
		t.Error("the secret is shown")
	}
}

// TestRealObjectsRefused_Rule73: whose fault it is, by the exit code; and no secret is in any output or file (rule 73).
func TestRealObjectsRefused_Rule73(t *testing.T) {
	t.Parallel()
	m := mirrortest.New(t, mirrortest.Generate(20<<20, 1), mirrortest.Digest())
	store := s3test.New(t)
	const other = "AnotherSecretOfTheUser"
	for name, tt := range map[string]struct {
		env  []string
		args []string
		code int
		says string
	}{
		"no credentials":  {[]string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, nil, 6, "no credentials"},
		"half of them":    {[]string{"AWS_SECRET_ACCESS_KEY="}, nil, 6, "AWS_SECRET_ACCESS_KEY is missing"},
		"a wrong secret":  {[]string{"AWS_SECRET_ACCESS_KEY=" + other}, nil, 6, "403"},
		"no such bucket":  {nil, []string{"--to", "s3://nobucket/"}, 8, "NoSuchBucket"},
		"nobody listens":  {[]string{"AWS_ENDPOINT_URL_S3=http://127.0.0.1:1"}, nil, 4, "refused"},
		"no TLS there":    {[]string{"AWS_ENDPOINT_URL_S3=https" + strings.TrimPrefix(store.Endpoint, "http")}, nil, 5, ""},
		"a wrong URL":     {[]string{"AWS_ENDPOINT_URL_S3=ftp://x"}, nil, 2, "endpoint"},
		"no place":        {nil, []string{"--to", "bucket/isos"}, 2, "s3://BUCKET/PREFIX/"},
		"with a password": {nil, []string{"--to", "s3://me:" + other + "@bucket/"}, 2, "credentials"},
		"a folder, too":   {nil, []string{"--to", "s3://bucket/", "-d", "x"}, 2, "-d"},
		"another name":    {nil, []string{"--to", "s3://bucket/", "--rename"}, 2, "--rename"},
		"the date":        {nil, []string{"-R", "--to", "s3://bucket/"}, 2, "--remote-time"},
		"out of there":    {nil, []string{"-o", "../x", "--to", "s3://bucket/isos/"}, 2, "bucket/isos/../x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			args := tt.args
			if args == nil {
				args = []string{"--to", "s3://bucket/isos/"}
			}
			cmd := exec.Command(binary, append(append([]string{"get", "--timeout", "1m", "-v"}, args...), m.URL)...)
			cmd.Env = append(store.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true")
			cmd.Env, cmd.Dir = append(cmd.Env, tt.env...), home
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, tt.code, tt.says, out)
			}
			for _, secret := range []string{s3test.Secret, other} {
				if bytes.Contains(out, []byte(secret)) {
					t.Errorf("the secret is shown:\n%s", out)
				}
			}
			filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
				if err == nil && info.Mode().IsRegular() {
					if data := readFile(t, path); strings.Contains(data, s3test.Secret) || strings.Contains(data, other) {
						t.Errorf("the secret is in %s", path)
					}
				}
				return nil
			})
		})
	}
}

// TestRealObjectsAsFiles: -N, --no-clobber, --overwrite, "already complete", --on-complete, lists, dry runs and verify
// mean for objects what they mean for files (rules 3, 4 and 54).
func TestRealObjectsAsFiles(t *testing.T) {
	t.Parallel()
	one, two := mirrortest.Generate(20<<20, 1), mirrortest.Generate(20<<20, 2)
	old, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	m := mirrortest.New(t, one, mirrortest.Digest(), mirrortest.Modified(old), mirrortest.ETag(`"one"`))
	store, home := s3test.New(t), t.TempDir()
	run := func(code int, says string, args ...string) {
		t.Helper()
		cmd := exec.Command(binary, args...)
		cmd.Env, cmd.Dir = append(store.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true"), home
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), says) {
			t.Fatalf("braid %v: exit %d, want %d with %q:\n%s", args, cmd.ProcessState.ExitCode(), code, says, out)
		}
	}
	holds := func(key string, want mirrortest.Content) {
		t.Helper()
		if err := want.Compare(bytes.NewReader(store.Object(key))); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	to := []string{"get", "--to", "s3://bucket/x", m.URL}
	with := func(flags ...string) []string { return append(flags[:len(flags):len(flags)], to[1:]...) }
	run(0, "s3://bucket/x/file.bin", append([]string{"get", "--dry-run"}, to[1:]...)...)
	run(0, "verified", append([]string{"get", "-N", "--on-complete", "touch done"}, to[1:]...)...)
	holds("x/file.bin", one)
	if _, err := os.Stat(filepath.Join(home, "done")); err != nil {
		t.Error(err)
	}
	sent := m.Sent()
	run(0, "", with("get", "-N")...)
	run(0, "", to...)
	run(0, "", with("get", "--no-clobber")...)
	if m.Sent() > sent+1<<20 {
		t.Errorf("%d bytes were fetched again", m.Sent()-sent)
	}
	run(0, "", "verify", "--from", m.URL, "s3://bucket/x/file.bin")
	m.Content = two
	m.Reset(mirrortest.Digest(two.Digest()), mirrortest.Modified(now), mirrortest.ETag(`"two"`))
	run(11, "", "verify", "--from", m.URL, "s3://bucket/x/file.bin")
	run(3, "exists", to...)
	run(0, "exists, and is kept", with("get", "--no-clobber")...)
	holds("x/file.bin", one)
	run(0, "", with("get", "-N")...)
	holds("x/file.bin", two)
	store.Put("x/file.bin", []byte("another"))
	run(0, "", with("get", "--overwrite")...)
	holds("x/file.bin", two)
	run(3, "", "verify", "--from", m.URL, "s3://bucket/x/none.bin")
	list := m.URL + "\n out=a/b.bin\n" + m.URL + "\n out=c.bin\n"
	if err := os.WriteFile(filepath.Join(home, "list"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	run(0, "", "get", "--to", "s3://bucket/list/", "-i", "list")
	holds("list/a/b.bin", two)
	holds("list/c.bin", two)
}

// TestRealObjectsWatched: a watch puts what is new into the store, and what is not new stays.
func TestRealObjectsWatched(t *testing.T) {
	t.Parallel()
	one, two := mirrortest.Generate(20<<20, 1), mirrortest.Generate(20<<20, 2)
	m := mirrortest.New(t, one, mirrortest.Digest(), mirrortest.Modified(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	store, home := s3test.New(t), t.TempDir()
	writeFile(t, filepath.Join(home, "watch.toml"), "[watch.disk]\nurl = \""+m.URL+"\"\ncheck-every = \"1s\"\n"+
		"to = \"s3://bucket/pool/\"\nrun = [\"sh\", \"-c\", \"echo $BRAID_FILE_PATH >> told\"]\n")
	cmd := exec.Command(binary, "watch", filepath.Join(home, "watch.toml"))
	cmd.Env, cmd.Dir = append(store.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "BRAID_NO_LOOKUP=true"), home
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	holds := func(want mirrortest.Content) {
		t.Helper()
		for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if want.Compare(bytes.NewReader(store.Object("pool/file.bin"))) == nil {
				return
			}
			if time.Now().After(deadline) {
				cmd.Process.Kill()
				cmd.Wait()
				t.Fatalf("in the store: %v\n%s", store.Keys(), &out)
			}
		}
	}
	holds(one)
	m.Content = two
	m.Reset(mirrortest.Digest(two.Digest()), mirrortest.Modified(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)))
	holds(two)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	told, err := os.ReadFile(filepath.Join(home, "told"))
	if err != nil || !strings.HasPrefix(string(told), "s3://bucket/pool/file.bin\n") {
		t.Errorf("the program was told %q, %v\n%s", told, err, &out)
	}
}
