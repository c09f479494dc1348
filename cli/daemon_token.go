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

// tokenFile is the name of the token's file in the state folder.
const tokenFile = "token"

// tokenOf returns the token of the daemon with the given state folder. It creates the token if it is missing.
func tokenOf(state string) (string, error) { return randomWord(filepath.Join(state, tokenFile)) }

// fleetIDFile is the name of the file in the state folder with the daemon's ID, which identifies its jobs in
// a job queue.
const fleetIDFile = "fleet-id"

// fleetPrefix returns the prefix of the Watch field in the jobs of the daemon with the given state folder. It
// contains a random ID and not the path or the token, because daemons on several machines may have the same
// path and token.
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

// randomWord returns the word in the file. It creates the file with a random word if it is missing.
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

// makeToken creates the file with a token, atomically. If another process has created it meanwhile, makeToken
// returns the token of that process.
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
	if err != nil { // the file system has no links
		return word, os.Rename(own, path)
	}
	return word, nil
}
