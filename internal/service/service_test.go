package service

import (
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"braid/daemon/queue"
	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
	"braid/source"
)

// TestDocumentIsGone checks that an entry of a document without the document, as an older queue may have it, is an error.
func TestDocumentIsGone(t *testing.T) {
	if _, err := new(Service).described(t.Context(), queue.Entry{Following: 7}, download.Request{}); err == nil {
		t.Error("no error")
	}
}

// TestLowestSpeed checks that the service's lowest speed is that of its client.
func TestLowestSpeed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := &Service{Job: &job.Defaults{}, State: t.TempDir(), LowestSpeed: 5 << 10,
		Log: watch.CommandLog(io.Discard, "text", true, false)}
	s.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	engine, client, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if client.LowestSpeed != s.LowestSpeed {
		t.Errorf("%d bytes a second, want %d", client.LowestSpeed, s.LowestSpeed)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

// TestNetrcOfClients: a client's server gets a password of the netrc file only if the file names it, over TLS or on the
// default port.
func TestNetrcOfClients(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("default login me password d\nmachine named.example login me password n\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := &Service{Job: &job.Defaults{}, Root: t.TempDir(), State: t.TempDir(),
		Log: watch.CommandLog(io.Discard, "text", true, false)}
	s.Job.HTTP.Sites, s.Job.HTTP.NetrcFile, s.Job.Dir = job.NewSites(&job.Settings{}), netrc, s.Root
	engine, client, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"http://other.example/f": "", "https://other.example/f": "", "ftp://other.example/f": "",
		"http://named.example:8080/f": "",
		"ftp://named.example:80/f":    "", "http://me@named.example:443/f": "me", "http://me:own@named.example:81/f": "me:own",
		"http://named.example/f": "me:n", "http://named.example:80/f": "me:n", "https://named.example:8443/f": "me:n",
		"ftp://named.example/f": "me:n", "ftps://me@named.example:99/f": "me:n", "https://you@named.example/f": "you",
	} {
		r, err := s.request(t.Context(), queue.Entry{URIs: []string{word}})
		if err != nil || r.Access.User.String() != want {
			t.Errorf("%s: %v, %v, want %q", word, r.Access.User, err, want)
		}
		u, err := url.Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Credentials(u).String(); got != want {
			t.Errorf("mirror %s: %s, want %q", word, got, want)
		}
	}
	for field, ok := range map[string]bool{"Host: named.example": true, "host:NAMED.example": true,
		"Host: other.example": false} {
		e := queue.Entry{URIs: []string{"https://named.example/f"}, Options: map[string]string{"header": "X: y\n" + field}}
		if _, err := s.request(t.Context(), e); (err == nil) != ok { // another server at this address would get the password
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

// TestFleetErrorCodes: a job that failed for good has the error code that a daemon without a queue gives it. An ending that an
// older worker has stored has that of its kind.
func TestFleetErrorCodes(t *testing.T) {
	f := &FleetJobs{prefix: "daemon-", kind: func(code int) download.Kind { return download.Kind(code) }}
	ended := func(e fleet.Ending) int {
		j, own := f.jobIn(&fleet.Record{Job: fleet.Job{Watch: "daemon-" + queue.GID(7).String()}, State: fleet.Dead,
			Last: &e, Tries: 1})
		if !own || j.Status != queue.Failed {
			t.Fatalf("it is %v, own %v", j.Status, own)
		}
		return j.Outcome.Code
	}
	for _, tt := range []struct {
		err         error
		want, older int
	}{
		{&download.Error{Kind: download.Local, What: "file", Err: fs.ErrExist}, 13, 1},
		{&download.Error{Kind: download.Refused, What: "download", Err: &source.Error{Status: 404}}, 3, 22},
		{&download.Error{Kind: download.Mismatch, What: "download", Err: errors.New("e")}, 32, 32},
		{problem.Misuse("split", "write a number", ""), 28, 28},
	} {
		e := fleet.Ending{Code: int(problem.OfDownload(tt.err).Kind), Aria2: problem.Aria2Code(tt.err)} // as workers do
		if got := ended(e); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
		if e.Aria2 = 0; ended(e) != tt.older {
			t.Errorf("%v, of an older worker: %d, want %d", tt.err, ended(e), tt.older)
		}
	}
}
