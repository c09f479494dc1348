package verify

import "time"

// MaxSignature is the maximum size, in bytes, of a file with signatures.
const MaxSignature = 1 << 20

// A SignatureKind is a format of signatures, and of the keys or certificates that check them. Each kind is a variable
// in its own package and a row of the table in package signatures. No other package refers to a single kind.
type SignatureKind struct {
	// Name is the name in messages, such as "OpenPGP". Article is the indefinite article of Name.
	Name, Article string
	// Types are the media types of signatures of this kind, in lower case, the most usual first.
	Types []string
	// Beside are the suffixes that turn the name of a file into the name of its signature. They are tried in this
	// order.
	Beside []string
	// Served are the kinds of files that package serve announces as signatures.
	Served []SignatureFile
	// Option is the name of the option for files with keys: "keyring". Several kinds may share an option. A file that
	// no kind recognizes is then passed to the first kind with that option.
	Option string

	// Sniff reports whether data begins like a signature of this kind and of no other kind.
	Sniff func(data []byte) bool
	// SniffKeys reports whether data has public or secret keys, or certificates, of this kind.
	SniffKeys func(data []byte) bool
	// NewTrust returns the Trust in the keys of its argument. The error is a *KeyError.
	NewTrust func(Keys) (Trust, error)
	// Read parses the signatures in data without checking them.
	Read func(data []byte, now time.Time) ([]SignatureResult, error)
	// SniffSecret reports whether data has a secret key of this kind. NewSigner unlocks such a key; now is the time of
	// signing. Both are nil if signatures of this kind can only be checked.
	SniffSecret func(data []byte) bool
	NewSigner   func(secret, passphrase []byte, now time.Time) (Signer, error)
	// Describe returns a line about the signer of a signature that was read.
	Describe func(SignatureResult) string
}

// A SignatureFile is a file name ending of signature files, and their media type.
type SignatureFile struct{ Ending, Type string }

// Keys are keys or certificates as given by the user, before they are parsed.
type Keys struct {
	Files []KeyFile
	// Pins are the fingerprints of the accepted keys. If empty, all keys are accepted.
	Pins []string
	// AllowExpired accepts a signature by a key that has expired after the signature was made.
	AllowExpired bool
	// Sniffed means that the content of Files determined the kind, not an option. A certificate must then belong to a
	// certificate authority.
	Sniffed bool
	// Part means that Files are not all files of the user. A revocation in Files may then be of a key in another file.
	Part bool
}

// A KeyFile is a file with keys or certificates.
type KeyFile struct {
	Name string
	Data []byte
}

// A Trust is the set of keys or certificates of one kind that the user trusts to sign files. A Trust does not change
// while it is in use.
type Trust interface {
	// Kind returns the kind of the signatures that the Trust checks.
	Kind() *SignatureKind

	// Any reports whether the set has a key or certificate.
	Any() bool

	// Names returns a fingerprint, an id or a subject for each key or certificate. Text from keys is escaped.
	Names() []string

	// Pinned reports whether the user chose each key that is accepted.
	Pinned() bool

	// Check returns a checker for a file with these signatures. The error is a *SignatureError if no file could pass.
	Check(Detached) (SignatureChecker, error)
}

// A Detached holds the detached signatures of a file.
type Detached struct {
	Data []byte
	// Text means that the signatures are of a text. The caller then writes the text in canonical form.
	Text bool
	// Names are the names of the file, for signatures that name their file. If empty, the names are unknown.
	Names []string
	// Now is the time at which keys and signatures must be valid.
	Now time.Time
}

// A KeyError reports why keys or certificates cannot be used.
type KeyError struct {
	Option string // the option for the keys, such as "keyring"
	File   string // the faulty file; "" if no single file is at fault, or if Why names it
	Why    string
	Hint   string // the remedy; "" if it is obvious
}

func (e *KeyError) Error() string { return e.Where() + ": " + e.Why }

// Where returns the option and the file.
func (e *KeyError) Where() string {
	if e.File == "" {
		return e.Option
	}
	return e.Option + " " + e.File
}
