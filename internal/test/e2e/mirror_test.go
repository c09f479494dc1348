package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/proxytest"
	"braid/verify"
)

// A scriptState is what the commands of one script share.
type scriptState struct {
	t       testing.TB
	mirrors map[string]*mirrortest.Server
	ftp     map[string]*ftptest.Server
	proxies map[string]*proxytest.Server
}

// stateKey is where a script's environment keeps its scriptState.
type stateKey struct{}

func stateOf(ts *testscript.TestScript) *scriptState { return ts.Value(stateKey{}).(*scriptState) }

// mirrorOf finds the server that "mirror NAME" started.
func mirrorOf(ts *testscript.TestScript, name string) *mirrortest.Server {
	s, ok := stateOf(ts).mirrors[name]
	if !ok {
		ts.Fatalf("there is no mirror %s", name)
	}
	return s
}

// startMirror is "mirror NAME FILE WORD...": a server with one file, whose misbehaviour the words describe. It
// sets NAME to the URL of the file, NAME_HOST to host:port and NAME_PORT to the port. For an existing NAME, "mirror NAME WORD..."
// changes what the server does from now on.
func startMirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mirror NAME FILE WORD... or, later, mirror NAME WORD...")
	}
	state, name := stateOf(ts), args[0]
	if s, ok := state.mirrors[name]; ok {
		s.Set(optionsOf(ts, mirrorOption, args[1:])...)
		return
	}
	options := append(optionsOf(ts, mirrorOption, args[2:]), mirrortest.Name(filepath.Base(args[1])))
	s := mirrortest.New(state.t, []byte(ts.ReadFile(args[1])), options...)
	state.mirrors[name] = s
	setServer(ts, name, s.URL, s.Addr)
	if s.CertPEM != nil {
		authority := ts.MkAbs("." + name + ".pem")
		ts.Check(os.WriteFile(authority, s.CertPEM, 0o644))
		ts.Setenv("SSL_CERT_FILE", authority)
	}
}

// setServer tells a script where a server is.
func setServer(ts *testscript.TestScript, name, url, addr string) {
	ts.Setenv(name, url)
	ts.Setenv(name+"_HOST", addr)
	ts.Setenv(name+"_PORT", addr[strings.LastIndexByte(addr, ':')+1:])
}

// optionsOf are the options that words of a script name, KEY or KEY=VALUE each.
func optionsOf[O any](ts *testscript.TestScript, option func(ts *testscript.TestScript, key, value string) (O, error),
	words []string) (options []O) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		o, err := option(ts, key, value)
		if err != nil {
			ts.Fatalf("%s: %v", word, err)
		}
		options = append(options, o)
	}
	return options
}

// mirrorOption is the option that a word of a script names.
func mirrorOption(ts *testscript.TestScript, key, value string) (mirrortest.Option, error) {
	switch key {
	case "tls":
		return mirrortest.TLS(nil), nil
	case "at":
		return mirrortest.At(value), nil
	case "login": // login=Digest:USER:PASSWORD
		words := strings.SplitN(value, ":", 3)
		if len(words) < 3 {
			return nil, fmt.Errorf("want SCHEME:USER:PASSWORD")
		}
		return mirrortest.Login(words[0], words[1], words[2]), nil
	case "digest":
		return digestOption(ts, value)
	case "content-digest":
		return mirrortest.ContentDigest(), nil
	case "nodigest":
		return mirrortest.Digest(verify.Digest{}), nil
	case "beside": // beside=NAME:FILE
		name, file, _ := strings.Cut(value, ":")
		return mirrortest.Document("/"+name, "text/plain", []byte(ts.ReadFile(file))), nil
	case "ignore-range":
		return mirrortest.IgnoreRange(), nil
	case "until-close":
		return mirrortest.UntilClose(), nil
	case "content-length":
		return mirrortest.ContentLength(value), nil
	case "redirect":
		return mirrortest.Redirect(value), nil
	case "etag":
		return mirrortest.ETag(value), nil
	case "header":
		name, value, _ := strings.Cut(value, ": ")
		return mirrortest.Header(name, value), nil
	case "link":
		target, params, _ := strings.Cut(value, ";")
		return mirrortest.Link(fmt.Sprintf("<%s>; rel=duplicate; %s", target, params)), nil
	case "modified":
		t, err := time.Parse(time.RFC3339, value)
		return mirrortest.Modified(t), err
	case "latency":
		d, err := time.ParseDuration(value)
		return mirrortest.Latency(d), err
	case "status":
		code, err := strconv.Atoi(value)
		return mirrortest.Status(code), err
	}
	return sizeOption(key, value)
}

// sizeOption is the option of a word whose value is a number of bytes.
func sizeOption(key, value string) (mirrortest.Option, error) {
	option, ok := map[string]func(int64) mirrortest.Option{
		"rate":    mirrortest.Rate,
		"cut":     mirrortest.CutAfter,
		"reset":   mirrortest.ResetAfter,
		"stall":   mirrortest.StallAfter,
		"die":     mirrortest.DieAfter,
		"longer":  mirrortest.BodyLonger,
		"corrupt": func(off int64) mirrortest.Option { return mirrortest.Corrupt(off) },
		"rotten":  rotten,
	}[key]
	if !ok {
		return nil, fmt.Errorf("no such word")
	}
	n, err := parseSize(value)
	return option(n), err
}

// rotten corrupts a byte of each so many.
func rotten(step int64) mirrortest.Option {
	var offsets []int64
	for off := step / 2; off < 32<<20; off += step {
		offsets = append(offsets, off)
	}
	return mirrortest.Corrupt(offsets...)
}

// digestOption sends the SHA-256 of the mirror's own file or, with a value, of the file that this names.
func digestOption(ts *testscript.TestScript, file string) (mirrortest.Option, error) {
	if file == "" {
		return mirrortest.Digest(), nil
	}
	sum := sha256.Sum256([]byte(ts.ReadFile(file)))
	d, err := verify.NewDigest(verify.SHA256, sum[:])
	return mirrortest.Digest(d), err
}

// asked NAME PATTERN matches the request lines and header fields that a mirror received.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] asked NAME PATTERN")
	}
	var lines strings.Builder
	for _, r := range mirrorOf(ts, args[0]).Requests() {
		fmt.Fprintf(&lines, "%s %s\n", r.Method, r.Path)
		for name, values := range r.Header {
			for _, v := range values {
				fmt.Fprintf(&lines, "%s: %s\n", name, v)
			}
		}
	}
	if regexp.MustCompile("(?m)"+args[1]).MatchString(lines.String()) == neg {
		ts.Fatalf("%s received:\n%s", args[0], lines.String())
	}
}

// sent NAME MIN MAX bounds the body bytes that a mirror sent in all.
func sent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "sent NAME MIN MAX")
	least, err := parseSize(args[1])
	ts.Check(err)
	most, err := parseSize(args[2])
	ts.Check(err)
	if got := mirrorOf(ts, args[0]).Sent(); got < least || got > most {
		ts.Fatalf("%s sent %d bytes, want %d to %d", args[0], got, least, most)
	}
}

// oneAtATime NAME... wants that no mirror ever had two requests at once (C7).
func oneAtATime(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if n := mirrorOf(ts, name).MaxConcurrent(); (n > 1) != neg {
			ts.Fatalf("%s had %d requests at one time", name, n)
		}
	}
}
