package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"braid/internal/fsys"
	"braid/internal/problem"
)

// tokenFile is the name of the file in the folder of the state that has the token.
const tokenFile = "token"

// tokenOf is the word that clients of the daemon with this folder have to show. It is made where it is missing.
func tokenOf(state string) (string, error) { return randomWord(filepath.Join(state, tokenFile)) }

// fleetIDFile is the name of the file in the folder of the state that tells the jobs of this daemon from those of all others.
const fleetIDFile = "fleet-id"

// fleetPrefix begins the Watch of the jobs of the daemon with this folder. Daemons of several machines may have the
// same path and the same token.
func fleetPrefix(state string) (string, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", problem.Local("state", state, err)
	}
	id, err := randomWord(filepath.Join(state, fleetIDFile))
	if err != nil {
		return "", problem.Local("state", state, err)
	}
	return "daemon " + id[:min(12, len(id))] + " ", nil
}

// randomWord is the word in a file. It is made where it is missing.
func randomWord(path string) (string, error) {
	word, err := readToken(path)
	if word != "" || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return word, err
	}
	var b [32]byte
	rand.Read(b[:])
	word = hex.EncodeToString(b[:])
	if err == nil { // the file is empty
		return word, fsys.WriteFile(fsys.OS, path, []byte(word+"\n"), 0o600)
	}
	return makeToken(path, word)
}

func readToken(path string) (string, error) {
	data, err := fsys.ReadFile(fsys.OS, path, 1<<10)
	return strings.TrimSpace(string(data)), err
}

// makeToken puts a token into a file that is not there yet, whole. If another process has made one meanwhile, that is the token.
func makeToken(path, word string) (string, error) {
	own := path + "-" + word[:16]
	if err := fsys.WriteFile(fsys.OS, own, []byte(word+"\n"), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(own)
	err := os.Link(own, path)
	if errors.Is(err, fs.ErrExist) {
		return readToken(path)
	}
	if err != nil { // a file system without links
		return word, os.Rename(own, path)
	}
	return word, nil
}
