package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// An intake bounds what is in memory of requests that are not whole yet, or not looked at. Where there is no room for
// more, the request goes that holds most: else clients that send nothing more could keep others out.
type intake struct {
	most int // bytes

	mu   sync.Mutex
	held map[*reading]bool
	sum  int
}

// A reading is a request that comes. Cut ends it; it is called under the mutex of the intake.
type reading struct {
	of   *intake
	size int
	out  bool // it had to go
	cut  func()
}

var errNoRoom = errors.New("too many long requests")

// short is how many bytes of a request need no room.
const short = 16 << 10

// read reads a request; cut makes a read that waits fail. The room is given back by leave.
func (k *intake) read(r io.Reader, cut func()) (body []byte, leave func(), err error) {
	one := &reading{of: k, cut: cut}
	var parts []*[short]byte
	defer func() {
		for _, part := range parts {
			spare.Put(part)
		}
	}()
	for size := 0; ; {
		part := spare.Get().(*[short]byte)
		parts = append(parts, part)
		n, err := io.ReadFull(r, part[:])
		if size += n; size > short && !one.hold(n) {
			return nil, one.leave, errNoRoom
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return joined(parts, size), one.leave, nil
		}
		if err != nil {
			if one.gone() {
				err = errNoRoom
			}
			return nil, one.leave, err
		}
	}
}

// spare are parts that no request has. A buffer for each request, or one that grows, would be as much garbage again.
var spare = sync.Pool{New: func() any { return new([short]byte) }}

func joined(parts []*[short]byte, size int) []byte {
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(body, part[:min(short, size-len(body))]...)
	}
	return body
}

// hold takes room for n bytes more, or reports false if this request is the one to go.
func (one *reading) hold(n int) bool {
	k := one.of
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.out {
		return false
	}
	k.held[one] = true
	one.size, k.sum = one.size+n, k.sum+n
	for k.sum > k.most {
		largest := one
		for other := range k.held {
			if other.size > largest.size {
				largest = other
			}
		}
		k.drop(largest)
		if largest.out = true; largest == one {
			return false
		}
		largest.cut()
	}
	return true
}

// drop gives room back. The caller has the mutex.
func (k *intake) drop(one *reading) {
	k.sum -= one.size
	one.size = 0
	delete(k.held, one)
}

func (one *reading) leave() {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.of.drop(one)
}

func (one *reading) gone() bool {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	return one.out
}

// mostStrange is how long a request may be in which no right token is: a call that needs none, or some with a wrong one.
const mostStrange = 4 << 10

// shows reports whether the first token in the text of a request is right. Nothing else of a long request is read
// before: its values take thirty times the memory of its text.
func (h *Handler) shows(body []byte) (g guess) {
	for i := 0; i < len(body); i++ {
		if body[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(body) && body[end] != '"' {
			if body[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(body) {
			return g
		}
		if literal := body[i : end+1]; bytes.HasPrefix(literal[1:], []byte(tokenPrefix)) {
			var word string
			err := json.Unmarshal(literal, &word)
			right := err == nil && h.isToken(strings.TrimPrefix(word, tokenPrefix))
			return guess{right: right, wrong: !right}
		}
		i = end
	}
	return g
}

// turnAway answers a long request that shows no right token. Nothing of it is kept but its id.
func (h *Handler) turnAway(ctx context.Context, body []byte, g guess) reply {
	var call struct{ ID json.RawMessage }
	if len(body) > 1<<20 || json.Unmarshal(body, &call) != nil || len(call.ID) > 1<<10 {
		call.ID = nil
	}
	a := answer{Version: "2.0", Error: errUnauthorized}
	if call.ID != nil {
		a.ID = json.RawMessage(bytes.Clone(call.ID))
	}
	call.ID, body = nil, nil
	if g.wrong && !h.punish(ctx) {
		return crowded()
	}
	return reply{status: a.Error.httpStatus(), body: encode(a)}
}
