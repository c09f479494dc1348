package problem

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"syscall"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/web"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
)

// aria2Codes maps the kinds of problems that end a download to aria2's error codes (aria2c(1), EXIT STATUS). The
// daemon, the job queue behind a daemon and the command named aria2c all use this map.
var aria2Codes = map[download.Kind]int{
	download.Other:        1,
	download.Usage:        1,
	download.Local:        17,
	download.Network:      6,
	download.TLS:          1,
	download.Auth:         24,
	download.Protocol:     22,
	download.Refused:      22,
	download.Mismatch:     32,
	download.NoEvidence:   32,
	download.Budget:       6,
	download.Limit:        5,
	download.Interrupted:  7,
	download.NoKey:        32,
	download.BadSignature: 32,
}

// aria2Whats and aria2Before hold the codes of problems before a download began: aria2Whats by [Problem.What], and
// aria2Before by kind if aria2Whats has no code.
var (
	aria2Whats  = map[string]int{"folder": 18, "document": 28, "name": 16}
	aria2Before = map[download.Kind]int{
		download.Usage: 28, // an option
		download.Local: 1,  // a list or a configuration that cannot be read
	}
)

// Aria2Code returns aria2's error code of err, or 0 if err is nil. The code is 1, which aria2 calls unknown, for an
// error that is neither a [download.Error] nor a [Problem].
func Aria2Code(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*download.Error](err); ok {
		return aria2Download(e)
	}
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return aria2Codes[download.Other]
	}
	if code, ok := aria2Whats[p.What]; ok {
		return code
	}
	if e, ok := errors.AsType[*download.Error](p.Err); ok {
		return aria2Download(e)
	}
	return cmp.Or(aria2Before[p.Kind], aria2Codes[p.Kind])
}

// aria2Download returns the code for a download that failed with e. The code depends on the kind of e, except for some
// causes that have their own code.
func aria2Download(e *download.Error) int {
	code, known := 0, false
	switch e.Kind {
	case download.Local:
		code, known = aria2Local(e)
	case download.Network, download.Budget:
		code, known = aria2Network(e)
	case download.Refused:
		code, known = aria2Refused(e)
	case download.Protocol:
		code, known = aria2Document(e)
	}
	if !known {
		return aria2Codes[e.Kind]
	}
	return code
}

func aria2Local(err error) (code int, known bool) {
	if _, used := errors.AsType[*partfile.InUseError](err); used {
		return 11, true
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Op == "mkdir" {
		return 18, true
	}
	_, isName := errors.AsType[*partfile.NameError](err)
	switch {
	case isName:
		return 16, true
	case errors.Is(err, fs.ErrExist):
		return 13, true
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return 9, true
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return 16, true
	}
	return 0, false
}

func aria2Network(err error) (code int, known bool) {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return 19, true
	}
	if source.IsTimeout(err) {
		return 2, true
	}
	return aria2Refused(err) // a server that was unavailable at every attempt
}

func aria2Refused(err error) (code int, known bool) {
	if errors.Is(err, web.ErrRedirects) {
		return 23, true
	}
	src, ok := errors.AsType[*source.Error](err)
	if !ok {
		return 0, false
	}
	switch src.Status {
	case 404:
		return 3, true
	case 502, 503, 504:
		return 29, true
	}
	return 0, false
}

func aria2Document(e *download.Error) (code int, known bool) {
	if _, ok := errors.AsType[*metainfo.Error](e); ok {
		return 26, true
	}
	_, ok := errors.AsType[*metalink.Error](e)
	return 20, ok || e.What == "read"
}
