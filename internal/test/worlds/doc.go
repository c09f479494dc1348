// Package worlds looks for stories that contradict what the program promises: it makes worlds of servers of which some lie,
// break or change, runs several commands there, with kills and damage between, and asks package oracle what of it must not be.
// What is wrong is shrunk to the smallest story that still is, and printed in a text that can be kept and replayed.
//
// All of it is one process: the servers are functions, the time is that of testing/synctest, and the files are in memory. The
// commands are those of package download. TLS and the framing of HTTP/1.1 are not in it: a server stands in place of the
// connections (httpsource.Client.Transport), and the certificate of an https URL is good, unless the world says something else.
//
// Everything is in files of tests. The directory testdata has the stories that are always run; scripts/worlds looks for more.
package worlds
