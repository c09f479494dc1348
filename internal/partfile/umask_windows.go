package partfile

import "io/fs"

// umask returns 0: on Windows, a file inherits its permissions from its folder.
func umask() fs.FileMode { return 0 }
