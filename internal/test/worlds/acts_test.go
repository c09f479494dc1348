package worlds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"braid/internal/fsys"
	"braid/internal/partfile"
)

// resume is "braid parts resume f.bin": the request is what the journal says (cli/parts_resume.go).
func (u *user) resume(ctx context.Context) {
	l, ok, err := partfile.Look(u.files, folder, fileName)
	key := partfile.OpenKey(fsys.OS, u.client.JournalKey)
	switch {
	case err != nil || !ok:
		u.c.Code = 3
		return
	case l.Committed && l.SealedBy(key) && u.cmd.Require == "" && u.cmd.Sha == "" && l.Identity.Require == "":
		u.settle()
		return
	case l.InUse || !l.Known || !l.SealedBy(key) || l.Identity.URL != u.w.url("a"):
		u.c.Code = 3
		return
	}
	q := u.request()
	q.Name = l.Name
	if u.cmd.Sha == "" {
		q.Trust.Claims = append(q.Trust.Claims, l.Identity.Given()...)
	}
	if u.cmd.Require == "" {
		q.Trust.Require = max(q.Trust.Require, requirements[l.Identity.Require])
	}
	u.get(ctx, q)
}

// settle removes a journal whose file is in place.
func (u *user) settle() {
	c, err := partfile.OpenCommitted(u.files, folder, fileName)
	if c == nil || err != nil {
		u.c.Code = 3
		return
	}
	defer c.Close()
	if err := c.Clear(); err != nil {
		u.c.Code = 3
		return
	}
	u.c.Unchanged = true
}

// damage is what happens before a command.
func (r *run) damage(what string) {
	switch what {
	case "key":
		os.Remove(filepath.Join(r.state, "key"))
	case "state":
		os.RemoveAll(r.state)
		os.Mkdir(r.state, 0o700)
	case "part":
		r.edit(fileName + ".part")
	case "journal":
		r.edit(fileName + ".part.journal")
	case "final":
		r.edit(fileName)
	case "remove":
		r.remove(fileName)
	case "clock":
		time.Sleep(40 * 24 * time.Hour)
	}
}

func (r *run) remove(name string) {
	if d, err := r.disk.OpenDir(folder); err == nil {
		d.Remove(name)
		d.Close()
	}
}

// edit changes bytes of a file and sets its date back.
func (r *run) edit(name string) error {
	d, err := r.disk.OpenDir(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := d.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil || info.Size < 100 {
		return err
	}
	p := make([]byte, 8)
	_, err = f.ReadAt(p, info.Size/3)
	for i := range p {
		p[i] ^= 0xff
	}
	_, failed := f.WriteAt(p, info.Size/3)
	return errors.Join(err, failed, d.SetTime(name, info.ModTime))
}
