package verify

import "time"

// MaxSignature is how many bytes a file with signatures may have.
const MaxSignature = 1 << 20

// A SignatureKind is a format of signatures, and of the keys or certificates that check them. Each is a variable of a
// package of its own and a row of the table in package signatures. Other packages name none.
type SignatureKind struct {
	// Name is what messages call it, "OpenPGP", and Article the word before that.
	Name, Article string
	// Types are the media types of its signatures, in lower case. The first one is the usual one.
	Types []string
	// Beside is what is put behind the name of a file for that of its signature, in the order in which that is looked for.
	Beside []string
	// Served are the files that a server announces as signatures.
	Served []SignatureFile
	// Option is the option that names files with keys: "keyring". Several kinds may have the same one.
	Option string

	// Sniff reports whether data begins as a signature of this kind does, and as one of no other kind.
	Sniff func(data []byte) bool
	// SniffKeys reports whether data, which Option names, has keys of this kind. It is nil for the kind that takes all data
	// that is of no other kind.
	SniffKeys func(data []byte) bool
	// NewTrust parses keys. The error is a *KeyError.
	NewTrust func(Keys) (Trust, error)
	// Read returns what the signatures in data say. None is checked.
	Read func(data []byte, now time.Time) ([]SignatureResult, error)
	// Describe returns who made a signature that was read, in a line.
	Describe func(SignatureResult) string
}

// A SignatureFile is what the name of a file ends with that holds a signature, and its media type.
type SignatureFile struct{ Ending, Type string }

// Keys are keys or certificates as the user gives them.
type Keys struct {
	Files []KeyFile
	// Pins are the fingerprints of the keys that count. Without any, all keys do.
	Pins []string
	// AllowExpired takes signatures by keys that have expired since.
	AllowExpired bool
}

// A KeyFile is a file with keys or certificates.
type KeyFile struct {
	Name string
	Data []byte
}

// A Trust is the keys or certificates of one kind that the user trusts to sign files. It is not changed once it is in use.
type Trust interface {
	// Kind returns the kind of the signatures that it checks.
	Kind() *SignatureKind

	// Any reports whether there is a key or certificate at all.
	Any() bool

	// Pinned reports whether the user named the very keys that count.
	Pinned() bool

	// Check begins to check a file by its signatures. The error is a *SignatureError if no file could pass.
	Check(Detached) (SignatureChecker, error)
}

// A Detached is a file's signatures in data of their own.
type Detached struct {
	Data []byte
	// Text: they are those of a text, and what is written is that text in canonical form.
	Text bool
	// Names are those that the file has, for signatures that say of which file they are. Empty: none is known.
	Names []string
	// Now is when keys and signatures must be valid.
	Now time.Time
}

// A KeyError says why keys or certificates cannot be used.
type KeyError struct {
	Option string // that gave them
	File   string // the file that is wrong; "" if all together are, or if Why has its name
	Why    string
	Hint   string // what to do; "" if that is clear
}

func (e *KeyError) Error() string { return e.Where() + ": " + e.Why }

// Where returns the option and the file.
func (e *KeyError) Where() string {
	if e.File == "" {
		return e.Option
	}
	return e.Option + " " + e.File
}
