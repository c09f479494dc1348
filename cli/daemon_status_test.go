package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStatusOfAll: however long the queue is, all of it is told, in parts that a daemon answers with; what moves
// meanwhile is told once.
func TestStatusOfAll(t *testing.T) {
	const waiting, most = 50_123, 50_000
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Method string
			Params []any
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		list := []any{}
		entry := func(i int, status string) {
			list = append(list, map[string]any{"gid": fmt.Sprintf("%016x", i), "status": status})
		}
		if asked.Method == "aria2.tellWaiting" {
			offset, n := int(asked.Params[1].(float64)), int(asked.Params[2].(float64))
			if n > most {
				t.Errorf("%d at once", n)
			}
			for i := offset; i < min(offset+n, waiting); i++ {
				entry(i, "waiting")
			}
		}
		if asked.Method == "aria2.tellStopped" && asked.Params[1].(float64) == 0 {
			entry(7, "complete")
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"result": list}); err != nil {
			t.Error(err)
		}
	}))
	defer daemon.Close()
	var out bytes.Buffer
	c := &controlCommand{streams: streams{out: &out, err: &out}, verb: "status"}
	c.http.Transport = &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", daemon.Listener.Addr().String())
		}}
	if err := c.status(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != waiting {
		t.Errorf("%d of %d are told", n, waiting)
	}
	if n := strings.Count(out.String(), "complete"); n != 1 {
		t.Errorf("%d are complete", n)
	}
}

// TestStatusWaits: the daemon and the command tell what an entry waits for.
func TestStatusWaits(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "3")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	d := newDaemonRun(t)
	d.start("-j", "1")
	defer d.end()
	for _, name := range []string{"a", "b", "c"} {
		if _, failure := d.call("aria2.addUri", []string{s.URL + "/" + name}); failure != "" {
			t.Fatal(failure)
		}
	}
	waitFor(t, "a download", func() bool {
		active, _ := d.call("aria2.tellActive", []string{"gid"})
		list, _ := active.([]any)
		return len(list) == 1
	})
	if table, _ := d.control(exitDone, "status"); !strings.Contains(table, "waits for a free place: at most 1 at once") {
		t.Error(table)
	}
}
