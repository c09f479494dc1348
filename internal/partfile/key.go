package partfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"

	"braid/internal/fsys"
)

// A Key seals what journals say, so that a journal that another program wrote, or that came as a file of a stranger, is told from
// those of this user's downloads. It is a random number in a file that only the user can read. A nil Key seals nothing, and no
// seal fits it. Its methods may be called by several goroutines, and the file is used by several processes at once.
type Key struct {
	files fsys.FS
	path  string

	mu     sync.Mutex
	secret []byte // once it was read
}

// OpenKey is the key in the file at path, which is read when it is needed first, and made by [Key.Make].
func OpenKey(files fsys.FS, path string) *Key { return &Key{files: fsys.Or(files), path: path} }

const (
	keyFamily = "braid journal key 1 "
	keySize   = 32
	sealSize  = sha256.Size
)

// Make makes the key, if there is none. The error says why there is no key that could be used; journals have no seal then.
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
	return k.read() // another process may have been faster
}

// read reads the key unless that was done. The caller holds mu.
func (k *Key) read() error {
	if k.secret != nil {
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
		return fmt.Errorf("%s: others may read it: it is not used", k.path)
	}
	text, err := k.content()
	if err != nil {
		return err
	}
	digits, _ := bytes.CutPrefix(bytes.TrimSuffix(text, []byte("\n")), []byte(keyFamily))
	secret, err := hex.DecodeString(string(digits))
	if err != nil || len(secret) != keySize {
		return fmt.Errorf("%s: it is damaged, or something else; without it a new one is made", k.path)
	}
	k.secret = secret
	return nil
}

// content reads what cannot be much. It is opened for reading only: the folder may be on a file system that can only be read.
func (k *Key) content() ([]byte, error) {
	f, err := k.files.Open(k.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
}

// create puts a key in place that is whole and on disk, unless there is one: that of a process that was faster stays. The caller
// holds mu.
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

// seal is what proves that payload was written for the file name by a program that has the key; nil without a key.
func (k *Key) seal(name string, payload []byte) []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read() != nil {
		return nil
	}
	mac := hmac.New(sha256.New, k.secret)
	fmt.Fprintf(mac, "braid journal of %q\n", name)
	mac.Write(payload)
	return mac.Sum(nil)
}

// A payload is JSON of which the seal is the last field: it seals the bytes before it, so that what a later version adds to them
// makes no difference.
const (
	sealBegin = `,"Seal":"`
	sealEnd   = `"}`
)

// sealed adds the seal to a payload, if there is a key.
func (k *Key) sealed(name string, payload []byte) []byte {
	seal := k.seal(name, payload)
	if seal == nil {
		return payload
	}
	return fmt.Appendf(nil, "%s%s%x%s", payload[:len(payload)-1], sealBegin, seal, sealEnd)
}

// fits reports whether a payload has the seal of this key, for that name.
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
