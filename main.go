// The command braid downloads a file from many mirrors at once and proves that it is the right one.
package main

import (
	"os"

	"braid/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
