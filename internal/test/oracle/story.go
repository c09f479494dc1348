// Package oracle judges the behavior of a downloader in a simulated world of servers, some of which lie.
//
// It does not depend on braid. A [Story] contains the user's commands, the answer of each server, and the files before
// and after each command. [Judge] compares these with the properties P1 to P8 and returns the violations. It does not
// read messages and does not guess: if a story does not show whether a property applies, the property is not checked.
//
// Two authorities may state what a file is: the user, by a digest, and the asked server, by its own answers. If the
// asked server redirects and its answer has neither a digest nor links, the target of the redirect is an authority in
// its place, unless the asked server itself has stated a digest before. No other server is an authority, in particular no
// mirror and no other target of a redirect. If neither the user nor an answer of the asked server itself states what the
// file is, what the server publishes beside the file does: a list that the user did not name, or the answer of its forge.
package oracle

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Ranks of evidence, by the channel that it came over.
const (
	None  = 0
	HTTP  = 1
	HTTPS = 2
	// Signed is a signature by a key that the user trusts.
	Signed = 3
	User   = 4
)

// Kinds of answers other than the file itself.
const (
	Document  = "document"
	List      = "list"
	Signature = "signature"
)

// Feed is the file of a lookup that needs no request: the command has a digest from a feed of the asked server.
const Feed = "feed"

// Story is a sequence of commands, with the true contents.
type Story struct {
	Contents map[string][]byte // everything that servers can send, by name
	HTTPS    map[string]bool   // servers that use https
	Signed   map[string]bool   // digests of the contents that the trusted key has signed
	Commands []Command
}

// Command is one run of the downloader: its arguments, events and result.
type Command struct {
	Do, Asked, Require, User                string // get, resume, verify or repair; server; digest; from the user
	Document                                string // "url" if the asked server was asked for it, else on disk, t...: a torrent
	List                                    string // server of the list
	Key                                     bool   // the user trusts a key
	Mirrors                                 []string
	Fed                                     string           // a mirror that the feed names
	Overwrite, Newer, Rename, Refresh, Pipe bool             // --overwrite, -N and so on; Pipe writes into a pipe
	Turn                                    bool             // of a watch: Newer, with a memory of its own
	Continue, LessProof                     bool             // accept samples; accept less proof than before
	Older, NoLinks                          bool             // accept an older file with Newer; ignore mirrors that servers name
	Store                                   bool             // the file goes to an object store, where nothing is read again
	Damage, Cut                             string           // damage to files before the command; interrupt or kill
	Places                                  map[string]Place // the servers during the command
	Answers                                 []Answer
	Lookup                                  bool     // it may look for what is published beside the file
	Forge                                   string   // the server that answers for a forge, if it uses https
	Lookups                                 []Answer // to the requests of lookups
	Before, After                           Files
	Output                                  []byte // of a pipe
	Code, Rank                              int    // if the code is 0: rank of the best evidence,
	Digest                                  string // and its digest
	Unchanged, Continued, Compared          bool   // nothing was needed; by samples; ranges were fetched twice
	Kept                                    int64  // bytes kept, according to the error
	Took                                    time.Duration
	Stopped                                 string // why the simulation ended the command
}

// Place is a server during one command.
type Place struct {
	Content, Digest string   // content of the server, "" for none; digest that it states
	Date            string   // date that it sends for the file
	Links           []string // servers that it names as mirrors beside that digest
	Well, Ranges    bool     // it serves Content quickly, in ranges, and truthfully; it supports ranges
	Steady, Bad     bool     // it does not change; one of its fields is malformed or contradicts another
}

// Answer is the header section of an answer, and the number of bytes received from its body.
type Answer struct {
	Kind, File           string // "" for the file; name of the file that a lookup asks for
	Party, Method, To    string // the server, and the server that it redirects to
	Status               int
	From, Sent           int64  // offset of the first requested byte, and number of bytes read
	Digest, Tag, Content string // stated SHA-256 in hex; strong entity tag; content of the server
	Date                 string // of the content; "" if not sent
	Size                 int64  // of the content, as stated; 0 if not sent
	Links, Secret        bool   // it names mirrors; the request contained the user's password
	Garbled              bool   // its digest is malformed
	Lists                string // names of the lists in an index, with commas
	At                   time.Duration
}

// Files are the files of one download, nil if missing, and the names of other files.
type Files struct {
	Final, Part []byte
	Journal     bool
	Strange     []string
}

// Violation is a violated property: its number, a class, and the command.
type Violation struct {
	P       int
	What    string
	Command int
}

// SHA256 returns the digest of b in hexadecimal digits.
func SHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
