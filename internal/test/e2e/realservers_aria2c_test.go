//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// An aria2Line is a command line for aria2c. In its words and files $U is the server, $T the same with a
// certificate of its own, $N one that is silent, $D the SHA-256 of its file and $L a list.
type aria2Line struct {
	words string
	// files that are there, as NAME=WORD: "begin" is the beginning of the server's file, "body" all of it, others are their own text
	here string
	list string
	// ours is what braid does in place of what aria2c does, and why what is better.
	ours, why string
}

// aria2Lines are what aria2c and braid are compared over: exit code, and names and content of the files that are there
// in the end.
var aria2Lines = []aria2Line{
	{words: "$U/a.bin"},
	{words: "$U/a.bin", here: "a.bin=body"},
	{words: "$U/a.bin", here: "a.bin=old"},
	{words: "$U/a.bin", here: "a.bin=old a.1.bin=old"},
	{words: "$U/b.tar.gz", here: "b.tar.gz=old"},
	{words: "$U/noext", here: "noext=old"},
	{words: "--auto-file-renaming=false $U/a.bin", here: "a.bin=old"},
	{words: "--allow-overwrite=true $U/a.bin", here: "a.bin=old"},
	{words: "--allow-overwrite $U/a.bin", here: "a.bin=begin"},
	{words: "-c $U/a.bin", here: "a.bin=body"},
	{words: "-c $U/a.bin", here: "a.bin=begin"},
	{words: "-c $U/a.bin"},
	{words: "-c $U/a.bin", here: "a.bin=begin-of-another", ours: "0 a.1.bin=body a.bin=begin-of-another",
		why: "aria2c continues any file that is shorter; braid compares it with the server's file"},
	{words: "-c -x16 -j16 -s16 --min-split-size 1M --header A:b --dir . --out F.part --auto-file-renaming=false " +
		"-- $U/a.bin", here: "F.part=begin"},
	{words: "-c -x16 -j16 -s16 -k1M -o v.part $U/a.bin"},
	{words: "-d d -o x $U/a.bin"},
	{words: "--dir=d --out=e/x $U/a.bin"},
	{words: "-o ../up -d d/e $U/a.bin"},
	{words: "-o d/ $U/a.bin"},
	{words: "-d a.bin/x $U/a.bin", here: "a.bin=old"},
	{words: "$U/"},
	{words: "$U/redirect/a.bin"},
	{words: "$U/named"},
	{words: "-o x $U/named"},
	{words: "$U/a.bin $U/other"},
	{words: "-o x $U/404 $U/a.bin"},
	{words: "$U/404/x $U/a.bin"},
	{words: "-Z $U/a.bin $U/b.tar.gz"},
	{words: "-Z -o x $U/a.bin $U/b.tar.gz"},
	{words: "-Z $U/a.bin $U/a.bin"},
	{words: "-Z $U/404/x $U/a.bin"},
	{words: "-i $L", list: "$U/a.bin\n out=x\n\n# comment\n$U/b.tar.gz\t$U/other\n\tdir=d\n\tsplit=3\n"},
	{words: "-i $L -d d -o y -j1", list: "$U/a.bin\n$U/b.tar.gz\n"},
	{words: "-i $L $U/noext", list: "$U/a.bin\n"},
	{words: "-i $L -j2 --continue", list: "$U/a.bin\n checksum=sha-256=$D\n$U/404\n out=y\n"},
	{words: "-i nowhere"},
	{words: "--checksum=sha-256=$D $U/a.bin"},
	{words: "--checksum=sha-256=0000000000000000000000000000000000000000000000000000000000000000 $U/a.bin", ours: "32",
		why: "a file that is wrong gets no name"},
	{words: "--checksum=md5=00 $U/a.bin"},
	{words: "--checksum=nope=00 $U/a.bin"},
	{words: "$U/404/x"},
	{words: "-m1 $U/401"},
	{words: "-m1 $U/403"},
	{words: "-m1 $U/500"},
	{words: "-m1 --retry-wait=1 $U/503"},
	{words: "-m1 $U/loop"},
	{words: "-m1 -t1 --connect-timeout=1 $N/x"},
	{words: "-m1 http://127.0.0.1:1/x", ours: "6", why: "aria2c(1) has 6 for problems of the network, and aria2c says 1 here"},
	{words: "-m1 http://braid.invalid/x"},
	{words: "-m1 $T/a.bin"},
	{words: ""},
	{words: "nothing"},
	{words: "--split=x $U/a.bin"},
	{words: "-T nowhere.torrent"},
	{words: "--continue=yes $U/a.bin"},
	{words: "$U/a.bin -d"},
	{words: "--max-conn=2 $U/a.bin"},
	{words: "-x17 $U/a.bin", ours: "0 a.bin=body", why: "braid has no limit of 16"},
	{words: "--nosuch $U/a.bin", ours: "0 a.bin=body",
		why: "options that aria2c does not have are a warning, for those that later versions have"},
	{words: "-P $U/{a,b}.bin", ours: "28", why: "braid does not expand URIs"},
	{words: "--check-certificate=false $U/a.bin", ours: "28", why: "there is no switch that trusts every server"},
	{words: "--dry-run $U/a.bin"},
	{words: "-R --conditional-get --allow-overwrite=true $U/a.bin", here: "a.bin=old", ours: "0 a.bin=body",
		why: "aria2c keeps whatever is younger; braid keeps what it brought itself, or has exactly the server's date and size"},
	{words: "--http-user=u --http-passwd=p $U/login"},
	{words: "--http-user=u --http-passwd=wrong $U/login"},
	{words: "--max-download-limit=100M --max-overall-download-limit=100M -q --file-allocation=none $U/a.bin"},
}

// TestRealAria2cSideBySide: aria2c, and braid under its name, leave the same files and the same exit code. What differs
// is meant, and the line says why.
func TestRealAria2cSideBySide(t *testing.T) {
	body := mirrortest.Generate(3<<20, 7).Bytes()
	server, secure := httptest.NewServer(aria2Site(body)), httptest.NewTLSServer(aria2Site(body))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	t.Cleanup(secure.Close)
	link := linkNamedAria2c(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for _, line := range aria2Lines {
		t.Run(line.words+" "+line.here, func(t *testing.T) {
			t.Parallel()
			c := &aria2Comparison{t: t, body: body, line: line, words: strings.NewReplacer("$U", server.URL, "$T",
				secure.URL, "$N", "http://"+silent.Addr().String(),
				"$D", fmt.Sprintf("%x", sha256.Sum256(body)), "$L", "../list")}
			theirs, ours := c.run("aria2c"), c.run(link)
			switch {
			case line.why == "" && theirs != ours:
				t.Errorf("aria2c: %s\nbraid:  %s", theirs, ours)
			case line.why != "" && ours != line.ours:
				t.Errorf("%s, want %s", ours, line.ours)
			case line.why != "" && theirs == ours:
				t.Errorf("both: %s; that is not %q", ours, line.why)
			}
		})
	}
}

// linkNamedAria2c is a link to braid that is called as aria2c is.
func linkNamedAria2c(t *testing.T) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "aria2c")
	if err := os.Symlink(binary, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// aria2Site has one file under many names, and paths at which it fails.
func aria2Site(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		user, password, _ := r.BasicAuth()
		code, err := strconv.Atoi(first)
		switch {
		case err == nil:
			w.WriteHeader(code)
		case first == "redirect":
			http.Redirect(w, r, "/a.bin", http.StatusFound)
		case first == "loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case first == "login" && (user != "u" || password != "p"):
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			if first == "named" {
				w.Header().Set("Content-Disposition", `attachment; filename="b.bin"`)
			}
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(body))
		}
	})
}

type aria2Comparison struct {
	t     *testing.T
	body  []byte
	line  aria2Line
	words *strings.Replacer
}

// run runs a program in a folder of its own, and tells its exit code and what is there then.
func (c *aria2Comparison) run(program string) string {
	c.t.Helper()
	home := c.t.TempDir()
	dir := filepath.Join(home, "work")
	c.write(filepath.Join(home, "list"), []byte(c.words.Replace(c.line.list)))
	for file := range strings.FieldsSeq(c.line.here) {
		name, what, _ := strings.Cut(file, "=")
		c.write(filepath.Join(dir, name), c.content(what))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{"--no-conf"}, strings.Fields(c.words.Replace(c.line.words))...)...)
	var out bytes.Buffer
	defer time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() }).Stop()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	c.t.Logf("%s:\n%s", program, out.String())
	return strings.Join(append([]string{fmt.Sprint(cmd.ProcessState.ExitCode())}, c.files(dir)...), " ")
}

func (c *aria2Comparison) write(path string, data []byte) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *aria2Comparison) content(word string) []byte {
	switch word {
	case "body":
		return c.body
	case "begin":
		return c.body[:1_500_000]
	case "begin-of-another":
		return bytes.Repeat([]byte("x"), 1_500_000)
	}
	return []byte(word)
}

// files are the names below dir with what they have, without those of an unfinished download: braid's have another
// name, and aria2c's one more beside them.
func (c *aria2Comparison) files(dir string) (all []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if _, err := os.Lstat(path + ".journal"); err == nil || strings.HasSuffix(name, ".part.journal") ||
			strings.HasSuffix(name, ".aria2") {
			return nil
		}
		data, err := os.ReadFile(path)
		what := fmt.Sprintf("%d bytes", len(data))
		for _, word := range []string{"body", "begin", "begin-of-another", "old"} {
			if bytes.Equal(data, c.content(word)) {
				what = word
			}
		}
		all = append(all, name+"="+what)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
