package antenna

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHide_Rule62 checks that a secret that a server sends back is neither stored nor shown.
func TestHide_Rule62(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "s3cret"
		w, _, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		a.Hide = strings.NewReplacer(secret, "***").Replace
		a.Feeds = append(a.Feeds, Feed{Name: "echo", URL: "https://echo.example/", Header: http.Header{"X-Key": {secret}}})
		w.sites["echo.example"] = func(req *http.Request) *http.Response { return says(200, "<p>"+req.Header.Get("X-Key")) }
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("told " + secret) }
		watchFor(t, a, j, time.Hour)
		status, err := a.Status(t.Context())
		if text := fmt.Sprintf("%+v", status); err != nil || strings.Contains(text, secret) || strings.Count(text, "***") != 2 {
			t.Errorf("status: %s, %v", text, err)
		}
		closed(t, a.Store)
		data, err := os.ReadFile(filepath.Join(dir, "antenna.db"))
		if err != nil || bytes.Contains(data, []byte(secret)) {
			t.Errorf("the store has the secret, %v", err)
		}
	})
}
