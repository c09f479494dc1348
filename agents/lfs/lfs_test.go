package lfs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/source/httpsource"
)

const oid = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9" // SHA-256 of "hello world"

// environment is output of git lfs env with two remotes besides the default one.
const environment = `git-lfs/3.3.0 (GitHub; linux amd64; go 1.19.8)

Endpoint=https://example.com:8443/foo/bar.git/info/lfs (auth=none)
  SSH=git@example.com:/foo/bar.git
Endpoint (up)=https://u:p@example.org/x%20y.git/info/lfs (auth=basic)
Endpoint (sc)=https://github.com/o/r.git/info/lfs (auth=none)
  SSH=git@github.com:o/r.git
LocalMediaDir=/r/.git/lfs/objects
LfsStorageDir=/r s/.git/lfs
`

func TestParseEnv(t *testing.T) {
	for _, tt := range []struct{ remote, endpoint, ssh string }{
		{"origin", "https://example.com:8443/foo/bar.git/info/lfs", "git@example.com:/foo/bar.git"},
		{"up", "https://u:p@example.org/x%20y.git/info/lfs", ""},
		{"sc", "https://github.com/o/r.git/info/lfs", "git@github.com:o/r.git"},
	} {
		p, endpoint := parseEnv(environment, tt.remote)
		if endpoint != tt.endpoint || p.ssh != tt.ssh || p.storage != "/r s/.git/lfs" {
			t.Errorf("%s: %s, %+v", tt.remote, endpoint, p)
		}
	}
}

func TestExpired(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		a    action
		want bool
	}{
		{action{}, false},
		{action{ExpiresAt: "0001-01-01T00:00:00Z"}, false}, // git-lfs writes this if there is no expiry
		{action{ExpiresAt: "2026-11-23T11:59:59Z"}, true},
		{action{ExpiresAt: "2026-11-23T13:59:59+02:00"}, true},
		{action{ExpiresAt: "2026-11-23T12:00:01Z"}, false},
		{action{ExpiresAt: "soon"}, false},
		{action{ExpiresIn: 60, begins: now.Add(-59 * time.Second)}, false},
		{action{ExpiresIn: 60, begins: now.Add(-61 * time.Second)}, true},
		{action{ExpiresIn: 60, begins: now, ExpiresAt: "2026-11-23T11:00:00Z"}, false},
		{action{ExpiresIn: 60}, false},
		{action{ExpiresIn: 1 << 62, begins: now}, false},
		{action{ExpiresIn: -1}, false},
	} {
		if got := tt.a.expired(now); got != tt.want {
			t.Errorf("%+v: %v", tt.a, got)
		}
	}
}

// A talk is a conversation with an Agent. Its method git stands for the git command.
type talk struct {
	t      *testing.T
	server *httptest.Server
	remote string
	asked  []string // commands of git
	told   string   // input of git
	config [][2]string
	out    strings.Builder
	http   *httpsource.Client
}

func newTalk(t *testing.T, handler http.HandlerFunc) *talk {
	k := &talk{t: t, server: httptest.NewServer(handler)}
	t.Cleanup(k.server.Close)
	k.remote = k.server.URL
	return k
}

func (k *talk) git(_ context.Context, c Command) (string, error) {
	line, in := strings.Join(c.Args, " "), c.In
	k.config = append(k.config, c.Config...)
	k.asked = append(k.asked, line)
	k.told += in
	switch {
	case strings.HasSuffix(line, "lfs env"):
		return "Endpoint=" + k.remote + " (auth=none)\nLfsStorageDir=" + k.t.TempDir() + "\n", nil
	case line == "credential fill":
		return in + "username=me\npassword=s3cret\n", nil
	}
	return "", nil
}

// say sends lines to the agent and returns the lines that it writes.
func (k *talk) say(lines ...string) ([]string, error) {
	agent := Agent{
		In: strings.NewReader(strings.Join(append(lines, ""), "\n")), Out: &k.out, Git: k.git,
		Client: func(Settings) (*download.Client, error) { return &download.Client{HTTP: k.http}, nil },
	}
	err := agent.Run(k.t.Context())
	return strings.Split(strings.TrimSpace(k.out.String()), "\n"), err
}

const (
	first = `{"event":"init","operation":"download","remote":"origin","concurrent":true,"concurrenttransfers":8}`
	last  = `{"event":"terminate"}`
)

// TestTalk checks the messages of git-lfs, including ones that it should never send.
func TestTalk(t *testing.T) {
	get := `{"event":"download","oid":"` + oid + `","size":11,"action":null}`
	for _, tt := range []struct {
		name  string
		lines []string
		said  string // part of the last line
		fails bool
	}{
		{"nothing", nil, "", false},
		{"only the end", []string{last}, "", false},
		{"begun and gone", []string{first}, "{}", false},
		{"an object", []string{first, get, last}, `"path":`, false},
		{"no init", []string{get}, "", true},
		{"no JSON", []string{"hello"}, "", true},
		{"no JSON later", []string{first, "hello"}, "{}", true},
		{"a list", []string{first, "[]"}, "{}", true},
		{"an event of tomorrow", []string{first, `{"event":"verify","oid":"` + oid + `"}`, last}, `the event \"verify\"`, false},
		{"an event without an object", []string{first, `{"event":"pause"}`, last}, "{}", true},
		{"another name", []string{first, `{"event":"download","oid":"../../x","size":1}`, last},
			`want an object ID of 64 digits`, false},
		{"capital letters", []string{first, `{"event":"download","oid":"` + strings.ToUpper(oid) + `","size":1}`, last},
			`want an object ID of 64 digits`, false},
		{"less than nothing", []string{first, `{"event":"download","oid":"` + oid + `","size":-1}`, last},
			`the size is -1`, false},
		{"an odd place", []string{first, `{"event":"download","oid":"` + oid +
			`","size":11,"action":{"href":"file:///etc/passwd"}}`, last}, "no http or https URL", false},
		{"a long line", []string{first, strings.Repeat("x", mostLine+1)}, "{}", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, answer)
			said, err := k.say(tt.lines...)
			if got := said[len(said)-1]; (err != nil) != tt.fails || !strings.Contains(got, tt.said) ||
				tt.said == "" && got != "" {
				t.Errorf("%q, %v", said, err)
			}
			if tt.fails && !errors.Is(err, errProtocol) {
				t.Error(err)
			}
		})
	}
}

// TestNear_Rule63 checks that a server cannot make the agent ask an address that is nearer than itself, neither by the action
// that git-lfs sends nor by its answer to the agent.
func TestNear_Rule63(t *testing.T) {
	for _, tt := range []struct {
		endpoint, object string
		asked            []string
		path             bool
	}{
		{"http://lfs.example", "127.0.0.1", []string{"lfs.example/objects/batch"}, false},
		{"http://10.0.0.1", "127.0.0.1", nil, false},
		{"http://10.0.0.1", "10.0.0.2", []string{"10.0.0.2/it"}, true},
		{"http://127.0.0.1", "127.0.0.1", []string{"127.0.0.1/it"}, true},
		{"http://127.0.0.1", "cdn.example", []string{"cdn.example/it"}, true},
	} {
		var asked []string
		k := newTalk(t, answer)
		k.remote, k.http = tt.endpoint, &httpsource.Client{Transport: transport(func(r *http.Request) *http.Response {
			asked = append(asked, r.URL.Hostname()+r.URL.Path)
			w := httptest.NewRecorder()
			r.Host = tt.object
			answer(w, r)
			return w.Result()
		})}
		action := `,"action":{"href":"http://` + tt.object + `/it"}}`
		said, err := k.say(first, `{"event":"download","oid":"`+oid+`","size":11`+action, last)
		if end := said[len(said)-1]; err != nil || !slices.Equal(asked, tt.asked) || strings.Contains(end, `"path"`) != tt.path {
			t.Errorf("%s names %s: asked for %q, want %q; %s, %v", tt.endpoint, tt.object, asked, tt.asked, end, err)
		}
	}
}

// A transport answers requests.
type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// answer handles the requests to a server that has one object.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/objects/batch" {
		io.WriteString(w, "hello world")
		return
	}
	io.WriteString(w, `{"objects": [{"oid": "`+oid+`", "actions": {"download": {"href": "http://`+r.Host+`/it"}}}]}`)
}

// TestBatch checks the responses of servers to a batch request.
func TestBatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string
		status []int // of the first responses
		said   string
	}{
		{"no JSON", "hello", nil, "the answer is not JSON"},
		{"nothing", "{}", nil, "the answer is about other objects"},
		{"another hash", `{"hash_algo":"blake3"}`, nil, "hash algorithm"},
		{"no action", `{"objects":[{"oid":"` + oid + `"}]}`, nil, "the object does not exist"},
		{"an error", `{"objects":[{"oid":"` + oid + `","error":{"code":410,"message":"removed"}}]}`, nil, "410 removed"},
		{"too much", strings.Repeat(" ", mostAnswer+1), nil, "more than 4194304 bytes"},
		{"no", `{"message":"quota"}`, []int{507}, "507 quota"},
		{"not found", ``, []int{404}, "404 Not Found"},
		{"a place in our network", `{"objects":[{"oid":"` + oid +
			`","actions":{"download":{"href":"http://10.255.255.1/it"}}}]}`, nil, "a private address"},
		{"busy", "", []int{503, 429}, `"path":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			k := newTalk(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				if n <= len(tt.status) {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(tt.status[n-1])
				} else if tt.answer == "" {
					answer(w, r)
					return
				}
				io.WriteString(w, tt.answer)
			})
			said, err := k.say(first, `{"event":"download","oid":"`+oid+`","size":11}`, last)
			if got := said[len(said)-1]; err != nil || !strings.Contains(got, tt.said) {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}

// TestLeft checks that a complete object left by a killed git-lfs is used an hour later if its digest is right, and
// removed otherwise.
func TestLeft(t *testing.T) {
	s := session{folder: t.TempDir()}
	name := filepath.Join(s.folder, oid+"-braid")
	for _, tt := range []struct {
		text       string
		age        time.Duration
		used, kept bool
	}{{"hello world", 2 * time.Hour, true, true}, {"hello world", time.Minute, false, true},
		{"hello worle", 2 * time.Hour, false, false}} {
		if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-tt.age)); err != nil {
			t.Fatal(err)
		}
		got := s.left(oid)
		if _, err := os.Lstat(name); (got == name) != tt.used || (err == nil) != tt.kept {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, folder := range []string{"http://h", "http://h/", "http://h/a", "http://h/a/"} {
		u, err := url.Parse(folder)
		if got := below(u, "b", "c").String(); err != nil || got != strings.TrimSuffix(folder, "/")+"/b/c" ||
			!strings.HasPrefix(below(u, "b").Path, "/") {
			t.Error(folder, got)
		}
	}
}

// FuzzMessage checks that every accepted message has a valid object ID and size.
func FuzzMessage(f *testing.F) {
	for _, line := range []string{first, last,
		`{"event":"download","oid":"` + oid +
			`","size":11,"action":{"href":"http://h/","header":{"a":"b"},"expires_at":"2026-11-23T11:59:59Z"}}`, "[]",
		`{"size":1e99}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, err := parseMessage([]byte(line))
		if err != nil {
			return
		}
		if m.check() == nil && (len(m.OID) != 64 || strings.Trim(m.OID, "0123456789abcdef") != "" || m.Size < 0) {
			t.Errorf("%+v", m)
		}
		if m.Action != nil {
			m.Action.expired(time.Now())
			m.Action.fields()
		}
		again, err := json.Marshal(m)
		if err != nil || !json.Valid(again) {
			t.Errorf("%+v: %v", m, err)
		}
	})
}
