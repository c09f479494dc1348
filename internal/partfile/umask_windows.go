package partfile

import "io/fs"

// umask: the permissions of a file are inherited from its folder here.
func umask() fs.FileMode { return 0 }
