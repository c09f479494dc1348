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

// A fault is an error object of JSON-RPC. aria2 uses code 1 for all errors that the protocol has no code for.
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

// httpStatus returns the status of a response with this error.
func (f *fault) httpStatus() int {
	switch f.Code {
	case 1, -32600:
		return http.StatusBadRequest
	case -32601:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// A call is one method call of a request.
type call struct {
	id     any
	method string
	params []any
	fault  *fault // known before the call is carried out; nil if none
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

// parse parses a request into its calls and reports whether they are a batch.
func parse(body []byte) (calls []call, batch bool) {
	if deep, values := extent(body); deep > mostDepth {
		return []call{{fault: errParse}}, false
	} else if values > mostValues {
		return []call{{fault: errTooMany}}, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // so that an id is returned as it was written
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

// extent returns the nesting depth of a request and an upper bound of the number of its values. The number is limited
// because a list of short values takes thirty times the memory of its text.
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

// parseCall parses the object of a call. left is the number of further calls that the request may have.
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
		c.params, c.many = nil, true // params are not kept while the answer to a wrong token is delayed
	}
	return c
}

// parseInner parses the calls of a system.multicall.
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

// A reply is the response to a request. after is called after the response was sent.
type reply struct {
	status int
	body   []byte
	after  func()
}

// crowded returns the reply to a wrong token when too many replies are already delayed.
func crowded() reply {
	return reply{status: http.StatusServiceUnavailable, body: encode(answer{Version: "2.0", Error: errCrowd})}
}

// respond carries out a request. It calls parsed when the body is no longer needed.
func (h *Handler) respond(ctx context.Context, body []byte, parsed func()) reply {
	long := len(body) > mostStrange
	if g := (guess{}); long && h.Token != "" {
		if g = h.shows(body); !g.right {
			parsed()
			shown(ctx, stranger)
			return h.turnAway(ctx, body, g)
		}
		shown(ctx, friend) // before the client waits for a turn, and may lose its connection to others
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

// carryOut carries out calls. It uses the queue only if the request has shown the token.
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
		if err != nil { // the changes may not be on disk
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

// admit marks the calls that lack the token. After one wrong token it checks no other token, so that a request is only
// one guess.
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

// run carries out a call that is not system.multicall.
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

// A later is a result that is computed after the visit to the queue.
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
