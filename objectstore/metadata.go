package objectstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"time"
)

func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// inASCII returns u for use in a header field. It cuts u to 1,024 bytes, because stores limit metadata.
func inASCII(u string) string {
	if p, err := url.Parse(u); err == nil {
		u = p.String()
	}
	return u[:min(len(u), 1024)]
}

// outliving returns a context that is canceled when the time d has passed after ctx is done, or by the returned function.
func outliving(ctx context.Context, d time.Duration) (context.Context, func()) {
	longer, stop := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, stop)
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() {
		unhook()
		stop()
	}
}
