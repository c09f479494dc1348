// Package cmp is a stub of go-cmp. The torrent library calls only Diff, before a panic. The original finds methods by
// name, so the linker would keep every exported method of the program: 7 MB.
package cmp

import "fmt"

// Option completes the signature of Diff.
type Option any

// Diff returns both values.
func Diff(x, y any, _ ...Option) string { return fmt.Sprintf("%+v and %+v", x, y) }
