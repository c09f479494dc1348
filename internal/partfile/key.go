package partfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"braid/internal/fsys"
)

// Key seals the records of journals with an HMAC. The seal distinguishes journals of this user's downloads from
// journals that another program wrote or that came from elsewhere. The key is a random number in a file that only the
// user can read. A nil *Key seals nothing and accepts no seal. Its methods are safe for concurrent use. Several
// processes may use the same file.
type Key struct {
	files fsys.FS
	path  string

	mu  sync.Mutex
	mac hash.Hash // with the secret; nil until the secret was read
}

// OpenKey returns the key stored in the file at path. The file is read on first use, and created by [Key.Make].
func OpenKey(files fsys.FS, path string) *Key { return &Key{files: fsys.Or(files), path: path} }

const (
	keyFamily = "braid journal key 1 "
	keySize   = 32
	sealSize  = sha256.Size
)

// Make creates the key file if it does not exist. If it returns an error, no key is usable and journals are not sealed.
func (k *Key) Make() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.read()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := k.create(); err != nil {
		return err
	}
	return k.read() // another process may have created the key file first
}

// read reads the key file, unless the key was read before. The caller holds mu.
func (k *Key) read() error {
	if k.mac != nil {
		return nil
	}
	d, name, err := fsys.OpenParent(k.files, k.path)
	if err != nil {
		return err
	}
	defer d.Close()
	info, err := d.Stat(name)
	if err != nil {
		return err
	}
	if err := ours(k.path, info); err != nil {
		return err
	}
	if info.Mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s: not used, because other users may read it", k.path)
	}
	text, err := k.content()
	if err != nil {
		return err
	}
	digits, _ := bytes.CutPrefix(bytes.TrimSuffix(text, []byte("\n")), []byte(keyFamily))
	secret, err := hex.DecodeString(string(digits))
	if err != nil || len(secret) != keySize {
		return fmt.Errorf("%s: damaged or in another format; remove the file, and a new one is created", k.path)
	}
	k.mac = hmac.New(sha256.New, secret)
	return nil
}

// content returns the content of the key file, at most 1 KiB. It opens the file for reading only, because the file
// system may be read-only.
func (k *Key) content() ([]byte, error) {
	f, err := k.files.Open(k.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
}

// create writes a new key, syncs it and gives it the final name. If another process was faster, the key of that process
// stays. The caller holds mu.
func (k *Key) create() error {
	if err := fsys.MkdirAll(k.files, filepath.Dir(k.path), 0o700); err != nil {
		return err
	}
	opened, name, err := fsys.OpenParent(k.files, k.path)
	if err != nil {
		return err
	}
	d := folder{files: k.files, dir: opened, path: filepath.Dir(k.path)}
	defer d.close()
	temporary := "." + name + "." + rand.Text() + ".tmp"
	f, err := d.dir.Create(temporary, 0o600)
	if err != nil {
		return err
	}
	secret := make([]byte, keySize)
	rand.Read(secret) // never fails
	_, err = f.WriteAt(fmt.Appendf(nil, "%s%x\n", keyFamily, secret), 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.renameNew(temporary, name)
	}
	if err != nil {
		d.remove(temporary)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.dir.Sync()
}

// seal returns the HMAC of payload for the file name, or nil without a key.
func (k *Key) seal(name string, payload []byte) []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read() != nil {
		return nil
	}
	k.mac.Reset()
	fmt.Fprintf(k.mac, "braid journal of %q\n", name)
	k.mac.Write(payload)
	return k.mac.Sum(nil)
}

// A sealed payload is a JSON object with the seal as the last field. The seal covers the bytes before it, including
// fields that a later version may add.
const (
	sealBegin = `,"Seal":"`
	sealEnd   = `"}`
)

// sealed returns payload with its seal, or payload itself without a key.
func (k *Key) sealed(name string, payload []byte) []byte {
	seal := k.seal(name, payload)
	if seal == nil {
		return payload
	}
	return slices.Concat(payload[:len(payload)-1], []byte(sealBegin), hex.AppendEncode(nil, seal), []byte(sealEnd))
}

// fits reports whether payload has a seal that this key made for name.
func (k *Key) fits(name string, payload []byte) bool {
	at := len(payload) - len(sealBegin) - 2*sealSize - len(sealEnd)
	if at < 1 {
		return false
	}
	text, ok := bytes.CutPrefix(payload[at:], []byte(sealBegin))
	text, end := bytes.CutSuffix(text, []byte(sealEnd))
	seal, err := hex.DecodeString(string(text))
	if !ok || !end || err != nil {
		return false
	}
	own := k.seal(name, append(bytes.Clone(payload[:at]), '}'))
	return own != nil && hmac.Equal(own, seal)
}
