package verify

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
)

// The state of a Checker can be saved, so that another process can continue the check. This is needed if the file
// cannot be read again, for example because it was written to a pipe.

// A resumable is a part of a Checker that can save and restore its state. The hashes of the standard library and the
// SignatureCheckers of all kinds are resumable.
type resumable interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// checkerState is the encoded state of a Checker.
type checkerState struct {
	Written    int64             `json:"written"`
	Hashes     map[string][]byte `json:"hashes"` // by name of the algorithm
	Signatures [][]byte          `json:"signatures,omitempty"`
	Pieces     *piecesState      `json:"pieces,omitempty"`
}

type piecesState struct {
	Next  int    `json:"next"`
	Left  int64  `json:"left"`
	Wrong []int  `json:"wrong,omitempty"`
	Check []byte `json:"check,omitempty"`
}

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker with the same claims, signatures and pieces.
// It fails if a SignatureChecker is not resumable.
func (c *Checker) MarshalBinary() (data []byte, err error) {
	s := checkerState{Written: c.written, Hashes: map[string][]byte{}}
	for _, h := range c.hashes {
		if s.Hashes[h.alg.String()], err = marshalHash(h.Hash); err != nil {
			return nil, err
		}
	}
	for _, k := range c.signatures {
		r, ok := k.(resumable)
		if !ok {
			return nil, errNoState
		}
		data, err := r.MarshalBinary()
		if err != nil {
			return nil, err
		}
		s.Signatures = append(s.Signatures, data)
	}
	if c.pieces != nil {
		if s.Pieces, err = c.pieces.state(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

var errNoState = errors.New("the saved state of a check cannot be used")

// UnmarshalBinary restores a state from MarshalBinary into c. Nothing may have been written to c before.
// UnmarshalBinary fails if c computes something that the state does not contain; c must not be used then. Digests that
// only the state contains are computed further.
func (c *Checker) UnmarshalBinary(data []byte) error {
	var s checkerState
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%w: %w", errNoState, err)
	}
	if len(s.Signatures) != len(c.signatures) || (s.Pieces == nil) != (c.pieces == nil) || s.Written < 0 ||
		c.size >= 0 && s.Written > c.size {
		return errNoState
	}
	for _, a := range Algorithms() {
		if s.Hashes[a.String()] != nil {
			c.Compute(a)
		}
	}
	for _, h := range c.hashes {
		if err := unmarshalHash(h.Hash, s.Hashes[h.alg.String()]); err != nil {
			return fmt.Errorf("%v: %w", h.alg, err)
		}
	}
	for i, k := range c.signatures {
		r, ok := k.(resumable)
		if !ok {
			return errNoState
		}
		if err := r.UnmarshalBinary(s.Signatures[i]); err != nil {
			return err
		}
	}
	if c.pieces != nil {
		if err := c.pieces.restore(*s.Pieces); err != nil {
			return err
		}
	}
	c.written = s.Written
	return nil
}

func marshalHash(h hash.Hash) ([]byte, error) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil, errNoState
	}
	return m.MarshalBinary()
}

func unmarshalHash(h hash.Hash, data []byte) error {
	m, ok := h.(encoding.BinaryUnmarshaler)
	if !ok || data == nil {
		return errNoState
	}
	return m.UnmarshalBinary(data)
}

func (c *PieceComparer) state() (*piecesState, error) {
	s := &piecesState{Next: c.next, Left: c.left, Wrong: c.wrong}
	var err error
	if c.check != nil && c.check.hash != nil {
		s.Check, err = marshalHash(c.check.hash)
	}
	return s, err
}

func (c *PieceComparer) restore(s piecesState) error {
	start, end := c.pieces.At(s.Next - 1)
	if s.Next < 0 || s.Next > c.pieces.Count() || s.Left < 0 || s.Left > end-start {
		return errNoState
	}
	c.next, c.left, c.wrong, c.check = s.Next, s.Left, s.Wrong, nil
	if s.Left == 0 {
		return nil
	}
	c.check = c.pieces.Checker(s.Next - 1)
	c.check.left = s.Left
	if c.check.hash == nil {
		return nil
	}
	return unmarshalHash(c.check.hash, s.Check)
}
