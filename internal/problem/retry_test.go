package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"braid/download"
	"braid/fleet"
)

// TestRetries: the kind of a problem decides the result of a job, and whether a watcher treats the problem as lasting.
func TestRetries(t *testing.T) {
	for kind, want := range map[download.Kind]struct {
		fleet   fleet.Kind
		lasting bool
	}{
		download.Other:        {fleet.Failed, false},
		download.Usage:        {fleet.Useless, true},
		download.Local:        {fleet.Failed, false},
		download.Network:      {fleet.Failed, false},
		download.TLS:          {fleet.Failed, false},
		download.Auth:         {fleet.Lacks, true},
		download.Protocol:     {fleet.Failed, false},
		download.Refused:      {fleet.Wrong, true},
		download.Mismatch:     {fleet.Wrong, false},
		download.NoEvidence:   {fleet.Wrong, true},
		download.Budget:       {fleet.Failed, false},
		download.Limit:        {fleet.Lacks, true},
		download.Interrupted:  {fleet.Failed, false},
		download.NoKey:        {fleet.Lacks, true},
		download.BadSignature: {fleet.Wrong, true},
	} {
		for _, err := range []error{&download.Error{Kind: kind, Err: errors.New("e")}, &Problem{Kind: kind}} {
			if got := FleetKind(fmt.Errorf("outside: %w", err)); got != want.fleet {
				t.Errorf("%v, %T: %s, want %s", kind, err, got, want.fleet)
			}
		}
		if Lasting(kind) != want.lasting {
			t.Errorf("%v: lasting is %v", kind, !want.lasting)
		}
	}
}

// TestFleetKindByCause: a file in the way is there tomorrow as well, and of an object store another worker may have
// the password.
func TestFleetKindByCause(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want fleet.Kind
	}{
		{&download.Error{Kind: download.Local, What: "file", Err: fs.ErrExist}, fleet.Useless},
		{&download.Error{Kind: download.Auth, What: "store", Err: errors.New("e")}, fleet.Failed},
		{&download.Error{Kind: download.Refused, What: "store", Err: errors.New("e")}, fleet.Failed},
		{&download.Error{Kind: download.Limit, What: "store", Err: errors.New("e")}, fleet.Failed},
		{&download.Error{Kind: download.Usage, What: "store", Err: errors.New("e")}, fleet.Failed},
		{&download.Error{Kind: download.Auth, What: "download", Err: errors.New("e")}, fleet.Lacks},
		{errors.New("e"), fleet.Failed},
	} {
		if got := FleetKind(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}
