package service

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/job"
	"braid/internal/watch"
)

// TestHandler: clients get the limit of the time of day, and a session has nothing that a list may not have.
func TestHandler(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := &Service{Job: &job.Defaults{}, Root: t.TempDir(), State: t.TempDir(),
		Log: watch.CommandLog(io.Discard, "text", true, false)}
	s.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	engine, _, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	defer func() {
		if stop(); <-ended != nil {
			t.Error("the queue failed")
		}
	}()
	h := s.handler(engine, stop)
	call := func(method, params string) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/jsonrpc",
			strings.NewReader(fmt.Sprintf(`{"id":1,"method":"aria2.%s","params":[%s]}`, method, params))))
		if w.Code != 200 {
			t.Errorf("%s: %s", method, w.Body)
		}
		return w.Body.String()
	}
	for _, limit := range []int64{12345, 54321} {
		if s.rate.schedule(limit); !strings.Contains(call("getGlobalOption", ""),
			fmt.Sprintf(`"max-overall-download-limit":"%d"`, limit)) {
			t.Errorf("the limit is not %d", limit)
		}
	}
	call("changeGlobalOption", `{"save-session":"list"}`)
	call("addUri", `["http://127.0.0.1:1/a"],{"pause":"true","bt-force-encryption":"true"}`)
	call("saveSession", "")
	if list, err := os.ReadFile(filepath.Join(s.Root, "list")); err != nil ||
		!strings.Contains(string(list), " pause=true\n") || strings.Contains(string(list), "encryption") {
		t.Errorf("%q, %v", list, err)
	}
}
