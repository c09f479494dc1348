package partfile

import "braid/internal/fsys"

// openLocked opens the journal at name, or creates it, and locks it. A new journal is empty. The journal serves as the
// lock because it is created before the part file and removed after the part file. part is the name for messages.
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

// claim locks f, which was opened at name. It reports whether f is locked and whether f is still new: another process
// may have locked and written f between its creation and this lock.
func (d folder) claim(f fsys.File, name, part string, wasNew bool) (held, isNew bool, err error) {
	info, held, err := d.lock(f, name, part)
	return held, held && wasNew && info.Size == 0, err
}

// lock locks f, which was opened at name, until the process ends, and returns its state. It reports false if the previous
// holder removed the file before the lock was acquired, because a removed file protects nothing.
func (d folder) lock(f fsys.File, name, part string) (info fsys.Info, held bool, err error) {
	switch locked, err := f.TryLock(); {
	case err != nil:
		return info, false, err
	case !locked:
		pid, _ := fsys.Holder(f)
		return info, false, &InUseError{d.join(part), pid}
	}
	return d.isNameOf(name, f)
}
