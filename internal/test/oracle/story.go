// Package oracle judges what a downloader did in a world of servers of which some lie.
//
// It knows nothing of braid: a [Story] says what the user asked for, what each server answered, and which files were there before
// and after each command. [Judge] compares that with the properties P1 to P8 and returns what contradicts them. It refuses to
// read messages, and to guess: where a property demands something that the story does not show, nothing is demanded.
//
// Who may say what a file is: the user, by a digest; and the asked server, by its own answers. Where the asked server redirects
// and its answer has neither a digest nor links, the server that is reached speaks for it. No other server is one: no mirror, no
// other target of a redirect.
package oracle

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Ranks of evidence, by the channel over which it came.
const (
	None  = 0
	HTTP  = 1
	HTTPS = 2
	User  = 4
)

// A Story is what happened, with what was true.
type Story struct {
	Contents map[string][]byte // everything that a server could send, by a name
	HTTPS    map[string]bool   // servers that are asked over https
	Commands []Command
}

// A Command is one run of the downloader: what was asked for, what happened, and how it ended.
type Command struct {
	Do, Asked, Require, User                string // get, resume, verify, repair; the URL's server; digest; the user's digest
	Mirrors                                 []string
	Overwrite, Newer, Rename, Refresh, Pipe bool             // replace a file, or one that is older; into a pipe
	Continue, LessProof                     bool             // samples are enough; less proof than the URL offered before is
	Damage, Cut                             string           // to files before the command; interrupt or kill
	Places                                  map[string]Place // the servers, as long as the command runs
	Answers                                 []Answer
	Before, After                           Files
	Output                                  []byte // of a pipe
	Code, Rank                              int    // with code 0: of the best evidence,
	Digest                                  string // and the digest that it speaks of
	Unchanged, Continued, Compared          bool   // nothing had to come; by samples; ranges came twice
	Kept                                    int64  // bytes, as the error says
	Took                                    time.Duration
	Stopped                                 string // why the machine had to end it
}

// A Place is a server during one command.
type Place struct {
	Content, Digest string   // that it has, "" if none; that it states
	Date            string   // that it gives the file
	Links           []string // servers that it names as mirrors beside that digest
	Well, Ranges    bool     // it serves Content, fast, in ranges, and says nothing that is not true; it answers ranges
	Steady, Bad     bool     // it does not change; one of its fields is malformed or contradicts another one
}

// An Answer is the head of one answer, and how much of its body came.
type Answer struct {
	Party, Method, To    string // the server, and that to which it redirects
	Status               int
	From, Sent           int64  // the first byte that was asked for, and how many were read
	Digest, Tag, Content string // sha-256 that it states, in hex; strong entity-tag; what it has
	Date                 string // of the content; "" if it gives none
	Size                 int64  // of the content, as it states; 0 if it does not
	Links, Secret        bool   // it names mirrors; the request had the user's password
	Garbled              bool   // it has a digest that nobody can read
	At                   time.Duration
}

// Files are those of one download, nil if there is none, and the names of others.
type Files struct {
	Final, Part []byte
	Journal     bool
	Strange     []string
}

// A Violation is something that must not be: the number of the property, a class, and the command.
type Violation struct {
	P       int
	What    string
	Command int
}

// SHA256 is the digest of b in hexadecimal digits.
func SHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
