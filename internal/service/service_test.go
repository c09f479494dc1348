package service

import (
	"errors"
	"io"
	"io/fs"
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
	s := &Service{Job: &job.Defaults{}, State: t.TempDir(), LowestSpeed: 5 << 10, Log: watch.CommandLog(io.Discard, "text", true, false)}
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

// TestFleetErrorCodes: a job that failed for good has the error code that a daemon without a queue gives it. An ending that an
// older worker has stored has that of its kind.
func TestFleetErrorCodes(t *testing.T) {
	f := &FleetJobs{prefix: "daemon-", kind: func(code int) download.Kind { return download.Kind(code) }}
	ended := func(e fleet.Ending) int {
		j, own := f.jobIn(&fleet.Record{Job: fleet.Job{Watch: "daemon-" + queue.GID(7).String()}, State: fleet.Dead, Last: &e, Tries: 1})
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
