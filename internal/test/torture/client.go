package torture

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// request is a download, independent of the client that performs it.
type request struct {
	urls     []string // of one file
	document string   // a Metalink document on disk, in place of urls
	names    []string // the final names; if empty, "file.bin"
	noName   bool     // the client chooses the name: no -o
	sha256   string   // digest that the file must have
	user     string   // "name:password" for the first URL
	headers  []string // for the first URL
	ca       string   // file of trusted authorities
	maxSize  int64    // if not 0

	// flags and command are those of braid. A case that sets them is for braid only. So is a case with alone set, which
	// could make other clients connect to another machine.
	flags   []string
	command []string // replaces get
	alone   bool
}

// fileName is the default name of the file.
const fileName = "file.bin"

// finals returns the final names; a command that downloads nothing has none.
func (r request) finals() []string {
	if len(r.names) == 0 && len(r.command) == 0 {
		return []string{fileName}
	}
	return r.names
}

// client converts a request to a command line, or reports false if it does not support the request. All clients get
// about the same limits: two seconds of silence, and a second try.
type client struct {
	name    string
	program string
	line    func(r request) (args []string, ok bool)
}

var clients = []client{
	{"braid", "braid", braidLine},
	{"aria2", "aria2c", aria2Line},
	{"curl", "curl", curlLine},
	{"wget2", "wget2", wget2Line},
}

func braidLine(r request) ([]string, bool) {
	if len(r.command) > 0 {
		return slices.Concat(r.command, r.flags), true
	}
	args := []string{"get", "-v", "--timeout", "4s", "--connect-timeout", "4s", "--tries", "2", "--retry-wait", "100ms"}
	if r.document == "" && !r.noName {
		args = append(args, "-o", r.finals()[0])
	}
	args = appendFlag(args, "--sha256", r.sha256)
	args = appendFlag(args, "-u", r.user)
	for _, h := range r.headers {
		args = append(args, "-H", h)
	}
	if r.maxSize > 0 {
		args = append(args, "--max-size", fmt.Sprint(r.maxSize))
	}
	args = append(args, r.flags...)
	if r.document != "" {
		return append(args, r.document), true
	}
	for i, u := range r.urls {
		if i > 0 {
			args = append(args, "--mirror")
		}
		args = append(args, u)
	}
	return args, true
}

func aria2Line(r request) ([]string, bool) {
	if r.braidOnly() || r.maxSize > 0 {
		return nil, false
	}
	args := []string{"--timeout=2", "--connect-timeout=2", "--max-tries=2", "--retry-wait=1", "--enable-color=false",
		"--summary-interval=0", "--show-console-readout=false", "--file-allocation=none", "--no-conf=true", "--follow-torrent=false"}
	if r.document != "" {
		return append(args, "--metalink-file="+r.document), true
	}
	if !r.noName {
		args = append(args, "--out="+r.finals()[0])
	}
	if r.sha256 != "" {
		args = append(args, "--checksum=sha-256="+r.sha256)
	}
	if name, password, ok := strings.Cut(r.user, ":"); ok {
		args = append(args, "--http-user="+name, "--http-passwd="+password, "--http-auth-challenge=false")
	}
	for _, h := range r.headers {
		args = append(args, "--header="+h)
	}
	if r.ca != "" {
		args = append(args, "--ca-certificate="+r.ca)
	}
	return append(args, r.urls...), true
}

func curlLine(r request) ([]string, bool) {
	if r.braidOnly() || r.document != "" || r.sha256 != "" || len(r.urls) > 1 {
		return nil, false
	}
	args := []string{"-q", "-L", "-f", "-S", "-s", "--connect-timeout", "2", "--speed-time", "2", "--speed-limit", "1", "--retry", "1", "--retry-max-time", "10"}
	if r.noName {
		args = append(args, "-O")
	} else {
		args = append(args, "-o", r.finals()[0])
	}
	args = appendFlag(args, "-u", r.user)
	for _, h := range r.headers {
		args = append(args, "-H", h)
	}
	args = appendFlag(args, "--cacert", r.ca)
	if r.maxSize > 0 {
		args = append(args, "--max-filesize", fmt.Sprint(r.maxSize))
	}
	return append(args, r.urls...), true
}

func wget2Line(r request) ([]string, bool) {
	if r.braidOnly() || r.sha256 != "" || r.maxSize > 0 || len(r.urls) > 1 || len(r.urls) > 0 && strings.HasPrefix(r.urls[0], "ftp") {
		return nil, false
	}
	args := []string{"--no-config", "--timeout=2", "--tries=2", "--waitretry=1", "--no-robots", "--progress=none"}
	if r.document != "" {
		return append(args, "--input-file="+r.document, "--force-metalink"), true
	}
	if !r.noName {
		args = append(args, "-O", r.finals()[0])
	}
	if name, password, ok := strings.Cut(r.user, ":"); ok {
		args = append(args, "--http-user="+name, "--http-password="+password)
	}
	for _, h := range r.headers {
		args = append(args, "--header="+h)
	}
	if r.ca != "" {
		args = append(args, "--ca-certificate="+r.ca)
	}
	return append(args, r.urls...), true
}

func (r request) braidOnly() bool { return r.alone || len(r.flags) > 0 || len(r.command) > 0 }

func appendFlag(args []string, name, value string) []string {
	if value == "" {
		return args
	}
	return append(args, name, value)
}

// work reports whether a path in the target folder is a file that a client may create for a final name: the name
// itself, a journal, or a file set aside.
func (r request) work(path string) bool {
	if strings.Contains(path, string(filepath.Separator)) && !slices.Contains(r.finals(), path) {
		return slices.ContainsFunc(r.finals(), func(name string) bool { return strings.HasPrefix(path, name+".") })
	}
	return slices.ContainsFunc(r.finals(), func(name string) bool {
		return path == name || strings.HasPrefix(path, name+".") || strings.HasPrefix(path, "."+name)
	})
}

// hostPort returns the host and port of a URL.
func hostPort(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
