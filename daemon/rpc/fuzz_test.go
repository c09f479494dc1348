package rpc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
)

// someWorld returns a handler for a queue with entries in all states. The queue is always the same.
func someWorld() (*Handler, *engine) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files", Token: secret, Now: func() time.Time { return time.Unix(1e9, 0) },
		Wait: func(context.Context, time.Duration) {}, Shutdown: func() {}})
	h.session = "s"
	for i, status := range []queue.Status{queue.Complete, queue.Failed, queue.Paused, queue.Active, queue.Waiting} {
		g, _ := e.q.Add(h.Now(), queue.Entry{GID: queue.GID(0xa0 + i), URIs: []string{"http://u:p@h/x"},
			Options: map[string]string{"http-passwd": "p"}}, 0)
		if status != queue.Waiting {
			e.end(g, status)
		}
		if status == queue.Paused {
			e.q.Pause(g)
		}
	}
	return h, e
}

var fuzzSeeds = []string{
	`{}`, `[]`, `{"id":1}`, `[[[]]]`,
	`{"id":{},"method":"system.multicall","params":[[{"methodName":"system.multicall","params":[[]]}]]}`,
	object("aria2.addUri", "x", with([]string{"http://h/"}, map[string]any{"header": []string{"A: b"},
		"gid": "00000000000000ff"}, 3)...),
	object("aria2.addUri", 1, with([]string{"http://secret-of-00000000000000a0@h/"},
		map[string]any{"http-passwd": "secret-of-00000000000000a3"})...),
	object("aria2.addTorrent", 1, with(base64.StdEncoding.EncodeToString([]byte(torrent)))...),
	object("aria2.addMetalink", 1,
		with("PG1ldGFsaW5rIHhtbG5zPSJ1cm46aWV0ZjpwYXJhbXM6eG1sOm5zOm1ldGFsaW5rIj48L21ldGFsaW5rPg==")...),
	object("aria2.tellStatus", 1, with("00000000000000a3", []string{"bitfield", "braid"})...),
	object("aria2.tellStopped", 1, with(-1, 3)...),
	object("aria2.changeUri", 1, with("00000000000000a2", 1, []string{},
		[]string{"magnet:?xt=urn:btih:0123456789012345678901234567890123456789"}, 9)...),
	object("aria2.changePosition", 1, with("00000000000000a2", -9223372036854775808, "POS_END")...),
	object("aria2.changePosition", 1, with("00000000000000a2", 9223372036854775807, "POS_CUR")...),
	object("aria2.tellWaiting", 1, with(-9223372036854775808, 9223372036854775807)...),
	object("aria2.getOption", 1, with("00000000000000a0")...), object("aria2.changeGlobalOption", 1,
		with(map[string]any{"dir": "x"})...),
	`[{"id":1e400,"method":"aria2.getVersion"},{"id":"\ud800","method":"\u0000"}]`,
	`{"id":1,"method":"aria2.tellActive","params":["token:s3cret",[null]]}`,
}

// FuzzRequest checks that every request gets a JSON-RPC answer with the id of each call, or an HTTP error, without a
// secret.
func FuzzRequest(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h, _ := someWorld()
		checkAnswer(t, say(h, string(body)))
		values := url.Values{"method": {"system.listMethods"}, "id": {"1"}, "params": {base64.StdEncoding.EncodeToString(body)}}
		for range 2 {
			r := httptest.NewRequest("GET", "http://localhost/jsonrpc?"+values.Encode(), nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			checkAnswer(t, w)
			delete(values, "method")
		}
	})
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Header().Get("Content-Type") != "application/json-rpc" {
		if w.Code < 400 || w.Code >= 500 {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		return
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		var one map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		list = append(list, one)
	}
	for _, one := range list {
		_, failed := one["error"]
		_, worked := one["result"]
		if _, ok := one["id"]; !ok || string(one["jsonrpc"]) != `"2.0"` || failed == worked {
			t.Fatalf("no answer of JSON-RPC: %s", w.Body)
		}
	}
	if strings.Contains(w.Body.String(), ":p@h") {
		t.Fatalf("a password: %s", w.Body)
	}
}

// FuzzBatch checks that a batch has the same results, and leaves the same queue, as its calls one after the other. So
// does a system.multicall.
func FuzzBatch(f *testing.F) {
	for i, seed := range fuzzSeeds {
		f.Add([]byte("[" + seed + "," + fuzzSeeds[(i+1)%len(fuzzSeeds)] + "]"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var calls []json.RawMessage
		if depth, _ := extent(append(body, body...)); json.Unmarshal(body, &calls) != nil || len(calls) == 0 ||
			depth > mostDepth {
			return
		}
		together, one := someWorld()
		alone, two := someWorld()
		var answers []json.RawMessage
		if err := json.Unmarshal(say(together, string(body)).Body.Bytes(), &answers); err != nil {
			t.Fatal(err)
		}
		for i, call := range calls {
			if call[0] == '[' {
				return // a list alone would be a batch
			}
			got := strings.TrimSpace(say(alone, string(call)).Body.String())
			if got != string(answers[i]) {
				t.Fatalf("call %d, %s:\nalone %s\nin the batch %s", i, call, got, answers[i])
			}
		}
		if a, b := fmt.Sprintf("%+v", one.q.Since(0).Entries), fmt.Sprintf("%+v", two.q.Since(0).Entries); a != b {
			t.Fatalf("the queue is\n%s\nafter single calls, and after the batch\n%s", b, a)
		}
	})
}

// TestMulticallIsSingleCalls checks the same for system.multicall, whose results are in lists but not its errors.
func TestMulticallIsSingleCalls(t *testing.T) {
	together, _ := someWorld()
	alone, _ := someWorld()
	var calls []any
	var want []string
	for _, seed := range fuzzSeeds {
		var c struct {
			ID     any
			Method string
			Params []any
		}
		if json.Unmarshal([]byte(seed), &c) != nil || c.Method == "" || c.Method == "system.multicall" {
			continue
		}
		calls = append(calls, map[string]any{"methodName": c.Method, "params": c.Params})
		var got struct{ Result, Error json.RawMessage }
		if err := json.Unmarshal(say(alone, object(c.Method, 1, c.Params...)).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Error != nil {
			want = append(want, string(got.Error))
		} else {
			want = append(want, "["+string(got.Result)+"]")
		}
	}
	var got struct{ Result []json.RawMessage }
	if err := json.Unmarshal(say(together, object("system.multicall", 1, calls)).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if string(got.Result[i]) != want[i] {
			t.Errorf("%v:\nalone %s\ntogether %s", calls[i], want[i], got.Result[i])
		}
	}
}
