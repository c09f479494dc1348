package rpc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"braid/daemon/queue"
)

// A client is a WebSocket client.
type client struct {
	t    testing.TB
	conn *websocket.Conn
}

func dial(t testing.TB, rpc string) *client {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(rpc, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &client{t, conn}
}

func (c *client) send(body string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(body)); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next message.
func (c *client) next() (v any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	_, data, err := c.conn.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// socket plays the calls over a WebSocket and records answers and notifications.
func (s *session) socket() {
	s.t.Helper()
	c := dial(s.t, s.rpc)
	told := func(name string) (result any) {
		s.t.Helper()
		v := c.next()
		s.told = append(s.told, frame{"socket: " + name, shapeText(v)})
		object, _ := v.(map[string]any)
		return object["result"]
	}
	call := func(method string, params ...any) string {
		s.t.Helper()
		c.send(object("aria2."+method, method, with(params...)...))
		g, _ := told(method).(string)
		return g
	}
	call("getSessionInfo")
	c.send(`{bad`)
	told("no JSON")
	c.send(object("aria2.getVersion", "x"))
	told("no token")
	same := object("aria2.getSessionInfo", "same", with()...)
	c.send("[" + same + "," + same + "]")
	told("batch of one id")

	add := func(path string, status queue.Status) string {
		s.t.Helper()
		g := call("addUri", []string{s.files + path}, map[string]string{}, 0)
		s.reach(g, status)
		told("it begins")
		return g
	}
	add("/fast.again", queue.Complete)
	told("it is complete")
	g := add("/slow.again", queue.Active)
	call("pause", g)
	s.reach(g, queue.Paused)
	told("it is paused")
	call("unpause", g)
	s.reach(g, queue.Active)
	told("it begins again")
	call("remove", g)
	s.reach(g, queue.Removed)
	told("it is removed")
	add("/404", queue.Failed)
	told("it failed")
}
