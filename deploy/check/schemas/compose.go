package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"
)

// loadCompose merges the files as Compose does: variables, schema, and references between services, networks and volumes.
func loadCompose(files, environment []string) ([]string, error) {
	if len(files) == 0 {
		return nil, errors.New("no file is named")
	}
	details := types.ConfigDetails{
		WorkingDir:  filepath.Dir(files[0]),
		ConfigFiles: types.ToConfigFiles(files),
		Environment: types.NewMapping(environment),
	}
	// The loader only warns of a variable without a value and of what it ignores.
	var warnings bytes.Buffer
	logrus.SetOutput(&warnings)
	logrus.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true})
	project, err := loader.LoadWithContext(context.Background(), details, func(options *loader.Options) {
		options.SetProjectName("serpcache", false)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	if warnings.Len() > 0 {
		return nil, fmt.Errorf("%s: %s", strings.Join(files, ", "), strings.TrimSpace(warnings.String()))
	}
	return []string{fmt.Sprintf("%d services", len(project.Services))}, nil
}
