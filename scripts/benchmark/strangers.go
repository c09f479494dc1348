//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	strangers    = 300
	strangersFor = 20 * time.Second
	askEvery     = 100 * time.Millisecond
)

// A stranger is a client without the token that costs a daemon as much as it can. It returns when the daemon has closed
// the connection or ctx ends.
type stranger func(ctx context.Context, addr string) error

// strangerKinds are the kinds of strangers, which take turns.
var strangerKinds = []struct {
	name string
	do   stranger
}{
	{"ask for 80 MB of answers and read none", greedy},
	{"announce 4 MB and stop shortly before the end", silent},
	{"guess a token and hang up", guesser},
	{"send 4 MB messages over a WebSocket and read nothing", talker},
}

// strangers measures the cost of clients without the token to a daemon, and the waiting time of a client with the
// token.
func (b *bench) strangers(ctx context.Context) error {
	s, err := startBraid(b, ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	ctx, stop := context.WithTimeout(ctx, strangersFor)
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	turns := make([]atomic.Int64, len(strangerKinds))
	for i := range strangers {
		kind := i % len(strangerKinds)
		wg.Go(func() {
			for ctx.Err() == nil {
				if strangerKinds[kind].do(ctx, s.addr) == nil {
					turns[kind].Add(1)
				}
			}
		})
	}
	waits, refused, err := friend(ctx, s)
	if err != nil {
		return err
	}
	u, err := s.use()
	if err != nil {
		return err
	}
	fmt.Printf("strangers: %d clients without the token for %v\n  $ %s\n", strangers, strangersFor, s.command)
	for i, kind := range strangerKinds {
		fmt.Printf("  %-55s %6d times\n", kind.name, turns[i].Load())
	}
	fmt.Printf("  memory at most, MiB (goal: under 150): %.1f\n", u.most)
	fmt.Printf("  a right request of 30 kB, %d times, ms (goal: under 1000): median %.1f, at most %.1f; not answered %d times (goal: 0)\n",
		len(waits), median(waits), slices.Max(waits), refused)
	return nil
}

// friend sends requests with the token until ctx ends, each over its own connection. It returns the duration of each in
// milliseconds, and the number of refused ones.
func friend(ctx context.Context, s *service) (waits []float64, refused int, err error) {
	calls := make([]any, 300)
	for i := range calls {
		calls[i] = map[string]any{"methodName": "aria2.getVersion", "params": []any{"token:" + secret}}
	}
	for next := time.Now(); pass(ctx, time.Until(next)) == nil; next = next.Add(askEvery) {
		var answers []any
		took, err := s.call(ctx, &answers, "system.multicall", calls)
		if ctx.Err() != nil {
			break
		}
		if err != nil || len(answers) != len(calls) {
			refused++
			continue
		}
		waits = append(waits, 1000*took.Seconds())
	}
	if len(waits) == 0 {
		return nil, 0, errors.New("no request with the token was answered")
	}
	return waits, refused, nil
}

// post opens a connection and writes the header of a request with a body of the given length, then the beginning of the
// body.
func post(ctx context.Context, addr string, length int, body []byte) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		conn.SetDeadline(end)
	}
	_, err = fmt.Fprintf(conn, "POST /jsonrpc HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", addr, length)
	if err == nil {
		_, err = conn.Write(body)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// hugeBatch is a batch of 4 MB with six calls of system.multicall, each with as many lists of methods as fit.
var hugeBatch = sync.OnceValue(func() []byte {
	one := `{"methodName":"system.listMethods","params":[]}`
	multi := `{"jsonrpc":"2.0","id":1,"method":"system.multicall","params":[[` + strings.Repeat(one+",", 4_000_000/6/len(one)-2) + one + `]]}`
	return []byte("[" + strings.Repeat(multi+",", 5) + multi + "]")
})

func greedy(ctx context.Context, addr string) error {
	conn, err := post(ctx, addr, len(hugeBatch()), hugeBatch())
	if err != nil {
		return err
	}
	defer conn.Close()
	return pass(ctx, time.Second) // the answers fill the buffers and are not read
}

func silent(ctx context.Context, addr string) error {
	body := bytes.Repeat([]byte(" "), 3_900_000)
	conn, err := post(ctx, addr, 4_000_000, body)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = io.Copy(io.Discard, conn)
	return err
}

func guesser(ctx context.Context, addr string) error {
	body, err := request("aria2.getVersion", "token:guess")
	if err != nil {
		return err
	}
	conn, err := post(ctx, addr, len(body), body)
	if err != nil {
		return err
	}
	conn.Close()
	return pass(ctx, 10*time.Millisecond) // limit the client's own use of the processor
}

func talker(ctx context.Context, addr string) error {
	conn, _, err := websocket.Dial(ctx, "ws://"+addr+"/jsonrpc", nil)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	for err == nil {
		err = conn.Write(ctx, websocket.MessageText, hugeBatch())
	}
	return nil
}
