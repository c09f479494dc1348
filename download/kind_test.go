package download

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// An error that wraps another keeps its own kind: a fault of a mirror is not one of the user or the disk.
func TestKinds(t *testing.T) {
	conflict := &verify.ConflictError{}
	from := func(f source.Fault, err error) error { return &source.Error{Fault: f, Err: err} }
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{from(source.FaultNetwork, context.DeadlineExceeded), Network},
		{from(source.FaultTLS, os.ErrDeadlineExceeded), TLS},
		{from(source.FaultAuth, nil), Auth},
		{from(source.FaultProtocol, &verify.DigestError{}), Protocol},
		{from(source.FaultRefused, nil), Refused},
		{from(source.FaultMismatch, conflict), Mismatch}, // C5
		{from(source.FaultLimit, nil), Limit},
		{from(source.FaultNetwork, syscall.ECONNRESET), Network},
		{&NoSourceError{Last: from(source.FaultRefused, nil)}, Refused},
		{noMerge("x", from(source.FaultTLS, nil)), TLS},
		{noMerge("x", nil), Network},
		{&verify.DigestError{}, Protocol},
		{conflict, Protocol},
		{&verify.MismatchError{}, Mismatch},
		{&verify.SizeError{}, Mismatch},
		{changed("x"), Mismatch},
		{tooLong(1), Limit},
		{outputFault(syscall.EPIPE), Local},
		{outputFault(errors.New("x")), Local},
		{local(errors.New("x")), Local},
		{local(&partfile.SpaceError{}), Local},
		{&partfile.InUseError{}, Local},
		{&partfile.NameError{}, Local},
		{&fs.PathError{Err: syscall.ENOSPC}, Local},
		{context.Canceled, Interrupted},
		{context.DeadlineExceeded, Interrupted},
		{&Error{Kind: Budget}, Budget},
		{errors.New("x"), Other},
	} {
		if got := kindOf(fmt.Errorf("wrapped: %w", tt.err)); got != tt.want {
			t.Errorf("%T %v: kind %d, want %d", tt.err, tt.err, got, tt.want)
		}
	}
}
