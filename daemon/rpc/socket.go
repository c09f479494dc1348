package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"braid/daemon/queue"
)

// A socket is a client connected by WebSocket.
type socket struct {
	conn     *websocket.Conn
	patience time.Duration
	// answering is held until a request has been answered, so that notifications about its effects follow the answer.
	answering sync.Mutex
}

// socket upgrades the request r to a WebSocket. It answers the client's messages one after the other until either side
// closes the WebSocket.
func (h *Handler) socket(w http.ResponseWriter, r *http.Request) {
	// ServeHTTP has checked the origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has sent an error
	}
	defer conn.CloseNow()
	conn.SetReadLimit(h.MostBytes)
	s := &socket{conn: conn, patience: h.patience}
	notices, unsubscribe := h.engine.Subscribe()
	defer unsubscribe() // called after the goroutine of tell, which sends a close frame if the daemon stops
	ctx, cancel := context.WithCancel(r.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer cancel()
		s.tell(ctx, notices)
	})
	for {
		_, message, err := conn.Reader(ctx)
		if err != nil {
			return
		}
		if err := s.answer(ctx, h, message); err != nil {
			return
		}
	}
}

// answer carries out the request in message and sends the answer.
func (s *socket) answer(ctx context.Context, h *Handler, message io.Reader) error {
	slow := time.AfterFunc(s.patience, func() { s.conn.CloseNow() })
	body, leave, err := h.intake.read(message, func() { s.conn.CloseNow() }, h.admits(ctx))
	defer leave()
	slow.Stop()
	if e, unshown := errors.AsType[unshownError](err); unshown {
		s.write(ctx, h.turnAway(ctx, body, e.guess).body)
		return err // this closes the connection, because the rest of message is unread
	}
	if err != nil {
		return err
	}
	s.answering.Lock()
	defer s.answering.Unlock()
	r := h.respond(ctx, body, leave)
	err = s.write(ctx, r.body)
	if r.after != nil {
		r.after()
	}
	return err
}

// tell sends notices to the client. If the client does not read them, tell closes the connection.
func (s *socket) tell(ctx context.Context, notices <-chan queue.Notice) {
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-notices:
			if !ok {
				s.conn.Close(websocket.StatusGoingAway, "the daemon is stopping, or the client is too slow")
				return
			}
			s.answering.Lock()
			err := s.write(ctx, notification(n))
			s.answering.Unlock()
			if err != nil {
				return
			}
		}
	}
}

func (s *socket) write(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, message)
}

// notification returns the message to clients about n.
func notification(n queue.Notice) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"aria2.%v","params":[{"gid":"%v"}]}`, n.What, n.GID)
}
