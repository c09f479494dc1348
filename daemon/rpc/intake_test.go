package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"braid/daemon/queue"
)

// held returns how many bytes of long requests are in memory.
func (h *Handler) held() int {
	h.intake.mu.Lock()
	defer h.intake.mu.Unlock()
	return h.intake.sum
}

// TestSilentClients_Rule68 checks that clients that stop sending a long request delay no other request, long or short.
func TestSilentClients_Rule68(t *testing.T) {
	h, url := start(t, newEngine(), Options{Token: secret})
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/jsonrpc")
	const silent = 20
	for range silent {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /jsonrpc HTTP/1.1\r\nHost: %s\r\nContent-Length: "+
			"1000000\r\n\r\n{\"params\":[\"token:%s\"%s", address, secret, strings.Repeat(" ", 100_000))
	}
	await(t, "they send", func() bool { return h.held() >= silent*50_000 })
	client := http.Client{Timeout: h.patience / 2}
	for _, name := range []string{"", strings.Repeat("x", 30_000)} {
		resp, err := client.Post(url, "application/json",
			strings.NewReader(object("aria2.addUri", 1, with([]string{"http://h/" + name})...)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Error(resp.Status)
		}
	}
}

func anyone([]byte) error { return nil }

// TestUnshown_Rule68 checks that of a long request that does not begin with the token only the beginning is read, by
// POST and WebSocket.
func TestUnshown_Rule68(t *testing.T) {
	h, url := start(t, newEngine(), Options{Token: secret})
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/jsonrpc")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The rest never comes, so only a daemon that does not wait for it answers.
	fmt.Fprintf(c, "POST /jsonrpc HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000000\r\n\r\n%s", address, strings.Repeat(" ", short))
	answer, err := io.ReadAll(c)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) || !bytes.Contains(answer, []byte("Unauthorized")) {
		t.Errorf("%q, %v", answer, err)
	}
	for _, tt := range []struct {
		name, body, want string
	}{
		{"no token", object("aria2.addUri", 1, []string{strings.Repeat("x", 5*short)}), "Unauthorized"},
		{"the token, late", object("aria2.addUri", 1, []string{strings.Repeat("x", 5*short), "token:" + secret}), "Unauthorized"},
		{"the token", object("aria2.addUri", 1, with([]string{"http://h/" + strings.Repeat("x", 5*short)})...), "result"},
	} {
		w := dial(t, url)
		w.conn.Write(t.Context(), websocket.MessageText, []byte(tt.body)) // fails if the connection ends meanwhile
		_, got, err := w.conn.Read(t.Context())
		if tt.want == "result" {
			if err != nil || !bytes.Contains(got, []byte(tt.want)) {
				t.Errorf("%s: %q, %v", tt.name, got, err)
			}
			continue
		}
		if err == nil {
			if !bytes.Contains(got, []byte(tt.want)) {
				t.Errorf("%s: %q", tt.name, got)
			}
			_, got, err = w.conn.Read(t.Context())
		}
		if err == nil {
			t.Errorf("%s: the connection stays, with %q", tt.name, got)
		}
	}
	if n := h.held(); n > 0 {
		t.Errorf("%d bytes are held", n)
	}
}

// TestIntake_Rule68 checks that the largest request is dropped with an error if the memory is full, and the others are
// not.
func TestIntake_Rule68(t *testing.T) {
	k := intake{most: 10 * short, held: map[*reading]bool{}}
	cut := make(chan bool, 1)
	begin := func(n int) (w *io.PipeWriter, done chan error) {
		r, w := io.Pipe()
		done = make(chan error, 1)
		go func() {
			body, leave, err := k.read(r, func() { cut <- true; r.CloseWithError(io.ErrClosedPipe) }, anyone)
			r.Close()
			if leave(); err == nil && len(body) != n {
				err = fmt.Errorf("%d bytes", len(body))
			}
			done <- err
		}()
		w.Write(make([]byte, n))
		return w, done
	}
	large, gone := begin(8 * short)
	for range 5 {
		w, done := begin(2 * short)
		w.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wide, other := begin(7 * short)
	if err := <-gone; err != errNoRoom || !<-cut {
		t.Error(err)
	}
	large.Close()
	wide.Close()
	if err := <-other; err != nil {
		t.Errorf("the smaller one: %v", err)
	}
	w, last := begin(20 * short)
	w.Close()
	if err := <-last; err != errNoRoom {
		t.Errorf("what has no room at all: %v", err)
	}
}

// TestIntakeWaits_Rule68: what has to go is in memory until its read has ended, and what needs its room waits for that.
func TestIntakeWaits_Rule68(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := intake{most: 3 * short, held: map[*reading]bool{}}
		large, sends := io.Pipe()
		cut, left := false, make(chan error, 1)
		go func() {
			_, leave, err := k.read(large, func() { cut = true }, anyone)
			leave()
			left <- err
		}()
		sends.Write(make([]byte, 4*short))
		synctest.Wait() // until it has taken its room
		small := make(chan error, 1)
		go func() {
			_, leave, err := k.read(strings.NewReader(strings.Repeat(" ", 3*short)), func() {}, anyone)
			leave()
			small <- err
		}()
		synctest.Wait()
		if len(small) > 0 || !cut || k.sum > 4*short {
			t.Errorf("with %d bytes in memory the other one does not wait, or it was not told to go: %v", k.sum, cut)
		}
		sends.CloseWithError(net.ErrClosed)
		if err := <-left; err != errNoRoom {
			t.Errorf("the one that has to go ends with %v", err)
		}
		if err := <-small; err != nil || k.sum != 0 || k.going != 0 {
			t.Errorf("the other one ends with %v, and %d bytes are held, %d of them going", err, k.sum, k.going)
		}
	})
}

// TestStrangers_Rule68: what shows no token gets little, visits no queue, and a long request is not even parsed.
func TestStrangers_Rule68(t *testing.T) {
	e, waits := newEngine(), 0
	h := New(e, Options{Root: "/srv/files", Token: secret, Wait: func(context.Context, time.Duration) { waits++ }})
	free := slices.Repeat([]any{inner("system.listMethods")}, mostFree+10)
	long := strings.Repeat("x", 10_000)
	const bare = `{"id":1,"method":"system.listMethods"}` // a hundred are no long request
	for _, tt := range []struct {
		name, body, want string
		waits, most      int
	}{
		{"no token needed", object("system.listMethods", 1), `"result"`, 0, 2000},
		{"over and over", object("system.multicall", 1, free[:60]), `"result"`, 0, mostFree << 10},
		{"once more", "[" + strings.Repeat(object("system.listMethods", 1)+",", 99) + object("system.listMethods", 1) +
			"]", "Unauthorized", 0, 200},
		{"as often as fits", "[" + strings.Repeat(bare+",", 99) + bare + "]", errTooLarge.Message, 0, mostFree << 10},
		{"a wrong token", object("aria2.getVersion", 1, "token:x"), "Unauthorized", 1, 200},
		{"long", object("aria2.addUri", 7, []string{long}),
			`{"id":7,"jsonrpc":"2.0","error":{"code":1,"message":"Unauthorized"}}`, 0, 200},
		{"long, a guess", object("aria2.addUri", "a", "token:x", []string{long}), `{"id":"a","jsonrpc":"2.0","error"`, 1, 200},
		{"long, another id", `{"id":"` + long + `","method":"aria2.getVersion"}`, `{"id":null,`, 0, 200},
		{"no JSON", `{"id":1,"x":"token:` + long, "Unauthorized", 0, 200},
		{"the token is not the first", object("aria2.addUri", 1, "token:x", []string{long, "token:" + secret}),
			"Unauthorized", 1, 200},
	} {
		waits = 0
		w := say(h, tt.body)
		if !strings.Contains(w.Body.String(), tt.want) || waits != tt.waits || w.Body.Len() > tt.most || e.visit > 0 {
			t.Errorf("%s: %d bytes, held back %d times, %d visits: %.200s", tt.name, w.Body.Len(), waits, e.visit, w.Body)
		}
	}
	places := 0
	h.Wait = func(context.Context, time.Duration) { places = len(h.busy) }
	if w := say(h, "["+object("aria2.getVersion", 1, with()...)+","+object("aria2.addUri", 2, "token:x",
		[]string{long})+"]"); !strings.Contains(w.Body.String(), "Unauthorized") || places > 0 {
		t.Errorf("%d places of long requests are taken by one that is held back: %s", places, w.Body)
	}
	escaped := bytes.ReplaceAll([]byte(object("aria2.addUri", 1, with([]string{"http://h/" + long})...)),
		[]byte(secret), []byte(`s3cr\u0065t`))
	if w := say(h, string(escaped)); w.Code != 200 {
		t.Errorf("a token that is written in another way: %s", w.Body)
	}
}

// TestCallsOfRequest_Rule68 checks that calls are counted for the whole request, and that each result counts for the
// answer.
func TestCallsOfRequest_Rule68(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files", Token: secret})
	one := object("system.multicall", 1, slices.Repeat([]any{inner("system.listMethods", with()...)}, mostCalls/4))
	w := say(h, "["+strings.Repeat(one+",", 5)+one+"]")
	var answers []struct{ Error *fault }
	if err := json.Unmarshal(w.Body.Bytes(), &answers); err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if (a.Error != nil) != (i >= 3) {
			t.Errorf("multicall %d: %v", i, a.Error)
		}
	}
	v := &visit{handler: h, room: 1}
	if _, f := v.run(&call{method: "system.listMethods"}); f != nil {
		t.Error(f)
	}
	if _, f := v.run(&call{method: "system.listMethods"}); f != errTooLarge {
		t.Error(f)
	}
}

// TestTooLarge_Rule68 checks that a list that is too long for an answer is refused before its entries are copied.
func TestTooLarge_Rule68(t *testing.T) {
	v := newVisit(New(newEngine(), Options{}), mostTold)
	for _, offset := range []json.Number{"0", "-1"} {
		copied := func(int, int) []queue.Entry { t.Errorf("from %s: copied", offset); return nil }
		if _, err := v.page(&params{list: []any{offset, json.Number("100000")}}, copied, mostTold+1); err != errTooLarge {
			t.Errorf("from %s: %v", offset, err)
		}
	}
}
