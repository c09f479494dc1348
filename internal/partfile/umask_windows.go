package partfile

import "io/fs"

// umask: who may do what with a file is inherited from its folder here.
func umask() fs.FileMode { return 0 }
