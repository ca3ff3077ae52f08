package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The parts of a release that others name.
type release struct {
	pods     []core.PodTemplateSpec
	services []*core.Service
	names    map[string]bool
}

// checkReferences finds what a cluster refuses or, worse, takes without effect: names and selectors that lead to nothing.
func checkReferences(manifests []manifest) error {
	parts := release{names: map[string]bool{}}
	for _, each := range manifests {
		key := each.kind + "/" + each.name
		if problems := validation.IsDNS1123Subdomain(each.name); len(problems) > 0 {
			return fmt.Errorf("%s: metadata.name: %s", each.place, problems[0])
		}
		if parts.names[key] {
			return fmt.Errorf("%s: it is there twice", each.place)
		}
		parts.names[key] = true
		switch object := each.object.(type) {
		case *apps.Deployment:
			parts.pods = append(parts.pods, object.Spec.Template)
		case *core.Service:
			parts.services = append(parts.services, object)
		}
	}
	for _, each := range manifests {
		if err := parts.check(each); err != nil {
			return fmt.Errorf("%s: %w", each.place, err)
		}
	}
	return nil
}

func (parts release) check(each manifest) error {
	switch object := each.object.(type) {
	case *apps.Deployment:
		return parts.checkDeployment(object.Spec)
	case *core.Service:
		return parts.checkService(object)
	case *autoscaling.HorizontalPodAutoscaler:
		return parts.checkAutoscaler(object.Spec)
	case *policy.PodDisruptionBudget:
		if object.Spec.MinAvailable != nil && object.Spec.MaxUnavailable != nil {
			return errors.New("spec.minAvailable and spec.maxUnavailable exclude each other")
		}
		return parts.checkPods("spec.selector", object.Spec.Selector)
	case *networking.NetworkPolicy:
		return parts.checkPods("spec.podSelector", &object.Spec.PodSelector)
	case *monitoring.ServiceMonitor:
		return parts.checkServiceMonitor(object.Spec)
	}
	return nil
}

func (parts release) checkDeployment(spec apps.DeploymentSpec) error {
	selector, err := meta.LabelSelectorAsSelector(spec.Selector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(spec.Template.Labels)) {
		return errors.New("spec.selector does not match the labels of spec.template")
	}
	if rolling := spec.Strategy.RollingUpdate; rolling != nil && isZero(rolling.MaxSurge) && isZero(rolling.MaxUnavailable) {
		return errors.New("spec.strategy.rollingUpdate: maxSurge and maxUnavailable are both 0")
	}
	pod := spec.Template.Spec
	if account := pod.ServiceAccountName; account != "" && account != "default" && !parts.names["ServiceAccount/"+account] {
		return fmt.Errorf("serviceAccountName: there is no ServiceAccount %s", account)
	}
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		if volumes[volume.Name] {
			return fmt.Errorf("the volume %s is there twice", volume.Name)
		}
		volumes[volume.Name] = true
		if volume.ConfigMap != nil && !parts.names["ConfigMap/"+volume.ConfigMap.Name] {
			return fmt.Errorf("volume %s: there is no ConfigMap %s", volume.Name, volume.ConfigMap.Name)
		}
	}
	names := map[string]bool{}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		if names[container.Name] {
			return fmt.Errorf("the container %s is there twice", container.Name)
		}
		names[container.Name] = true
		if err := checkContainer(container, volumes); err != nil {
			return fmt.Errorf("container %s: %w", container.Name, err)
		}
	}
	return nil
}

func checkContainer(container core.Container, volumes map[string]bool) error {
	ports := map[string]bool{}
	for _, port := range container.Ports {
		if problems := validation.IsValidPortName(port.Name); len(problems) > 0 {
			return fmt.Errorf("port %s: %s", port.Name, problems[0])
		}
		if ports[port.Name] {
			return fmt.Errorf("the port %s is there twice", port.Name)
		}
		ports[port.Name] = true
	}
	for name, probe := range map[string]*core.Probe{
		"startupProbe": container.StartupProbe, "livenessProbe": container.LivenessProbe, "readinessProbe": container.ReadinessProbe,
	} {
		if probe == nil || probe.HTTPGet == nil {
			continue
		}
		if port := probe.HTTPGet.Port; port.Type == intstr.String && !ports[port.StrVal] {
			return fmt.Errorf("%s: there is no port %s", name, port.StrVal)
		}
	}
	paths := map[string]bool{}
	for _, mount := range container.VolumeMounts {
		if !volumes[mount.Name] {
			return fmt.Errorf("%s: there is no volume %s", mount.MountPath, mount.Name)
		}
		if paths[mount.MountPath] {
			return fmt.Errorf("%s is mounted twice", mount.MountPath)
		}
		paths[mount.MountPath] = true
	}
	variables := map[string]bool{}
	for _, variable := range container.Env {
		if variables[variable.Name] {
			return fmt.Errorf("the variable %s is there twice", variable.Name)
		}
		variables[variable.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(container.Resources.Requests)) {
		request := container.Resources.Requests[name]
		if limit, limited := container.Resources.Limits[name]; limited && request.Cmp(limit) > 0 {
			return fmt.Errorf("resources: it requests %s of %s, and its limit is %s", request.String(), name, limit.String())
		}
	}
	return nil
}

func (parts release) checkService(service *core.Service) error {
	if problems := validation.IsDNS1035Label(service.Name); len(problems) > 0 {
		return fmt.Errorf("metadata.name: %s", problems[0])
	}
	pods := matching(parts.pods, labels.SelectorFromSet(service.Spec.Selector))
	if len(service.Spec.Selector) == 0 || len(pods) == 0 {
		return errors.New("spec.selector matches no pod")
	}
	for _, port := range service.Spec.Ports {
		if port.TargetPort.Type == intstr.String && !slices.ContainsFunc(pods, hasPort(port.TargetPort.StrVal)) {
			return fmt.Errorf("spec.ports %s: its pods have no port %s", port.Name, port.TargetPort.StrVal)
		}
	}
	return nil
}

func (parts release) checkAutoscaler(spec autoscaling.HorizontalPodAutoscalerSpec) error {
	if target := spec.ScaleTargetRef; !parts.names[target.Kind+"/"+target.Name] {
		return fmt.Errorf("spec.scaleTargetRef: there is no %s %s", target.Kind, target.Name)
	}
	if spec.MinReplicas != nil && *spec.MinReplicas > spec.MaxReplicas {
		return errors.New("spec.minReplicas is above spec.maxReplicas")
	}
	return nil
}

func (parts release) checkServiceMonitor(spec monitoring.ServiceMonitorSpec) error {
	selector, err := meta.LabelSelectorAsSelector(&spec.Selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	for _, endpoint := range spec.Endpoints {
		matched := 0
		for _, service := range parts.services {
			if !selector.Matches(labels.Set(service.Labels)) {
				continue
			}
			for _, port := range service.Spec.Ports {
				if port.Name == endpoint.Port {
					matched++
				}
			}
		}
		// A second Service with the same port would be scraped as well: each figure twice.
		if matched != 1 {
			return fmt.Errorf("%d Services match spec.selector and have a port %s, not 1", matched, endpoint.Port)
		}
	}
	return nil
}

func (parts release) checkPods(field string, selector *meta.LabelSelector) error {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if len(matching(parts.pods, parsed)) == 0 {
		return fmt.Errorf("%s matches no pod", field)
	}
	return nil
}

func matching(pods []core.PodTemplateSpec, selector labels.Selector) []core.PodTemplateSpec {
	var matched []core.PodTemplateSpec
	for _, pod := range pods {
		if selector.Matches(labels.Set(pod.Labels)) {
			matched = append(matched, pod)
		}
	}
	return matched
}

func hasPort(name string) func(core.PodTemplateSpec) bool {
	return func(pod core.PodTemplateSpec) bool {
		return slices.ContainsFunc(pod.Spec.Containers, func(container core.Container) bool {
			return slices.ContainsFunc(container.Ports, func(port core.ContainerPort) bool { return port.Name == name })
		})
	}
}

func isZero(value *intstr.IntOrString) bool {
	return value != nil && (value.String() == "0" || value.String() == "0%")
}
