// Reads manifests of Kubernetes from standard input and decodes each into the type of its kind, as
// a server does that refuses unknown fields, duplicate fields and values of a wrong type. Writes a
// line for each manifest that is wrong, and ends with 1 if there was one.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

var types = map[string]func() any{
	"apps/v1 Deployment":                      func() any { return &apps.Deployment{} },
	"v1 ConfigMap":                            func() any { return &core.ConfigMap{} },
	"v1 Pod":                                  func() any { return &core.Pod{} },
	"v1 Service":                              func() any { return &core.Service{} },
	"v1 ServiceAccount":                       func() any { return &core.ServiceAccount{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networking.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policy.PodDisruptionBudget{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoring.ServiceMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return &monitoring.PrometheusRule{} },
}

func main() {
	count, wrong := 0, 0
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		count++
		if err == nil {
			err = decode(document)
		}
		if err != nil {
			wrong++
			fmt.Fprintf(os.Stderr, "manifest %d: %v\n", count, err)
		}
	}
	fmt.Printf("%d manifests, %d wrong\n", count, wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}

func decode(document []byte) error {
	var head meta.TypeMeta
	if err := strict.Unmarshal(document, &head); err != nil {
		return err
	}
	name := head.APIVersion + " " + head.Kind
	makeValue, isKnown := types[name]
	if !isKnown {
		return fmt.Errorf("no type for %q", name)
	}
	if err := strict.UnmarshalStrict(document, makeValue()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
