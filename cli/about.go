package cli

import "braid/internal/option"

// aboutBraid is what the man page says first.
var aboutBraid = []string{
	"A server that speaks Metalink/HTTP (RFC 6249) says in the header of its answer where copies of a file lie and what its " +
		"SHA-256 is. braid fetches ranges from those mirrors in parallel, gives each as much as it is really fast for, moves on from " +
		"those that stall, refuses those that have another version, and gives the file its name only when the hash of every byte is right.",
	"It also reads Metalink documents and torrents, makes and serves them, checks and repairs files that are there already, and " +
		"watches feeds for new versions.",
	"What is meant for programs goes to standard output, messages and progress go to standard error.",
}

// exitCodes are what the exit codes mean. They are documented and none is ever given another meaning.
var exitCodes = []option.Term{
	{Word: "0", Text: "the file is in place, verified to the level asked for"},
	{Word: "1", Text: "none of those below"},
	{Word: "2", Text: "the command makes no sense"},
	{Word: "3", Text: "local file: it exists, the disk is full, no permission, in use; its folder was moved or removed meanwhile"},
	{Word: "4", Text: "network: no connection, silence, no source left"},
	{Word: "5", Text: "TLS: a certificate that is not to be trusted"},
	{Word: "6", Text: "a server or proxy wants a name and password, or others"},
	{Word: "7", Text: "the server contradicts itself, or a document, list or feed is not to the letter"},
	{Word: "8", Text: "the server has no such file, or refuses it"},
	{Word: "9", Text: "a signature by somebody whom you do not trust"},
	{Word: "10", Text: "a signature that is bad, expired, revoked or of another file"},
	{Word: "11", Text: "digest or size differ"},
	{Word: "12", Text: "verification was asked for and there is nothing to verify with"},
	{Word: "13", Text: "retries used up, the work so far is kept"},
	{Word: "14", Text: "a limit was exceeded"},
	{Word: "130, 143", Text: "interrupted, the work so far is kept"},
}

// variables are those of the environment that are no flags.
var variables = []option.Term{
	{Word: "BRAID_...", Text: "each flag: --limit-rate is BRAID_LIMIT_RATE. The command line beats it, and an empty value is an error"},
	{Word: "http_proxy, https_proxy, no_proxy", Text: "proxies, and hosts that are asked without one"},
	{Word: "SSL_CERT_FILE, SSL_CERT_DIR", Text: "the authorities that certificates must lead to"},
	{Word: "NO_COLOR, TERM", Text: "a terminal without colours, or without the means to draw"},
	{Word: "XDG_CACHE_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME", Text: "where your folders are"},
	{Word: "GOMAXPROCS", Text: "how many processors are used at most"},
}

// stateFiles are those that are written beside the files that were asked for.
var stateFiles = []option.Term{
	{Word: "NAME.part, NAME.part.journal", Text: "what is there of a file that is not complete or not proven; the same command goes on there"},
	{Word: "NAME.part.bad", Text: "what was set aside because it is of another file or damaged"},
	{Word: "~/.local/state/braid/journal-key", Text: "by what the journals of this user's part files are told from those of others; without it a resumed download asks its server again what the file is"},
	{Word: "~/.local/state/braid/hosts", Text: "how fast servers were, under hashes of their names (--no-remember)"},
	{Word: "~/.local/state/braid/pins", Text: "what URLs offered to verify their files with, under hashes of the URLs"},
	{Word: "~/.local/state/braid/versions", Text: "what servers said of files that -N downloaded"},
	{Word: "~/.config/braid/watch.toml", Text: "what braid watch does without an operand"},
}
