package cli

// newerFlags say what becomes of a file that is there (rule 54).
type newerFlags struct{ ifNewer, allowOlder, remoteTime bool }
