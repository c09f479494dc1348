package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/web"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
)

// Each kind of problem has an exit code, and so has each cause that aria2 distinguishes.
func TestAria2Code(t *testing.T) {
	status := func(code int) error { return &source.Error{Fault: source.FaultRefused, Status: code} }
	for _, tt := range []struct {
		kind  download.Kind
		cause error
		want  int
	}{
		{download.Other, errors.New("x"), 1},
		{download.Usage, errors.New("x"), 1},
		{download.Local, errors.New("x"), 17},
		{download.Local, fs.ErrExist, 13},
		{download.Local, &partfile.SpaceError{}, 9},
		{download.Local, &fs.PathError{Op: "write", Err: syscall.ENOSPC}, 9},
		{download.Local, &fs.PathError{Op: "write", Err: syscall.EDQUOT}, 9},
		{download.Local, &fs.PathError{Op: "write", Err: syscall.EIO}, 17},
		{download.Local, &fs.PathError{Op: "open", Err: fs.ErrPermission}, 16},
		{download.Local, &fs.PathError{Op: "open", Err: fs.ErrNotExist}, 16},
		{download.Local, &fs.PathError{Op: "mkdir", Err: fs.ErrPermission}, 18},
		{download.Local, &partfile.NameError{}, 16},
		{download.Local, &partfile.InUseError{}, 11},
		{download.Network, errors.New("x"), 6},
		{download.Network, &source.Error{Err: syscall.ECONNREFUSED}, 6},
		{download.Network, &source.Error{Err: &net.DNSError{}}, 19},
		{download.Network, &source.Error{Err: os.ErrDeadlineExceeded}, 2},
		{download.Network, status(503), 29},
		{download.TLS, errors.New("x"), 1},
		{download.Auth, status(401), 24},
		{download.Protocol, errors.New("x"), 22},
		{download.Protocol, &metalink.Error{}, 20},
		{download.Protocol, &metainfo.Error{}, 26},
		{download.Refused, status(404), 3},
		{download.Refused, status(403), 22},
		{download.Refused, status(410), 22},
		{download.Refused, status(502), 29},
		{download.Refused, status(503), 29},
		{download.Refused, status(504), 29},
		{download.Refused, &source.Error{Err: web.ErrRedirects}, 23},
		{download.Refused, errors.New("x"), 22},
		{download.Mismatch, &verify.SizeError{}, 32},
		{download.NoEvidence, errors.New("x"), 32},
		{download.Budget, errors.New("x"), 6},
		{download.Budget, &source.Error{Err: os.ErrDeadlineExceeded}, 2},
		{download.Budget, status(503), 29},
		{download.Limit, errors.New("x"), 5},
		{download.Interrupted, errors.New("x"), 7},
		{download.NoKey, errors.New("x"), 32},
		{download.BadSignature, errors.New("x"), 32},
	} {
		err := fmt.Errorf("outside: %w", &download.Error{Kind: tt.kind, Err: fmt.Errorf("inside: %w", tt.cause)})
		if got := Aria2Code(err); got != tt.want {
			t.Errorf("%v, %v: %d, want %d", tt.kind, tt.cause, got, tt.want)
		}
	}
	if Aria2Code(nil) != 0 || Aria2Code(errors.New("x")) != 1 {
		t.Error("no error, or one of no download")
	}
	for k := download.Other; k <= download.BadSignature; k++ {
		if aria2Codes[k] == 0 {
			t.Errorf("%v has no number", k)
		}
	}
}

// TestAria2CodeOfProblem: a problem of a download has the code of the download, and what went wrong before one
// began another.
func TestAria2CodeOfProblem(t *testing.T) {
	for _, tt := range []struct {
		p    *Problem
		want int
	}{
		{Misuse("--split", "write a number", ""), 28},
		{&Problem{Kind: download.Other, What: "usage"}, 1},
		{Local("list", "l", fs.ErrNotExist), 1},
		{Local("folder", "d", fs.ErrPermission), 18},
		{Local("document", "d.meta4", fs.ErrNotExist), 28},
		{&Problem{Kind: download.Local, What: "name"}, 16},
		{&Problem{Kind: download.Refused}, 22},
		{&Problem{Kind: download.Interrupted, Err: errors.New("terminated")}, 7},
		{OfDownload(&download.Error{Kind: download.Usage, What: "download", Err: errors.New("x")}), 1},
		{OfDownload(&download.Error{Kind: download.Local, What: "file", Err: fs.ErrExist}), 13},
		{OfDownload(&download.Error{Kind: download.Refused, What: "download", Err: &source.Error{Status: 404}}), 3},
	} {
		if got := Aria2Code(fmt.Errorf("outside: %w", tt.p)); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.p, got, tt.want)
		}
	}
}
