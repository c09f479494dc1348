package service

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"braid/daemon/queue"
	"braid/daemon/rpc"
	"braid/internal/fsys"
	"braid/internal/option"
)

// saveSession writes a session to a file that the user or a client named. A file that a client named must be below the
// root. An existing file that a client named is replaced only if it is a session.
func (s *Service) saveSession(file string, text []byte) error {
	if file != s.Session {
		if s.IsReserved(file) {
			return errors.New(file + " is in a folder reserved for braid")
		}
		if _, err := s.inRoot("", filepath.Dir(file), filepath.Base(file)); err != nil {
			return err
		}
		head, err := headOf(file, len(rpc.SessionMark))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if head != "" && head != rpc.SessionMark {
			return errors.New(file + " is not a session file")
		}
	}
	return fsys.WriteFile(nil, file, text, 0o600)
}

// InSession reports whether a session has the option name: a list of aria2 or braid may have the option, and the option
// does not apply to all downloads.
func InSession(name, value string) bool {
	return option.InAria2List(name, value) && !rpc.OfAll(name, value)
}

// headOf returns the first n bytes of a file, or all bytes of a shorter file.
func headOf(file string, n int) (string, error) {
	f, err := fsys.OS.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, n)
	n, err = f.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return string(head[:n]), err
}

// begin calls First.
func (s *Service) begin(q *queue.Queue) error {
	if s.begun = true; s.First == nil {
		return nil
	}
	return s.First(q)
}

// lastSession saves the session when the daemon ends, if begin was called.
func (s *Service) lastSession(q *queue.Queue) {
	if file := cmp.Or(q.Global()["save-session"], s.Session); file != "" && s.begun {
		if err := s.saveSession(file, rpc.Session(q, InSession, file == s.Session)); err != nil {
			s.Log.Error("the session is not saved", "file", file, "error", err)
		}
	}
}
