package fsys

// Held reports whether another process has locked f, and the ID of that process if it is known. It consults Holder
// before it tries the lock, so that a download that begins at the same moment does not find its file locked.
func Held(f File) (inUse bool, pid int, err error) {
	pid, sure := Holder(f)
	if sure {
		return true, pid, nil
	}
	if locked, err := f.TryLock(); locked || err != nil {
		return false, 0, err
	}
	return true, pid, nil
}
