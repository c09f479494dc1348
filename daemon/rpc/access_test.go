package rpc

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ask sends a request with a Host field and other fields, and returns the response.
func ask(h http.Handler, method, host string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+"/jsonrpc", strings.NewReader(object("system.listNotifications", 1)))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHost_Rule67 checks that a page that had its own name resolved to this machine is refused.
func TestHost_Rule67(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv", Token: secret, Hosts: []string{"Nas.example"}})
	for host, want := range map[string]int{
		"localhost": 200, "localhost:6800": 200, "LOCALHOST:1": 200, "a.localhost:6800": 200, "127.0.0.1:6800": 200,
		"127.9.9.9":  200,
		"[::1]:6800": 200, "[::1]": 200, "nas.example:6800": 200, "nas.example": 200,
		"page.example:6800": 403, "localhost.page.example": 403, "127.0.0.1.page.example": 403, "192.0.2.1": 403,
		"[2001:db8::1]:1": 403,
		"alocalhost":      403, "2130706433": 403,
	} {
		if got := ask(h, "POST", host).Code; got != want {
			t.Errorf("Host: %s: %d, want %d", host, got, want)
		}
	}
	r := httptest.NewRequest("POST", "http://192.0.2.1:6800/jsonrpc", strings.NewReader(object("system.listNotifications", 1)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &localAddr{"192.0.2.1:6800"})))
	if w.Code != 200 {
		t.Errorf("the address that was connected to: %d", w.Code)
	}
}

type localAddr struct{ text string }

func (a *localAddr) Network() string { return "tcp" }
func (a *localAddr) String() string  { return a.text }

// TestOrigin_Rule67 checks that pages of this server and of allowed origins may ask, and that others are refused, even
// if they send no Origin field.
func TestOrigin_Rule67(t *testing.T) {
	token := New(newEngine(), Options{Root: "/srv", Token: secret, Origins: []string{"https://ui.example", "null"}})
	open := New(newEngine(), Options{Root: "/srv"})
	all := New(newEngine(), Options{Root: "/srv", Origins: []string{"*"}})
	for _, tt := range []struct {
		h             http.Handler
		origin, fetch string
		want          int
	}{
		{token, "", "", 200},
		{token, "", "none", 200},
		{token, "", "same-origin", 200},
		{token, "", "same-site", 403},
		{token, "", "cross-site", 403},
		{token, "http://localhost:6800", "same-origin", 200},
		{token, "http://localhost:8080", "same-site", 403},
		{token, "https://ui.example", "cross-site", 200},
		{token, "null", "cross-site", 200},
		{token, "http://ui.example", "cross-site", 403},
		{token, "https://ui.example.page.example", "cross-site", 403},
		{token, "moz-extension://1234", "", 200},
		{token, "chrome-extension://abcd", "cross-site", 200},
		{open, "", "", 200},
		{open, "null", "", 403},
		{open, "chrome-extension://abcd", "", 403},
		{open, "http://page.example", "", 403},
		{open, "", "cross-site", 403},
		{open, "http://localhost:6800", "same-origin", 200},
		{open, "http://localhost:6800", "", 200}, // as from Python's websocket-client
		{open, "http://localhost:6800", "cross-site", 403},
		{open, "http://localhost:6800", "same-site", 403},
		{open, "https://localhost:6800", "", 403},
		{open, "http://localhost", "", 403},
		{open, "http://localhost:6801", "", 403},
		{open, "localhost:6800", "", 403},
		{all, "http://page.example", "cross-site", 200},
		{all, "", "cross-site", 200},
	} {
		header := []string{"Sec-Fetch-Site", tt.fetch}
		if tt.origin != "" {
			header = append(header, "Origin", tt.origin)
		}
		for _, method := range []string{"POST", "GET", "OPTIONS"} {
			w := ask(tt.h, method, "localhost:6800", header...)
			refused := w.Code == 403
			if refused != (tt.want == 403) {
				t.Errorf("%s, Origin %q, Sec-Fetch-Site %q: %d, want %d", method, tt.origin, tt.fetch, w.Code, tt.want)
			}
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			if want := tt.origin; refused && allowed != "" || !refused && allowed != want {
				t.Errorf("%s, Origin %q: allowed is %q", method, tt.origin, allowed)
			}
		}
	}
	w := ask(token, "OPTIONS", "localhost:6800", "Origin", "https://ui.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type", "Access-Control-Request-Private-Network", "true")
	for name, want := range map[string]string{
		"Access-Control-Allow-Methods": "POST, GET, OPTIONS", "Access-Control-Allow-Headers": "content-type",
		"Access-Control-Allow-Private-Network": "true", "Vary": "Origin",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("preflight: %s is %q, want %q", name, got, want)
		}
	}
}

// TestToken_Rule68 checks that a request with wrong tokens is delayed once, and one with the right token is not.
func TestToken_Rule68(t *testing.T) {
	waits := 0
	h := New(newEngine(), Options{Root: "/srv", Token: secret, Wait: func(_ context.Context, d time.Duration) {
		if waits++; d != time.Second {
			t.Errorf("held back for %v", d)
		}
	}})
	const refused = `{"code":1,"message":"Unauthorized"}`
	for body, wrong := range map[string]int{
		object("aria2.getVersion", 1, with()...):           0,
		object("aria2.getVersion", 1):                      1,
		object("aria2.getVersion", 1, "token:"):            1,
		object("aria2.getVersion", 1, "token:"+secret+"x"): 1,
		object("aria2.getVersion", 1, "Token:"+secret):     1,
		object("aria2.nope", 1):                            1,
		object("system.listMethods", 1):                    0,
		"[" + object("aria2.getVersion", 1) + "," + object("aria2.tellActive", 2, "token:x") + "]":  2,
		object("system.multicall", 1, []any{inner("aria2.getVersion"), inner("aria2.pauseAll")}):    2,
		object("system.multicall", 1, []any{inner("aria2.getVersion", with()...), inner("a", "b")}): 1,
		object("aria2.getVersion", 1, 7, "token:"+secret):                                           1,
		object("system.multicall", 1, "token:"+secret, []any{inner("aria2.getVersion", with()...)}): 0,
	} {
		waits = 0
		w := say(h, body)
		if got := strings.Count(w.Body.String(), refused); got != wrong || waits != min(wrong, 1) {
			t.Errorf("%s: %d refused, held back %d times: %s", body, got, waits, w.Body)
		}
	}
	if w := say(New(newEngine(), Options{Root: "/srv"}), object("aria2.getVersion", 1, "token:any")); w.Code != 200 {
		t.Errorf("without a token, one that is sent: %s", w.Body)
	}
}

// TestGuesses_Rule68 checks that answers to wrong tokens are a second apart, that a request too many is refused, and
// that a request with the right token is not delayed.
func TestGuesses_Rule68(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(newEngine(), Options{Root: "/srv", Token: secret})
		var wg sync.WaitGroup
		began := time.Now()
		for range mostWrong {
			wg.Go(func() { say(h, object("aria2.getVersion", 1, "token:guess")) })
		}
		synctest.Wait()
		if w := say(h, object("aria2.getVersion", 1, "token:guess")); w.Code != http.StatusServiceUnavailable ||
			time.Since(began) > 0 {
			t.Errorf("one too many: %d after %v", w.Code, time.Since(began))
		}
		if w := say(h, object("aria2.getVersion", 1, with()...)); w.Code != 200 || time.Since(began) > 0 {
			t.Errorf("with the token: %d after %v", w.Code, time.Since(began))
		}
		wg.Wait()
		if took := time.Since(began); took != mostWrong*time.Second {
			t.Errorf("%d guesses took %v", mostWrong, took)
		}
	})
}

// TestAdmit_Rules67_68 checks that Admit accepts requests with the token, under the same conditions as calls.
func TestAdmit_Rules67_68(t *testing.T) {
	waits := 0
	h := New(newEngine(), Options{Root: "/srv", Token: secret, Wait: func(context.Context, time.Duration) { waits++ }})
	for _, tt := range []struct {
		host, origin, field string
		want                int
	}{
		{"localhost", "", "Bearer " + secret, 200}, {"localhost", "http://localhost", "bearer " + secret, 200},
		{"localhost", "", "", 401}, {"localhost", "", "Bearer wrong", 401}, {"localhost", "", "Bearer ", 401},
		{"localhost", "", "Basic " + secret, 401},
		{"page.example", "", "Bearer " + secret, 403}, {"localhost", "http://page.example", "Bearer " + secret, 403},
	} {
		r := httptest.NewRequest("GET", "http://"+tt.host+"/events", nil)
		r.Header.Set("Authorization", tt.field)
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		waits = 0
		if ok := h.Admit(w, r); ok != (tt.want == 200) || w.Code != tt.want ||
			(waits == 1) != (tt.want == 401 && len(tt.field) > len("Bearer ")) {
			t.Errorf("%+v: %v, %d, held back %d times", tt, ok, w.Code, waits)
		}
	}
}

// TestLimits_Rule68 checks that a request that is too large, too deep or has too many calls is refused, and others are
// not.
func TestLimits_Rule68(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv", Token: secret, MostBytes: 1 << 20})
	free := object("system.listNotifications", 1, with()...)
	deep := func(n int) string {
		return `{"id":1,"method":"system.listNotifications","params":[` + strings.Repeat("[", n) + strings.Repeat("]", n) + `]}`
	}
	for name, tt := range map[string]struct {
		body string
		want int
	}{
		"as long as may be": {free + strings.Repeat(" ", 1<<20-len(free)), 200},
		"longer":            {free + strings.Repeat(" ", 1<<20+1-len(free)), 413},
		"as deep as may be": {deep(mostDepth - 2), 200},
		"deeper":            {deep(mostDepth - 1), 500},
		"brackets in text":  {`{"id":"` + strings.Repeat(`[\"{`, 100) + `","method":"system.listNotifications"}`, 200},
		"many calls":        {"[" + free + strings.Repeat(",1", mostCalls) + "]", 400},
		"many values": {`{"id":1,"method":"system.listNotifications","params":["token:` + secret + `",` +
			strings.Repeat("[],", mostValues/2) + `[]]}`, 400},
		"many inner calls": {object("system.multicall", 1, append([]any{inner("aria2.getVersion", with()...)},
			make([]any, mostCalls)...)), 400},
	} {
		if w := say(h, tt.body); w.Code != tt.want {
			t.Errorf("%s: %d, want %d: %.200s", name, w.Code, tt.want, w.Body)
		}
	}
}

// TestAnswerLimit_Rule68 checks that a batch cannot list the queue again and again.
func TestAnswerLimit_Rule68(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv"})
	var calls []any
	for range 100 {
		calls = append(calls, inner("aria2.addUri", []string{"http://h/x"}))
	}
	say(h, object("system.multicall", 1, calls))
	calls = nil
	for range mostTold/101 + 1 { // each counts one, and its 100 entries
		calls = append(calls, inner("aria2.tellWaiting", 0, 1000, []string{"gid"}))
	}
	var got struct{ Result []json.RawMessage }
	if err := json.Unmarshal(say(h, object("system.multicall", 1, calls)).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	last := string(got.Result[len(got.Result)-1])
	if !strings.Contains(last, "too large") || strings.Contains(string(got.Result[len(got.Result)-2]), "too large") {
		t.Errorf("the last call: %.200s", last)
	}
}
