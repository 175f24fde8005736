// Command patched-apiserver makes a patched copy of the released k8s.io/apiserver module:
//
//	patched-apiserver --patch patches/kubernetes-1.37.patch DIRECTORY
//
// The copy is made anew only when the version or the patch changed, so that Go's build cache stays
// valid. It needs no program but go.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

const (
	module = "k8s.io/apiserver@v0.37.2"
	// The sum that go.sum files have for this version.
	moduleSum = "h1:9Jq73PeHAA0RThpW7ou6lBcO2+SxLcPrAgleONSMUNQ="
	// Where the module lies in a kubernetes tree, which the patch is made for.
	pathInTree = "staging/src/k8s.io/apiserver/"
)

func main() {
	patch := flag.String("patch", "", "the `file` with the patch, made for a kubernetes tree")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: patched-apiserver --patch FILE DIRECTORY\n\nMakes a copy of %s in DIRECTORY and applies the patch to it.\n\n", module)
		flag.PrintDefaults()
	}
	flag.Parse()
	if *patch == "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*patch, flag.Arg(0)); err != nil {
		fmt.Fprintf(os.Stderr, "patched-apiserver: %v\n", err)
		os.Exit(1)
	}
}

func run(patch, destination string) error {
	text, err := os.ReadFile(patch)
	if err != nil {
		return err
	}
	// Beside the copy, and written last: a copy without it is not whole.
	stamp := destination + ".stamp"
	want := fmt.Sprintf("%s %x\n", module, sha256.Sum256(text))
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		if _, err := os.Stat(destination); err == nil {
			return nil
		}
	}

	source, err := download()
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(stamp), os.RemoveAll(destination)); err != nil {
		return err
	}
	if err := copyTree(source, destination); err != nil {
		return err
	}
	if err := apply(text, destination); err != nil {
		return fmt.Errorf("applying %s to %s: %w", patch, module, err)
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// download returns the module's directory in the module cache.
func download() (string, error) {
	command := exec.Command("go", "mod", "download", "-json", module)
	// Outside any module: the copy must not depend on the module that will use it.
	command.Dir = string(filepath.Separator)
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	// With -json an error is in the output, too.
	output, runErr := command.Output()
	var info struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(output, &info); err != nil {
		return "", errors.Join(runErr, fmt.Errorf("output of go mod download: %w", err))
	}
	switch {
	case info.Error != "":
		return "", fmt.Errorf("downloading %s: %s", module, info.Error)
	case runErr != nil:
		return "", fmt.Errorf("downloading %s: %w", module, runErr)
	case info.Sum != moduleSum:
		return "", fmt.Errorf("%s has the sum %s, expected %s", module, info.Sum, moduleSum)
	}
	return info.Dir, nil
}

// copyTree copies files and directories and makes them writable, which the module cache's are not.
func copyTree(source, destination string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		target := filepath.Join(destination, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}

// apply changes the files of the module in directory as the patch says. A patch that touches
// anything else, or whose context differs, is an error.
func apply(patch []byte, directory string) error {
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("it changes no file")
	}
	for _, file := range files {
		name, inModule := strings.CutPrefix(file.NewName, "b/"+pathInTree)
		if !inModule || file.IsNew || file.IsDelete || file.IsRename || !filepath.IsLocal(name) {
			return fmt.Errorf("%s: only changes of files below %s are known", file.NewName, pathInTree)
		}
		path := filepath.Join(directory, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var changed bytes.Buffer
		if err := gitdiff.Apply(&changed, bytes.NewReader(content), file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(path, changed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
