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

// An intake limits the memory for long requests until they have been received and checked. At the limit, the largest
// request is dropped, because clients that stop sending could otherwise use up the limit. The request that needs memory
// waits until the memory of the dropped request is released.
type intake struct {
	most int // limit in bytes

	mu    sync.Mutex
	held  map[*reading]bool // requests that have not been dropped
	sum   int               // bytes in memory
	going int               // bytes of dropped requests, included in sum
	freed sync.Cond
}

// A reading is a request that is being read. cut makes the blocked read fail. of.mu is held when cut is called.
type reading struct {
	of   *intake
	size int
	out  bool // it was dropped
	cut  func()
}

var errNoRoom = errors.New("too many long requests")

// short is the size in bytes of the longest request that does not count towards the limit. A longer request is read
// completely only if its first short bytes contain the token.
const short = 16 << 10

// read reads a request from r. cut must make a blocked read of r fail. For a long request, admit is called with the
// first short bytes; if it returns an error, read returns that error, and these bytes as the body. The caller must call
// leave when it no longer needs the body.
func (k *intake) read(r io.Reader, cut func(), admit func(beginning []byte) error) (body []byte, leave func(), err error) {
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
		if size == 0 && n == short {
			if err := admit(part[:]); err != nil {
				return bytes.Clone(part[:]), one.leave, err
			}
		}
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

// spare holds unused buffers. One growing buffer per request would leave as much garbage as the request is long.
var spare = sync.Pool{New: func() any { return new([short]byte) }}

func joined(parts []*[short]byte, size int) []byte {
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(body, part[:min(short, size-len(body))]...)
	}
	return body
}

// hold counts n more bytes of the request. Above the limit, it drops the largest requests. It returns false if the
// request itself has been dropped.
func (one *reading) hold(n int) bool {
	k := one.of
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.out {
		return false
	}
	k.held[one] = true
	one.size, k.sum = one.size+n, k.sum+n
	for k.freed.L = &k.mu; !one.out && k.sum > k.most; {
		if k.sum-k.going > k.most {
			k.cutLargest(one)
		} else {
			k.freed.Wait()
		}
	}
	return !one.out
}

// cutLargest drops the largest request, which may be the given one.
func (k *intake) cutLargest(one *reading) {
	largest := one
	for other := range k.held {
		if other.size > largest.size {
			largest = other
		}
	}
	delete(k.held, largest)
	largest.out = true
	k.going += largest.size
	k.freed.Broadcast()
	if largest != one {
		largest.cut()
	}
}

// leave releases the memory of the request.
func (one *reading) leave() {
	k := one.of
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.out {
		k.going -= one.size
	}
	k.sum -= one.size
	one.size = 0
	delete(k.held, one)
	k.freed.Broadcast()
}

func (one *reading) gone() bool {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	return one.out
}

// mostStrange is the maximum size in bytes of a request that is parsed before its token is checked.
const mostStrange = 4 << 10

// An unshownError is the error for a long request without the right token at its beginning.
type unshownError struct{ guess }

func (unshownError) Error() string { return errUnauthorized.Message }

// admits returns the function that admits long requests of the client with context ctx. It admits all of them if no token
// is needed or if the client has shown the token. Otherwise it admits a request only if its beginning contains the token.
func (h *Handler) admits(ctx context.Context) func(beginning []byte) error {
	return func(beginning []byte) error {
		if h.Token == "" || isKnown(ctx) {
			return nil
		}
		if g := h.shows(beginning); !g.right {
			shown(ctx, stranger)
			return unshownError{g}
		}
		shown(ctx, friend)
		return nil
	}
}

// shows reports whether the first token in body, the text of a request, is right or wrong. Long requests are checked
// before they are parsed, because parsed values take thirty times the memory of the text.
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

// turnAway answers body, a long request without the right token. While the answer is delayed, it keeps only the request's id.
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
