// Package once makes expressions and tables at their first use, because a run of the program needs few of them. Pure
// packages may use it: it does not show when a value was made.
package once

import (
	"regexp"
	"sync"
)

// Value returns a function that calls make when it is first called, and always returns what make returned.
func Value[T any](make func() T) func() T { return sync.OnceValue(make) }

// Pattern returns a function that returns the compiled expression. It panics if the expression is invalid.
func Pattern(expression string) func() *regexp.Regexp {
	return Value(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
