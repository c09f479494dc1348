package cli

import (
	"bytes"
	"errors"
	"io"
	"os"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/serve"
	"braid/verify"
)

// mirrorFlags are the flags that name mirrors.
type mirrorFlags struct {
	Mirror  option.WordsValue
	Mirrors string
}

const mostMirrors = 16 << 20

// read returns the mirrors of --mirror as named, and those in the file of --mirrors as listed.
func (m *mirrorFlags) read() (named, listed []serve.Mirror, err error) {
	if m.Mirrors != "" {
		f, err := os.Open(m.Mirrors)
		if err != nil {
			return nil, nil, problem.Local("mirrors", m.Mirrors, err)
		}
		defer f.Close()
		if listed, err = serve.ParseMirrors(io.LimitReader(f, mostMirrors)); err != nil {
			return nil, nil, problem.Misuse("--mirrors "+m.Mirrors, err.Error(), "")
		}
	}
	for _, word := range m.Mirror {
		at, err := serve.ParseMirror(word)
		if err != nil {
			return nil, nil, problem.Misuse("--mirror "+job.MaskWord(word), err.Error(), "")
		}
		named = append(named, at)
	}
	return named, listed, nil
}

// signFlags are the flags for the secret key and its passphrase.
type signFlags struct{ SignWith, PassphraseFile string }

// passphraseVariable is the environment variable for the passphrase. No flag takes the passphrase itself, because other
// users can see the command line (rule 62).
const passphraseVariable = "BRAID_PASSPHRASE"

const (
	mostKey        = 1 << 20
	mostPassphrase = 4 << 10
)

// read returns the secret key and its passphrase. Both are nil if --sign-with is not given.
func (f *signFlags) read() (secret, passphrase []byte, err error) {
	if f.SignWith == "" && f.PassphraseFile != "" {
		return nil, nil, problem.Misuse("--passphrase-file", "no key for this passphrase is given",
			"give the key with --sign-with FILE")
	}
	if f.SignWith == "" {
		return nil, nil, nil
	}
	if secret, err = job.ReadFile("--sign-with", f.SignWith, mostKey); err != nil {
		return nil, nil, err
	}
	passphrase = []byte(os.Getenv(passphraseVariable))
	if f.PassphraseFile != "" {
		if passphrase, err = job.ReadFile("--passphrase-file", f.PassphraseFile, mostPassphrase); err != nil {
			return nil, nil, err
		}
		passphrase, _, _ = bytes.Cut(passphrase, []byte("\n"))
		passphrase = bytes.TrimSuffix(passphrase, []byte("\r"))
	}
	return secret, passphrase, nil
}

func (f *signFlags) failure(err error) error {
	hint := "export a key with gpg --armor --export-secret-keys FINGERPRINT, or create one with minisign -G"
	if e, ok := errors.AsType[*verify.SignatureError](err); ok && e.Code == verify.SignatureLocked {
		hint = "set the passphrase in " + passphraseVariable + ", or name a file that contains it with --passphrase-file"
	}
	return problem.Misuse("--sign-with "+f.SignWith, err.Error(), hint)
}
