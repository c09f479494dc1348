package fsys

// Held reports whether another process has locked f, and which one if that can be told. It asks before it tries: a
// download that begins at this moment is not to be told that its file is in use.
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
