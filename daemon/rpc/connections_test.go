package rpc

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/test/pipes"
)

// A lobby is a limited listener with room for two, and what it has let in, one after the other.
type lobby struct {
	*connections
	t     *testing.T
	front pipes.Listener
	began time.Time
	late  time.Duration // until a connection is read from
	in    []*connection
	at    []time.Duration
}

func newLobby(t *testing.T, late time.Duration) *lobby {
	l := &lobby{t: t, late: late, front: make(pipes.Listener), began: time.Now()}
	l.connections = Limit(l.front, &http.Server{}, 2).(*connections)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			l.in, l.at = append(l.in, c.(*connection)), append(l.at, time.Since(l.began))
			go func() {
				time.Sleep(l.late)
				io.Copy(io.Discard, c)
			}()
		}
	}()
	return l
}

// come has a client connect at a time.
func (l *lobby) come(at time.Duration) {
	l.until(at)
	ours, theirs := net.Pipe()
	l.t.Cleanup(func() { theirs.Close() })
	go func() { l.front <- ours }()
	synctest.Wait()
}

func (l *lobby) until(at time.Duration) {
	time.Sleep(at - time.Since(l.began))
	synctest.Wait()
}

func (l *lobby) of(i int) context.Context {
	return context.WithValue(l.t.Context(), connectionKey{}, net.Conn(l.in[i]))
}

// cut reports which of the connections are not open.
func (l *lobby) cut() (list []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range l.in {
		if !l.open[c] {
			list = append(list, i)
		}
	}
	return list
}

// TestTimeToShow_Rule68: however many others come, a client has its time to show the token. One that has shown that it
// has none goes before, and one that has shown the token stays.
func TestTimeToShow_Rule68(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		late     time.Duration // until a connection is read from
		at       time.Duration // when something happens
		what     func(*lobby)
		admitted time.Duration // when the third one is let in
		cut      int           // which one goes for it
	}{
		{"nothing happens", 0, 400 * ms, func(*lobby) {}, showTime, 0},
		{"the first shows the token", 0, 400 * ms, func(l *lobby) { shown(l.of(0), friend) }, showTime + 100*ms, 1},
		{"the second shows a wrong token", 0, 300 * ms, func(l *lobby) { shown(l.of(1), stranger) }, 300 * ms, 1},
		{"the first ends", 0, 300 * ms, func(l *lobby) { l.in[0].Close() }, 300 * ms, 0},
		{"they are read late", 1700 * ms, 0, func(*lobby) {}, 1700*ms + showTime, 0},
		{"they are read late, and the second shows the token", 1700 * ms, 1900 * ms,
			func(l *lobby) { shown(l.of(1), friend) }, 1700*ms + showTime, 0},
		{"the first shows both", 0, 200 * ms, func(l *lobby) { shown(l.of(0), friend); shown(l.of(0), stranger) },
			showTime + 100*ms, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLobby(t, tt.late)
				defer l.Close()
				l.come(0)
				l.come(100 * ms)
				l.come(150 * ms)
				l.until(tt.at)
				tt.what(l)
				l.until(5 * time.Second)
				if cut := l.cut(); len(l.in) != 3 || l.at[2] != tt.admitted || len(cut) != 1 || cut[0] != tt.cut {
					t.Errorf("%d are let in, at %v, and %v are cut; want the third at %v, and %d cut", len(l.in), l.at,
						cut, tt.admitted, tt.cut)
				}
			})
		})
	}
}

// TestClosedWhileFull: a connection that waits for room ends with the listener.
func TestClosedWhileFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLobby(t, 0)
		l.come(0)
		l.come(0)
		ours, theirs := net.Pipe()
		l.front <- ours
		synctest.Wait()
		l.Close()
		if _, err := theirs.Read(make([]byte, 1)); err != io.EOF || len(l.in) != 2 || time.Since(l.began) > 0 {
			t.Errorf("%v, and %d are let in, after %v", err, len(l.in), time.Since(l.began))
		}
	})
}

// TestShownBeforeItsTurn_Rule68: a long request with the token is not cut while it waits for others that are parsed.
func TestShownBeforeItsTurn_Rule68(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLobby(t, 0)
		defer l.Close()
		h := New(newEngine(), Options{Root: "/srv/files", Token: secret})
		for range mostBusy {
			h.busy <- struct{}{}
		}
		l.come(0)
		status := 0
		go func() {
			body := object("aria2.addUri", 1, with([]string{"http://h/" + strings.Repeat("x", 2*mostStrange)})...)
			status = h.respond(l.of(0), []byte(body), func() {}).status
		}()
		for i := range 4 {
			l.come(time.Duration(i+1) * time.Second)
		}
		cut := l.cut()
		for range mostBusy {
			<-h.busy
		}
		synctest.Wait()
		if status != http.StatusOK || len(cut) != 3 || cut[0] == 0 {
			t.Errorf("it is answered with %d, and %v are cut", status, cut)
		}
	})
}
