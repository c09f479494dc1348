// Package worlds searches for stories that violate the promises of the program. It generates worlds of servers, some of
// which lie, break or change, runs several commands in them, with kills and damage in between, and lets package oracle
// judge the result. A violation is shrunk to the smallest story that still shows it, and printed as text that can be
// stored and replayed.
//
// Everything runs in one process: servers are functions, time is that of testing/synctest, and files are in memory. The
// commands are those of package download. TLS and the framing of HTTP/1.1 are not simulated: servers replace the
// connections (httpsource.Client.Transport), and the certificate of an https URL is valid unless the world says
// otherwise.
//
// All code is in test files. The directory testdata has the stories that are always run; scripts/worlds searches for
// more.
package worlds
