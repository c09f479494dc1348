// Package datachannel is a stub of Pion's package datachannel; see package webrtc.
package datachannel

import "io"

// ReadWriteCloser is never implemented.
type ReadWriteCloser interface{ io.ReadWriteCloser }
