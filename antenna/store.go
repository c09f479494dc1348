package antenna

// A Store keeps what an Antenna knows from one run to the next, in a file of 0600. One process has it open at a time.
type Store struct{}

// OpenStore opens the store at path, or makes it. A store that cannot be read is set aside as PATH.bad (rule 8), and what is known
// is taken from the file antenna.lirs in the same folder. If another process has it open, the error is a *LockedError.
func OpenStore(path string) (*Store, error) { return nil, errUnfinished }

// Close closes the store.
func (s *Store) Close() error { return nil }

// History returns the last n updates that were handled, the latest first.
func (s *Store) History(n int) ([]Past, error) { return nil, errUnfinished }

// A LockedError says that another process has the store open.
type LockedError struct {
	Path string
	// PID and Command are of who has it, if that is known.
	PID     int
	Command string
}

func (e *LockedError) Error() string { return e.Path + " is in use" }
