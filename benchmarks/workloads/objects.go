package workloads

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// No engine may live off repetition: this many different objects, namespaces and users are in rotation.
const (
	objectCount    = 64
	namespaceCount = 8
	userCount      = 8
)

var (
	PodResource    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	PodKind        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	widgetResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	widgetKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	probeResource  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "probes"}
	probeKind      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Probe"}
)

func namespaces() []*corev1.Namespace {
	made := make([]*corev1.Namespace, namespaceCount)
	for i := range made {
		made[i] = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName(i), Labels: map[string]string{
			"kubernetes.io/metadata.name": namespaceName(i), "tenant": fmt.Sprintf("tenant-%d", i), "environment": []string{"test", "prod"}[i%2],
			"pss.security.kolteq.com/enforce": "restricted",
		}}}
	}
	return made
}

func namespaceName(i int) string { return fmt.Sprintf("team-%d", i%namespaceCount) }

// Pod is a Pod of about 4 KiB of JSON that satisfies the restricted Pod Security Standard; it differs with i.
func Pod(i int) *corev1.Pod {
	yes, no, id := true, false, int64(1000+i)
	container := func(name string, k int) corev1.Container {
		var env []corev1.EnvVar
		for e := range 8 {
			env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d_%d", k, e), Value: fmt.Sprintf("value-%d-%d-%d", i, k, e)})
		}
		return corev1.Container{
			Name: name, Image: fmt.Sprintf("registry.example.com/team-%d/%s:1.%d.%d", i%8, name, i, k), Command: []string{"/bin/server"},
			Args: []string{"--listen=:8080", fmt.Sprintf("--shard=%d", i)}, Env: env, ImagePullPolicy: corev1.PullIfNotPresent,
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse(fmt.Sprintf("%dm", 100+i)), "memory": resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse(fmt.Sprintf("%dMi", 128+i))},
			},
			VolumeMounts:  []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config", ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"}},
			LivenessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, Privileged: &no, RunAsNonRoot: &yes, RunAsUser: &id, ReadOnlyRootFilesystem: &yes,
				Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("server-%d", i), Namespace: namespaceName(i),
			Labels:      map[string]string{"app": fmt.Sprintf("server-%d", i), "owner": "me", "tier": "backend", "app.kubernetes.io/name": "server"},
			Annotations: map[string]string{"example.com/revision": fmt.Sprint(i), "example.com/contact": "team@example.com"},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "server", AutomountServiceAccountToken: &no, RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &id, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			InitContainers:  []corev1.Container{container("init", 0)},
			Containers:      []corev1.Container{container("server", 1), container("sidecar", 2)},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}}},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "team", Effect: corev1.TaintEffectNoSchedule}},
		},
	}
}

// widget is a custom resource with the content of a Pod.
func widget(i int) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(Pod(i))
	if err != nil {
		return nil, err
	}
	w := &unstructured.Unstructured{Object: content}
	w.SetGroupVersionKind(widgetKind)
	return w, nil
}

// attributes is a request by one of the users.
func attributes(i int, object, old runtime.Object, kind schema.GroupVersionKind, resource schema.GroupVersionResource) admission.Attributes {
	operation, options := admission.Create, runtime.Object(&metav1.CreateOptions{})
	if old != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
	}
	who := &user.DefaultInfo{Name: fmt.Sprintf("user-%d", i%userCount), Groups: []string{"system:authenticated", fmt.Sprintf("group-%d", i%userCount)}}
	return admission.NewAttributesRecord(object, old, kind, namespaceName(i), fmt.Sprintf("server-%d", i), resource, "", operation, options, false, who)
}

// probe is a request that the probe policy denies.
func probe() admission.Attributes {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "probe"}}}
	object.SetGroupVersionKind(probeKind)
	return admission.NewAttributesRecord(object, nil, probeKind, "", "probe", probeResource, "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "probe"})
}
