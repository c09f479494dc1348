package e2e

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/geoiptest"
)

// scriptCommands are the words that scripts have beside those of testscript.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"asked":         asked,
	"certificate":   selfSigned,
	"clearsign":     clearSign,
	"countries":     countryDatabase,
	"damage":        damage,
	"done":          done,
	"enable-rpc":    enableRPC,
	"exits":         exits,
	"expand":        expand,
	"ftp":           startFTP,
	"ftp-asked":     askedFTP,
	"ftp-count":     countFTP,
	"interrupt":     interrupt,
	"keypair":       keyPair,
	"md5":           md5Variable,
	"mirror":        startMirror,
	"more-bytes":    moreBytes,
	"one-at-a-time": oneAtATime,
	"proxied":       proxied,
	"proxy":         startProxy,
	"peer":          startPeer,
	"randfile":      randFile,
	"same-file":     sameFile,
	"sent":          sent,
	"serve":         serveFolder,
	"sha256":        sha256Variable,
	"shares":        shares,
	"wait-for":      waitFor,
}

// randFile NAME SIZE makes a file, and its folder, of random bytes, always the same for a name and size.
func randFile(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "randfile NAME SIZE")
	size, err := parseSize(args[1])
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = io.CopyN(f, rand.NewChaCha8(sha256.Sum256([]byte(args[0]))), size)
	ts.Check(errors.Join(err, f.Close()))
}

// countryDatabase FILE PREFIX=COUNTRY ... writes a database for --geoip-db.
func countryDatabase(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args[:min(len(args), 2)], 2, "countries FILE PREFIX=COUNTRY ...")
	networks := map[netip.Prefix]string{}
	for _, arg := range args[1:] {
		network, country, _ := strings.Cut(arg, "=")
		prefix, err := netip.ParsePrefix(network)
		ts.Check(err)
		networks[prefix] = country
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), geoiptest.Database(networks, "country"), 0o600))
}

// sha256Variable VAR FILE sets VAR to the file's SHA-256 in hex.
func sha256Variable(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "sha256 VAR FILE")
	sum := sha256.Sum256([]byte(ts.ReadFile(args[1])))
	ts.Setenv(args[0], hex.EncodeToString(sum[:]))
}

// md5Variable VAR FILE sets VAR to the file's MD5 in hex.
func md5Variable(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "md5 VAR FILE")
	sum := md5.Sum([]byte(ts.ReadFile(args[1])))
	ts.Setenv(args[0], hex.EncodeToString(sum[:]))
}

// damage FILE OFFSET... changes a byte of a file at each offset.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: damage FILE OFFSET...")
	}
	data := []byte(ts.ReadFile(args[0]))
	for _, word := range args[1:] {
		off, err := parseSize(word)
		ts.Check(err)
		data[off] ^= 0xff
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// expand FROM TO copies a file, with the values of variables in place of $NAME and ${NAME}.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "expand FROM TO")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o644))
}

// sameFile FILE FILE compares binary files; cmp would print them.
func sameFile(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same-file FILE FILE")
	}
	if same := ts.ReadFile(args[0]) == ts.ReadFile(args[1]); same == neg {
		ts.Fatalf("%s and %s are the same: %t", args[0], args[1], same)
	}
}

// waitFor FILE waits until a command in the background has made the file.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "wait-for FILE")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not appear", args[0])
		}
	}
}

// exits CODE COMMAND ARG... runs a command that must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	if code := exitCode(ts, err); strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s ended with exit code %d, want %s", args[1], code, args[0])
	}
}

func exitCode(ts *testscript.TestScript, err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// scriptEnv is what a command started beside testscript's own exec needs of the script's environment.
func scriptEnv(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "GORACE",
		"SSL_CERT_FILE", "TMPDIR"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// A doneEvent is the last line of a download's --json output.
type doneEvent struct {
	Event    string
	Sources  []sourceShare
	Resumed  int64
	Size     int64
	Verified bool
	fields   map[string]any
}

// A sourceShare is what one source brought.
type sourceShare struct {
	URL, Host string
	Bytes     int64
}

// parseDone finds the done event in the output of a command with --json.
func parseDone(output string) (e doneEvent, err error) {
	for line := range strings.Lines(output) {
		if !strings.Contains(line, `"event":"done"`) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return e, err
		}
		return e, json.Unmarshal([]byte(line), &e.fields)
	}
	return e, fmt.Errorf("no done event in the output")
}

// done FIELD PATTERN matches a field of the done event that the last command printed.
func done(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] done FIELD PATTERN")
	}
	e, err := parseDone(ts.ReadFile("stdout"))
	ts.Check(err)
	value, ok := e.fields[args[0]]
	if !ok {
		ts.Fatalf("the done event has no %s: %v", args[0], e.fields)
	}
	text, isText := value.(string)
	if !isText {
		raw, err := json.Marshal(value)
		ts.Check(err)
		text = string(raw)
	}
	if regexp.MustCompile(args[1]).MatchString(text) == neg {
		ts.Fatalf("done event: %s is %s", args[0], text)
	}
}

// moreBytes HOST HOST wants that the first brought more than the second in the last download with --json.
func moreBytes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "more-bytes HOST HOST")
	brought := bytesByHost(ts)
	if brought[args[0]] <= brought[args[1]] {
		ts.Fatalf("%s brought no more than %s: %v", args[0], args[1], brought)
	}
}

// shares HOST... wants that each of these hosts brought bytes in the last download with --json; with ! none did.
func shares(ts *testscript.TestScript, neg bool, args []string) {
	brought := bytesByHost(ts)
	for _, host := range args {
		if (brought[host] > 0) == neg {
			ts.Fatalf("%s brought %d bytes (all: %v)", host, brought[host], brought)
		}
	}
}

func bytesByHost(ts *testscript.TestScript) map[string]int64 {
	e, err := parseDone(ts.ReadFile("stdout"))
	ts.Check(err)
	brought := map[string]int64{}
	for _, s := range e.Sources {
		brought[s.Host] += s.Bytes
	}
	return brought
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
}

// parseSize reads a number of bytes with an optional K, M or G (powers of 1024).
func parseSize(s string) (int64, error) {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(s, "KMG"), 10, 64)
	return n << shift, err
}

// digestFields are the header fields that a Metalink server of today sends for data.
func digestFields(data []byte) []string {
	sum := base64SHA256(data)
	return []string{"Digest: SHA-256=" + sum, "Repr-Digest: sha-256=:" + sum + ":"}
}

// mirrorBrainFields are the three lines of MirrorBrain.
func mirrorBrainFields(data []byte) []string {
	m, s := md5.Sum(data), sha1.Sum(data)
	return []string{
		"Digest: MD5=" + base64.StdEncoding.EncodeToString(m[:]),
		"Digest: SHA=" + base64.StdEncoding.EncodeToString(s[:]),
		"Digest: SHA-256=" + base64SHA256(data),
	}
}

func base64SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}
