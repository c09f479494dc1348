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

// saveSession writes what is not complete to the file that the user named, or a client: theirs lies in the root, and
// replaces nothing but another session.
func (s *Service) saveSession(file string, text []byte) error {
	if file != s.Session {
		if s.IsReserved(file) {
			return errors.New(file + " is in a folder of braid's own")
		}
		if _, err := s.inRoot("", filepath.Dir(file), filepath.Base(file)); err != nil {
			return err
		}
		head, err := headOf(file, len(rpc.SessionMark))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if head != "" && head != rpc.SessionMark {
			return errors.New(file + " is no session")
		}
	}
	return fsys.WriteFile(nil, file, text, 0o600)
}

// InSession reports whether a list may have an option: one that another start reads, of aria2's or of braid's lists.
func InSession(name, value string) bool {
	return option.InAria2List(name, value) && !rpc.OfAll(name, value)
}

// headOf returns the first n bytes of a file, or all if there are fewer.
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

// lastSession is the session of an orderly end.
func (s *Service) lastSession(q *queue.Queue) {
	if file := cmp.Or(q.Global()["save-session"], s.Session); file != "" {
		if err := s.saveSession(file, rpc.Session(q, InSession)); err != nil {
			s.Log.Error("the session is not written", "file", file, "error", err)
		}
	}
}
