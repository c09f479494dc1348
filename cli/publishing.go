package cli

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"braid/serve"
	"braid/verify"
)

// mirrorFlags say where copies lie.
type mirrorFlags struct {
	words cli.StringSlice
	file  string
}

const mostMirrors = 16 << 20

func (m *mirrorFlags) targets() targets {
	return targets{
		"mirror":  &m.words,
		"mirrors": &m.file,
	}
}

// read gives the mirrors that the command line names, and those that the file lists.
func (m *mirrorFlags) read() (named, listed []serve.Mirror, err error) {
	if m.file != "" {
		f, err := os.Open(m.file)
		if err != nil {
			return nil, nil, &failure{code: exitLocal, what: "mirrors", where: m.file, why: reason(err)}
		}
		defer f.Close()
		if listed, err = serve.ParseMirrors(io.LimitReader(f, mostMirrors)); err != nil {
			return nil, nil, misuse("--mirrors "+m.file, err.Error(), "")
		}
	}
	for _, word := range m.words.Value() {
		at, err := serve.ParseMirror(word)
		if err != nil {
			return nil, nil, misuse("--mirror "+maskWord(word), err.Error(), "")
		}
		named = append(named, at)
	}
	return named, listed, nil
}

// signFlags say with which key files are signed.
type signFlags struct{ key, passphraseFile string }

// passphraseVariable is where a passphrase comes from. It has no flag: others see the command line (rule 62).
const passphraseVariable = "BRAID_PASSPHRASE"

const (
	mostKey        = 1 << 20
	mostPassphrase = 4 << 10
)

func (f *signFlags) targets() targets {
	return targets{
		"sign-with":       &f.key,
		"passphrase-file": &f.passphraseFile,
	}
}

// read gives the key and what unlocks it; nothing if there is none.
func (f *signFlags) read() (secret, passphrase []byte, err error) {
	if f.key == "" && f.passphraseFile != "" {
		return nil, nil, misuse("--passphrase-file", "unlocks a key, and there is none", "--sign-with FILE has it")
	}
	if f.key == "" {
		return nil, nil, nil
	}
	if secret, err = readSmall("--sign-with", f.key, mostKey); err != nil {
		return nil, nil, err
	}
	passphrase = []byte(os.Getenv(passphraseVariable))
	if f.passphraseFile != "" {
		if passphrase, err = readSmall("--passphrase-file", f.passphraseFile, mostPassphrase); err != nil {
			return nil, nil, err
		}
		passphrase, _, _ = bytes.Cut(passphrase, []byte("\n"))
		passphrase = bytes.TrimSuffix(passphrase, []byte("\r"))
	}
	return secret, passphrase, nil
}

func (f *signFlags) failure(err error) error {
	hint := "gpg --armor --export-secret-keys FINGERPRINT writes one"
	if e, ok := errors.AsType[*verify.SignatureError](err); ok && e.Code == verify.SignatureLocked {
		hint = "put it into " + passphraseVariable + ", or its file after --passphrase-file"
	}
	return misuse("--sign-with "+f.key, err.Error(), hint)
}
