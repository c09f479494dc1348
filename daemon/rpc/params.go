package rpc

import (
	"encoding/json"
	"fmt"
	"strings"

	"braid/daemon/queue"
)

// A params reads the parameters of a call. err is the first error, with aria2's text.
type params struct {
	list []any
	err  *fault
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &fault{1, fmt.Sprintf(format, args...)}
	}
}

// at returns parameter i as a T. ok is false if it is missing or not a T. Only a parameter that is not required may be missing.
func at[T any](p *params, i int, required bool) (v T, ok bool) {
	if i >= len(p.list) {
		if required {
			p.fail("The parameter at %d is required but missing.", i)
		}
		return v, false
	}
	if v, ok = p.list[i].(T); !ok {
		p.fail("The parameter at %d has wrong type.", i)
	}
	return v, ok
}

func (p *params) text(i int) string {
	s, _ := at[string](p, i, true)
	return s
}

func (p *params) list0() []any {
	list, _ := at[[]any](p, 0, true)
	return list
}

// strings returns parameter i, a list of strings. Like aria2, it ignores elements that are not strings.
func (p *params) strings(i int, required bool) (list []string) {
	values, _ := at[[]any](p, i, required)
	for _, v := range values {
		if s, ok := v.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

func (p *params) integer(i int) int {
	number, ok := at[json.Number](p, i, true)
	if !ok {
		return 0
	}
	n, err := number.Int64()
	if err != nil || int64(int(n)) != n {
		p.fail("The parameter at %d has wrong type.", i)
	}
	return int(n)
}

func (p *params) atLeast(i, least int) int {
	n := p.integer(i)
	if n < least {
		p.fail("The integer parameter at %d has invalid value: the value must be greater than or equal to %d.", i, least)
	}
	return n
}

// position returns parameter i, a position in a list. It returns -1 if the parameter is missing.
func (p *params) position(i int) int {
	if i >= len(p.list) {
		return -1
	}
	n := p.integer(i)
	if n < 0 {
		p.fail("Position must be greater than or equal to 0.")
	}
	return n
}

// gid returns the GID in parameter i. The parameter may be a prefix that only one GID of q has.
func (p *params) gid(q *queue.Queue, i int) (g queue.GID) {
	prefix := p.text(i)
	if p.err != nil {
		return 0
	}
	g, err := q.Find(prefix)
	if err != nil {
		p.fail("%s", err)
	}
	return g
}

// options returns parameter i, an object of options, with each value as a string. List elements are joined by newlines.
func (p *params) options(i int, required bool) map[string]string {
	object, _ := at[map[string]any](p, i, required)
	options := map[string]string{}
	for name, v := range object {
		switch v := v.(type) {
		case string:
			options[name] = v
		case json.Number:
			options[name] = v.String()
		case bool:
			options[name] = fmt.Sprint(v)
		case []any:
			var lines []string
			for _, line := range v {
				if s, ok := line.(string); ok {
					lines = append(lines, s)
				}
			}
			options[name] = strings.Join(lines, "\n")
		}
	}
	return options
}
