package partfile

import "braid/internal/fsys"

// openLocked opens the journal at name, or creates it, and locks it; a new one is empty. The journal is the lock
// because it is the first of the two files to come and the last to go. part is for messages.
func (d folder) openLocked(name, part string) (file fsys.File, isNew bool, err error) {
	const attempts = 100
	for range attempts {
		f, isNew, err := d.openOurs(name)
		if err != nil {
			return nil, false, err
		}
		if held, isNew, err := d.claim(f, name, part, isNew); held || err != nil {
			f, err = closeUnless(f, err)
			return f, isNew, err
		}
		f.Close()
	}
	return nil, false, &InUseError{Path: d.join(part)}
}

// claim locks f, which was opened at name, and reports whether it is as new as it was then. Another process may have
// locked it, and left something, between its creation and our lock.
func (d folder) claim(f fsys.File, name, part string, wasNew bool) (held, isNew bool, err error) {
	held, err = d.lock(f, name, part)
	if !held || err != nil || !wasNew {
		return held, false, err
	}
	info, err := f.Info()
	return true, info.Size == 0, err
}

// lock locks f, which was opened at name. The lock is the kernel's: it ends with the process. It is not held
// if the last owner of f removed it before we had the lock: such a file locks nothing.
func (d folder) lock(f fsys.File, name, part string) (held bool, err error) {
	switch locked, err := f.TryLock(); {
	case err != nil:
		return false, err
	case !locked:
		pid, _ := fsys.Holder(f)
		return false, &InUseError{d.join(part), pid}
	}
	return d.isNameOf(name, f)
}
