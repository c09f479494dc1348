package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"braid/daemon/queue"
)

// A fault is an error object of JSON-RPC. Like aria2, braid uses code 1 for every error that has no code in JSON-RPC.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *fault) Error() string { return f.Message }

var (
	errParse        = &fault{-32700, "Parse error."}
	errInvalid      = &fault{-32600, "Invalid Request."}
	errParams       = &fault{-32602, "Invalid params."}
	errUnauthorized = &fault{1, "Unauthorized"}
	errRecursion    = &fault{1, "Recursive system.multicall forbidden."}
	errTooLarge     = &fault{1, "The answer to this request would be too large."}
	errCrowd        = &fault{1, "Too many requests with a wrong token."}
	errTooMany      = &fault{1, "Too many calls in one request."}
)

// httpStatus returns the HTTP status of a response with the error f.
func (f *fault) httpStatus() int {
	switch f.Code {
	case 1, -32600:
		return http.StatusBadRequest
	case -32601:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// A call is one method call in a request.
type call struct {
	id     any
	method string
	params []any
	fault  *fault // error that was found before the call is carried out, or nil
	inner  []call // calls of system.multicall
	many   bool   // the call is system.multicall
}

// An answer is the response object of a call.
type answer struct {
	ID      any    `json:"id"`
	Version string `json:"jsonrpc"`
	Result  any    `json:"result,omitempty"`
	Error   *fault `json:"error,omitempty"`
}

// parse parses body, a request, into calls. It reports whether they are a batch.
func parse(body []byte) (calls []call, batch bool) {
	if deep, values := extent(body); deep > mostDepth {
		return []call{{fault: errParse}}, false
	} else if values > mostValues {
		return []call{{fault: errTooMany}}, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // returns each id as the client wrote it
	var top any
	if err := d.Decode(&top); err != nil {
		return []call{{fault: errParse}}, false
	}
	if _, err := d.Token(); err != io.EOF {
		return []call{{fault: errParse}}, false
	}
	left := mostCalls
	list, ok := top.([]any)
	if !ok {
		return []call{parseCall(top, &left)}, false
	}
	if left -= len(list); left < 0 {
		return []call{{fault: errTooMany}}, false
	}
	calls = make([]call, len(list))
	for i, one := range list {
		calls[i] = parseCall(one, &left)
	}
	return calls, true
}

// extent returns the nesting depth of the JSON text body and an upper bound for the number of its values. That number
// is limited because a list of short values takes thirty times the memory of its text.
func extent(body []byte) (deepest, values int) {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest, values = max(deepest, depth), values+1
		case c == ',' || c == ':':
			values++
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest, values
}

// parseCall parses the object v of a call. left counts down the calls that the request may still have.
func parseCall(v any, left *int) call {
	object, _ := v.(map[string]any)
	id, ok := object["id"]
	if !ok {
		return call{fault: errInvalid}
	}
	c := call{id: id}
	if c.method, ok = object["method"].(string); !ok {
		c.fault = errInvalid
		return c
	}
	if params, given := object["params"]; given {
		if c.params, ok = params.([]any); !ok {
			c.fault = errParams
			return c
		}
	}
	if c.method == "system.multicall" {
		c.inner, c.fault = parseInner(c.params, left)
		c.params, c.many = nil, true // do not keep params while the answer to a wrong token is delayed
	}
	return c
}

// parseInner parses list, the parameters of a system.multicall, into calls.
func parseInner(list []any, left *int) (calls []call, f *fault) {
	p := params{list: list}
	inner := p.list0()
	if p.err != nil {
		return nil, p.err
	}
	if *left -= len(inner); *left < 0 {
		return nil, errTooMany
	}
	calls = make([]call, len(inner))
	for i, one := range inner {
		object, ok := one.(map[string]any)
		c := &calls[i]
		if !ok {
			c.fault = &fault{1, "system.multicall expected struct."}
			continue
		}
		c.method, ok = object["methodName"].(string)
		switch {
		case !ok:
			c.fault = &fault{1, "Missing methodName."}
		case c.method == "system.multicall":
			c.fault = errRecursion
		}
		c.params, _ = object["params"].([]any)
	}
	return calls, nil
}

// A reply is the response to a request. after, if not nil, is called after the response has been sent.
type reply struct {
	status int
	body   []byte
	after  func()
}

// crowded returns the reply to a request that must be refused because too many others wait.
func crowded() reply {
	return reply{status: http.StatusServiceUnavailable, body: encode(answer{Version: "2.0", Error: errCrowd})}
}

// respond carries out the request in body. It calls parsed when body is no longer needed.
func (h *Handler) respond(ctx context.Context, body []byte, parsed func()) reply {
	long := len(body) > mostStrange
	if g := (guess{}); long && h.Token != "" {
		if g = h.shows(body); !g.right {
			parsed()
			shown(ctx, stranger)
			return h.turnAway(ctx, body, g)
		}
		shown(ctx, friend) // do this before waiting, during which the connection could be closed in favor of others
	}
	if long {
		select {
		case h.busy <- struct{}{}:
		case <-ctx.Done():
			parsed()
			return crowded()
		}
	}
	calls, batch := parse(body)
	body = nil // frees the body while the answer to a wrong token is delayed
	var g guess
	h.admit(calls, &g)
	parsed()
	if long {
		<-h.busy
	}
	switch {
	case g.wrong:
		shown(ctx, stranger)
		if !h.punish(ctx) {
			return crowded()
		}
	case g.right:
		shown(ctx, friend)
	}
	return h.carryOut(ctx, calls, batch, g.right)
}

// carryOut carries out calls and returns the reply. known reports whether the request has shown the token; otherwise
// the queue is not used.
func (h *Handler) carryOut(ctx context.Context, calls []call, batch, known bool) reply {
	v := newVisit(h, mostFree)
	answers := make([]answer, len(calls))
	each := func(q *queue.Queue) error {
		v.enter(q)
		for i := range calls {
			answers[i] = v.answer(&calls[i])
		}
		return nil
	}
	var err error
	if known {
		v.room = mostTold
		err = h.engine.Do(ctx, each)
	} else {
		err = each(nil)
	}
	if err == nil {
		saved(v.save, calls, answers)
	}
	status := http.StatusOK
	for i := range answers {
		a := &answers[i]
		if err != nil { // the changes may be missing on disk
			*a = answer{ID: calls[i].id, Error: &fault{-32603, "The queue could not be stored: " + err.Error()}}
		}
		a.Version, a.Result = "2.0", finish(a.Result)
		if a.Error != nil && !batch {
			status = a.Error.httpStatus()
		}
	}
	r := reply{status: status, after: v.after}
	if batch {
		r.body = encode(answers)
	} else {
		r.body = encode(answers[0])
	}
	return r
}

// admit sets the fault of each call that lacks the token. After one wrong token it checks no other, so that each
// request is only one guess.
func (h *Handler) admit(calls []call, g *guess) {
	for i := range calls {
		c := &calls[i]
		switch {
		case c.fault != nil:
		case c.many:
			h.admit(c.inner, g)
		case g.wrong || !h.authorized(c, g):
			c.fault, c.params, g.wrong = errUnauthorized, nil, true
		}
	}
}

func (v *visit) answer(c *call) answer {
	if c.many && c.fault == nil {
		results := make([]any, len(c.inner))
		for i := range c.inner {
			if result, f := v.run(&c.inner[i]); f != nil {
				results[i] = f
			} else {
				results[i] = []any{result}
			}
		}
		return answer{ID: c.id, Result: results}
	}
	result, f := v.run(c)
	return answer{ID: c.id, Result: result, Error: f}
}

// run carries out c, which is not system.multicall.
func (v *visit) run(c *call) (any, *fault) {
	if c.fault != nil {
		return nil, c.fault
	}
	method := methods[c.method]
	if method == nil {
		return nil, &fault{1, "No such method: " + c.method}
	}
	if v.room--; v.room < 0 { // each result counts one; the method may count more
		return nil, errTooLarge
	}
	p := &params{list: c.params}
	result, err := method(v, p)
	if p.err != nil {
		return nil, p.err
	}
	if err != nil {
		if f, ok := errors.AsType[*fault](err); ok {
			return nil, f
		}
		return nil, &fault{1, err.Error()}
	}
	if v.room < 0 {
		return nil, errTooLarge
	}
	return result, nil
}

// A later computes a result after the visit to the queue.
type later func() any

// finish computes the results that were put off.
func finish(result any) any {
	switch result := result.(type) {
	case later:
		return result()
	case []any:
		for i := range result {
			result[i] = finish(result[i])
		}
	}
	return result
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // cannot happen with the values of answers
		return encode(answer{Version: "2.0", Error: &fault{-32603, err.Error()}})
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
