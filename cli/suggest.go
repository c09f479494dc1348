package cli

// foreign are letters that mean different things in curl, wget and aria2. They mean nothing here, and these
// are the words for those who know them from there.
var foreign = map[string]string{
	"-O": "-o NAME names the file; without it the name comes from the URL",
	"-C": "a second run of the same command goes on where the first ended; --overwrite replaces a file",
	"-k": "--insecure HOST leaves the certificate of one host unchecked, --cacert FILE names further authorities; ranges are sized by speed, and -s limits the sources",
	"-t": "--tries N limits attempts; --timeout TIME limits silence",
	"-T": "--timeout TIME limits silence",
	"-n": "-u USER:PASSWORD gives credentials; --no-clobber keeps a file that exists",
	"-m": "--max-time TIME limits the whole, --timeout TIME silence, --tries N attempts",
	"-Z": "several URLs are several files, -j N of them at once; --mirror URL adds a mirror to one file, and -s limits the sources in use",
}
