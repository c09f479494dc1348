package download

import (
	"context"
	"time"
)

// WithLookupGrace replaces how long the end of a download waits for a lookup where nothing has to be proven.
func WithLookupGrace(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, graceKey{}, d)
}
