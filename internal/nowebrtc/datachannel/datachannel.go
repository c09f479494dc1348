// Package datachannel stands in for Pion's, as package webrtc does.
package datachannel

import "io"

// A ReadWriteCloser is never made.
type ReadWriteCloser interface{ io.ReadWriteCloser }
