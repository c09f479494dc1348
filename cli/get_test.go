package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/internal/test/mirrortest"
)

// parse reads the words of a command line after "braid get" without running it.
func parse(t *testing.T, words ...string) (*getCommand, []download.Request, error) {
	t.Helper()
	var g *getCommand
	var requests []download.Request
	l, err := readLine(append([]string{"get"}, words...))
	if err != nil {
		return nil, nil, err
	}
	g = newGetCommand(streams{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	err = l.parse(t.Context(), targetsOf(g), func(ctx context.Context, operands []string) (err error) {
		if err := g.check(operands); err != nil {
			return err
		}
		file := g.Job.Input.InputFile
		g.Job.Input.InputFile = "" // what it has is for the caller
		list, err := job.NewList(ctx, g.Job, clientOf(t, g), operands)
		if err == nil {
			requests = slices.Collect(list.All())
		}
		g.Job.Input.InputFile = file
		return err
	})
	return g, requests, err
}

// clientOf is the client that the flags make.
func clientOf(t *testing.T, g *getCommand) *download.Client {
	t.Helper()
	g.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	c, err := g.Job.Client()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGetFlagsReachTheDownload(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	g, requests, err := parse(t, "-x3", "-s", "4", "--min-split-size", "2M", "--file-allocation", "falloc", "--tries=5",
		"--timeout", "6", "--retry-wait", "7s", "--max-size", "8K",
		"--connect-timeout", "9", "-A", "agent", "--allow-downgrade", "--no-referer",
		"--require", "digest", "--overwrite", "--no-metalink", "-H", "A: b, c", "-H", "D: e", "--sha256", sum, "-P",
		"dir", "-o", "sub/name",
		"http://me:pw@h/a?q#f", "--mirror", "http://m1/a", "--mirror", "http://m2/a,b")
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, g)
	if c.PerHost != 3 || c.Split != 4 || c.MinSplit != 2<<20 || c.Allocation != download.AllocateTry || c.Tries != 5 ||
		c.Timeout != 6*time.Second || c.RetryWait != 7*time.Second || c.MaxSize != 8<<10 {
		t.Errorf("%+v", c)
	}
	if h := c.HTTP; h.ConnectTimeout != 9*time.Second || h.HeaderTimeout != 6*time.Second || h.UserAgent != "agent" ||
		!h.AllowDowngrade || !h.NoReferer {
		t.Error("the HTTP client has other settings")
	}
	r := requests[0]
	if r.URL.String() != "http://h/a?q" || r.Access.User.String() != "me:pw" || len(r.Mirrors) != 2 ||
		r.Mirrors[1].Path != "/a,b" {
		t.Errorf("%v as %v with %v", r.URL, r.Access.User, r.Mirrors)
	}
	if r.Dir != "dir/sub" || r.Name != "name" || r.Stream != nil || r.Trust.Require != download.RequireDigest ||
		!r.IfExists.Overwrite || !r.NoMetalink {
		t.Errorf("%+v", r)
	}
	if !reflect.DeepEqual(r.Access.Header, map[string][]string{"A": {"b, c"}, "D": {"e"}}) {
		t.Errorf("%q", r.Access.Header)
	}
	if len(r.Trust.Claims) != 1 || r.Trust.Claims[0].String() != "sha-256 from --sha256" ||
		r.Trust.Claims[0].Digest.Hex() != sum {
		t.Errorf("%v", r.Trust.Claims)
	}
}

func TestGetZeroFlagsLeaveDefaults(t *testing.T) {
	g, requests, err := parse(t, "http://h/a", "http://h/b")
	if err != nil || len(requests) != 2 {
		t.Fatal(err, requests)
	}
	if c := clientOf(t, g); c.PerHost != 0 || c.Split != 0 || c.Tries != 0 || c.Timeout != 0 || c.RetryWait != 0 ||
		c.MaxSize != 0 {
		t.Errorf("%+v", c)
	}
	u, _ := url.Parse("http://h/a")
	want := download.Request{
		URL: u, Access: download.Access{Header: map[string][]string{}},
		Peers: clientOf(t, g).Peers(download.PeersAuto),
	}
	if !reflect.DeepEqual(requests[0], want) {
		t.Errorf("%+v, want %+v", requests[0], want)
	}
}

// TestEnvironment: what the command line does not say, the environment does.
func TestEnvironment(t *testing.T) {
	t.Setenv("BRAID_SPLIT", "7")
	t.Setenv("BRAID_TRIES", "3")
	t.Setenv("BRAID_HEADER", "A: b, c")
	t.Setenv("BRAID_NO_METALINK", "true")
	t.Setenv("BRAID_DIR", "from-environment")
	t.Setenv("BRAID_MAX_CONNECTION_PER_SERVER", "2")
	g, requests, err := parse(t, "--tries", "4", "http://h/a")
	if err != nil {
		t.Fatal(err)
	}
	if g.Job.Transfer.Split != 7 || g.Job.Transfer.Tries != 4 || g.Job.Transfer.MaxConnectionPerServer != 2 ||
		!requests[0].NoMetalink || requests[0].Dir != "from-environment" || requests[0].Access.Header["A"][0] != "b, c" {
		t.Errorf("%+v, %+v", g, requests[0])
	}
	t.Setenv("BRAID_SPLIT", "many")
	_, _, err = parse(t, "http://h/a")
	if f, ok := errors.AsType[*problem.Problem](err); !ok || f.Kind != download.Usage || f.Where != "BRAID_SPLIT" {
		t.Errorf("%v", err)
	}
}

// file downloads into a folder of the test's own and returns what the command said.
func get(t *testing.T, dir string, words ...string) (code int, stdout, stderr string) {
	t.Helper()
	return command(t, append([]string{"get", "-d", dir}, words...)...)
}

func TestGet(t *testing.T) {
	content := mirrortest.Generate(300_000, 1)
	mirror := mirrortest.New(t, content, mirrortest.Name("a.iso"), mirrortest.Digest())
	s := mirrortest.New(t, content, mirrortest.Name("a.iso"), mirrortest.Digest(), mirrortest.Mirrors(mirror.URL),
		mirrortest.Link("<x:y>; rel=duplicate"))
	dir := filepath.Join(t.TempDir(), "new", "folder")
	code, out, err := get(t, dir, "-v", s.URL)
	if code != exitDone || out != "" {
		t.Fatalf("exit code %d, %q, %q", code, out, err)
	}
	for _, want := range []string{
		"server: ", "1 mirror", "1 statement ignored", "mirror " + s.URL + ": in use (", "a.iso: 293 KiB in ",
		"; verified: sha-256 from Digest over http\n",
	} {
		if !strings.Contains(err, want) {
			t.Errorf("no %q in\n%s", want, err)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "a.iso")); !bytes.Equal(data, content.Bytes()) {
		t.Error("another file")
	}
	code, out, err = get(t, dir, s.URL)
	if code != exitDone || out != "" || err != "a.iso: already complete (293 KiB); verified: sha-256 from Digest over http\n" {
		t.Errorf("again: exit code %d, %q, %q", code, out, err)
	}
	if code, out, err = get(t, dir, "-q", s.URL); code != exitDone || out+err != "" {
		t.Errorf("-q: exit code %d, %q, %q", code, out, err)
	}
}

func TestGetUnverified(t *testing.T) {
	s := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"))
	code, _, err := get(t, t.TempDir(), s.URL)
	if code != exitDone || !strings.HasSuffix(err, "; unverified: the server sent no checksum (give one with --sha256)\n") {
		t.Errorf("exit code %d, %q", code, err)
	}
	s.Set(mirrortest.Mirrors("http://127.0.0.1:1/a"))
	code, _, err = get(t, t.TempDir(), s.URL)
	if code != exitDone || !strings.Contains(err,
		"; unverified: the server named mirrors, but sent no checksum, so they were not used") {
		t.Errorf("exit code %d, %q", code, err)
	}
}

// TestGetExists: a file that is in the way stays as it is (rule 3), and --no-clobber is content with that.
func TestGetExists_Rule3(t *testing.T) {
	s := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, err := get(t, dir, s.URL)
	if code != exitLocal || !strings.HasPrefix(err, "braid: file "+name+": already exists") ||
		!strings.Contains(err, "--overwrite") {
		t.Errorf("exit code %d, %q", code, err)
	}
	code, _, err = get(t, dir, "--no-clobber", s.URL)
	if code != exitDone || err != name+": exists, and is kept\n" {
		t.Errorf("--no-clobber: exit code %d, %q", code, err)
	}
	if data, _ := os.ReadFile(name); string(data) != "mine" {
		t.Errorf("the file is %q", data)
	}
	if code, _, err = get(t, dir, "--overwrite", s.URL); code != exitDone {
		t.Errorf("--overwrite: exit code %d, %q", code, err)
	}
	if data, _ := os.ReadFile(name); string(data) != "abc" {
		t.Errorf("the file is %q", data)
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if code, _, err = get(t, dir, "--no-clobber", "-o", "link", s.URL); code != exitLocal { // rule 4
		t.Errorf("--no-clobber and a symbolic link: exit code %d, %q", code, err)
	}
}

func TestGetBatch(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	gone := mirrortest.New(t, []byte("x"), mirrortest.Name("gone"), mirrortest.Status(404))
	bare := mirrortest.New(t, []byte("def"), mirrortest.Name("bare"))
	dir := t.TempDir()
	code, _, err := get(t, dir, gone.URL, a.URL)
	if code != exitRefused || !strings.Contains(err, "braid: download "+gone.URL+": status 404") ||
		!strings.Contains(err, "a: 3 B in ") ||
		!strings.Contains(err, "1 of 2 files: 3 B in ") || !strings.Contains(err, "; 1 verified; 1 failed\n") {
		t.Errorf("exit code %d, %q", code, err)
	}
	if code, _, err = get(t, dir, "--require", "digest", gone.URL, bare.URL, a.URL); code != exitNoEvidence {
		t.Errorf("exit code %d, %q", code, err)
	}
}

func TestGetToStandardOutput(t *testing.T) {
	s := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	code, out, err := command(t, "get", "-o", "-", s.URL)
	if code != exitDone || out != "abc" || !strings.HasPrefix(err, "standard output: 3 B in ") {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
}

// TestGetJSON: one object a line, and the last one has all that there is to know.
func TestGetJSON(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(100_000, 2), mirrortest.Name("a"), mirrortest.Digest())
	dir := t.TempDir()
	code, out, err := get(t, dir, "--json", s.URL)
	if code != exitDone {
		t.Fatalf("exit code %d, %q", code, err)
	}
	var events []string
	type event struct {
		render.Head
		render.Outcome
	}
	var last event
	for line := range strings.Lines(out) {
		last = event{}
		if err := json.Unmarshal([]byte(line), &last); err != nil || last.V != 1 || last.Time.IsZero() {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, last.Event)
	}
	if events[0] != "start" || last.Event != "done" {
		t.Errorf("%q", events)
	}
	if last.URL != s.URL || last.Path != filepath.Join(dir, "a") || last.Size != 100_000 || !last.Verified ||
		last.Fetched != 100_000 ||
		last.Digests["sha-256"] != s.Digest().Hex() || last.Evidence[0] != "sha-256 from Digest over http" || last.Elapsed <= 0 ||
		len(last.Sources) != 1 || last.Sources[0].Bytes != 100_000 || last.Sources[0].Host != s.Addr {
		t.Errorf("%+v", last)
	}
	s.Set(mirrortest.Status(403))
	code, out, err = get(t, dir, "--json", "-o", "b", s.URL)
	if code != exitRefused && code != exitAuth || !strings.Contains(out, `"event":"error","code":`) ||
		!strings.HasPrefix(err, "braid: ") {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
}

func TestGetJSONCannotBeWritten(t *testing.T) {
	s := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	var err bytes.Buffer
	code := run(t.Context(), []string{"braid", "get", "--json", "-d", t.TempDir(), s.URL}, streams{out: &brokenPipe{}, err: &err})
	if code != exitLocal || !strings.Contains(err.String(), "braid: write standard output: no space left") {
		t.Errorf("exit code %d, %q", code, err.String())
	}
}

func TestGetFolderInTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, err := get(t, file, "http://127.0.0.1:1/a")
	if code != exitLocal || err != "braid: folder "+file+": not a directory\n" {
		t.Errorf("exit code %d, %q", code, err)
	}
}
