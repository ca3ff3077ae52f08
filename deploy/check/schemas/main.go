// Schemas decodes files of deploy/ strictly, by the types of the projects that read them:
//
//	schemas manifests < RENDERED
//	schemas compose FILE… [KEY=VALUE…]
//
// The exit status is 1 for a fault in a file and 2 for wrong arguments.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	arguments := os.Args[1:]
	var lines []string
	var err error
	switch {
	case len(arguments) == 1 && arguments[0] == "manifests":
		lines, err = decodeManifests(os.Stdin)
	case len(arguments) > 1 && arguments[0] == "compose":
		files, variables := splitVariables(arguments[1:])
		lines, err = loadCompose(files, append(os.Environ(), variables...))
	default:
		fmt.Fprintln(os.Stderr, "usage: schemas manifests < RENDERED | schemas compose FILE… [KEY=VALUE…]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}

func splitVariables(words []string) (files, variables []string) {
	for _, word := range words {
		if strings.Contains(word, "=") {
			variables = append(variables, word)
		} else {
			files = append(files, word)
		}
	}
	return files, variables
}
