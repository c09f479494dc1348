//go:build !unix

package watch

import (
	"errors"
	"time"
)

// monotonic returns errors.ErrUnsupported. Systems other than Unix have neither this clock nor a service manager that
// asks for it.
func monotonic() (time.Duration, error) { return 0, errors.ErrUnsupported }
