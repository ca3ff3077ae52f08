package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// A manifest is one document of the stream, as its type reads it.
type manifest struct {
	// For messages: `document 3 Deployment/x`.
	place  string
	kind   string
	name   string
	object runtime.Object
}

// decodeManifests returns kind/name of each document. Unknown kinds, unknown and repeated fields are errors, and so is what an
// API server would refuse although it decodes.
func decodeManifests(stream io.Reader) ([]string, error) {
	decoder, err := newDecoder()
	if err != nil {
		return nil, err
	}
	manifests, err := readManifests(stream, decoder)
	if err != nil {
		return nil, err
	}
	if len(manifests) == 0 {
		return nil, errors.New("there is no document")
	}
	if err := checkReferences(manifests); err != nil {
		return nil, err
	}
	lines := make([]string, len(manifests))
	for at, each := range manifests {
		lines[at] = each.kind + "/" + each.name
	}
	return lines, nil
}

func newDecoder() (runtime.Decoder, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme,
		autoscaling.AddToScheme,
		batch.AddToScheme,
		core.AddToScheme,
		monitoring.AddToScheme,
		networking.AddToScheme,
		policy.AddToScheme,
		rbac.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	options := serializer.SerializerOptions{Yaml: true, Strict: true}
	return serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, options), nil
}

func readManifests(stream io.Reader, decoder runtime.Decoder) ([]manifest, error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(stream))
	var manifests []manifest
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return manifests, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		var partial meta.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &partial); err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		if partial.Kind == "" && isComment(document) {
			continue
		}
		place := fmt.Sprintf("document %d %s/%s", number, partial.Kind, partial.Name)
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		manifests = append(manifests, manifest{place, partial.Kind, partial.Name, object})
	}
}

// A template whose condition is false leaves a document of comments.
func isComment(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
