package wire

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/ptr"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func meta(name string) metav1.ObjectMeta {
	stamp := metav1.NewTime(time.Unix(1.7e9, 0))
	return metav1.ObjectMeta{
		Name: name, Namespace: "team-a", UID: "0d1d4e0c-5d0f-4c6b-9a53-0d7d7a6f0d31", ResourceVersion: "123456", CreationTimestamp: stamp,
		Labels:      map[string]string{"app": "web", "app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop", "tier": "front"},
		Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "checksum/config": "6d1f0e2a9c"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6d4cf56db6",
			UID: "a2bf6a0f-1d0e-4e7c-8f2c-0e9f4bcb2a11", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &stamp,
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},` +
				`"f:tier":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}}`)}}},
	}
}

func container(name string) corev1.Container {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: "HTTP"}}}
	}
	return corev1.Container{
		Name: name, Image: "registry.example.com/shop/" + name + ":1.24.3", Args: []string{"--listen=:8080", "--log-level=info"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}, {Name: "metrics", ContainerPort: 9090, Protocol: "TCP"}},
		Env: []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "REGION", Value: "eu-west-1"},
			{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}}}},
		Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{"cpu": quantity("500m"), "memory": quantity("256Mi")},
			Requests: corev1.ResourceList{"cpu": quantity("250m"), "memory": quantity("64Mi")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web", ReadOnly: true},
			{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
		LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"),
		ImagePullPolicy: "IfNotPresent", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
		SecurityContext: &corev1.SecurityContext{RunAsNonRoot: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"}},
	}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{container("web"), container("proxy")},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "web"}, DefaultMode: ptr.To[int32](420)}}},
			{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](420),
				Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: ptr.To[int64](3607), Path: "token"}}}}}}},
		RestartPolicy: "Always", DNSPolicy: "ClusterFirst", ServiceAccountName: "web", DeprecatedServiceAccount: "web", SchedulerName: "default-scheduler",
		TerminationGracePeriodSeconds: ptr.To[int64](30), EnableServiceLinks: ptr.To(true), Priority: ptr.To[int32](0),
		PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority), NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), FSGroup: ptr.To[int64](2000)},
		Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](300)},
			{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](300)}},
	}
}

func pod() *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: meta("web-6d4cf56db6-x7x2p"), Spec: podSpec(),
		Status: corev1.PodStatus{Phase: "Pending", QOSClass: "Burstable"}}
}

func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta("web"),
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: podSpec()},
			Strategy: appsv1.DeploymentStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge: ptr.To(intstr.FromString("25%")), MaxUnavailable: ptr.To(intstr.FromInt32(1))}}}}
}

func customResource() *unstructured.Unstructured {
	text, err := json.Marshal(pod())
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	u.Object["spec"].(map[string]any)["ratio"] = 0.5
	return u
}

func configMap() *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{}, BinaryData: map[string][]byte{"blob": make([]byte, 100)}}
	for i := range 20 {
		c.Data[fmt.Sprintf("key-%d", i)] = "some value of moderate length"
	}
	return c
}

func samples() map[string]any {
	return map[string]any{"Pod": pod(), "Deployment": deployment(), "ConfigMap": configMap(), "CustomResource": customResource(),
		"Namespace":             &corev1.Namespace{ObjectMeta: meta("team-a"), Status: corev1.NamespaceStatus{Phase: "Active"}},
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": *resource.NewQuantity(10<<30, resource.BinarySI), "decimal": *resource.NewMilliQuantity(1500, resource.DecimalSI)}}}},
	}
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own calls make values escape")
	}
	e := Get(RequestRoots(1))
	defer e.Put()
	for name, obj := range samples() {
		run := func() {
			e.Reset(RequestRoots(1))
			e.SetObject(RootObject(0), obj)
			e.Bytes()
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	labels := pod().Labels
	attrs := attributes("", "web", "team-a", &metav1.CreateOptions{FieldManager: "kubectl"}, false,
		&user.DefaultInfo{Name: "alice", Groups: []string{"a"}, Extra: map[string][]string{"k": {"v"}}})
	run := func() {
		e.Reset(RequestRoots(1))
		e.SetRequest(attrs)
		e.SetLabels(RootObjectLabels, labels)
		e.SetError(RootNamespaceLabels, "not found")
		e.Bytes()
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("request: %v allocations", n)
	}
}

// Admission plugins may encode an object that others read, so encoding must not write to it; the race detector checks that.
func TestObjectsMayBeShared(t *testing.T) {
	all := samples()
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for range 20 {
				for _, obj := range all {
					e := Get(1)
					e.SetObject(0, obj)
					e.Bytes()
					e.Put()
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkEncode(b *testing.B) {
	for name, obj := range samples() {
		text, err := json.Marshal(obj)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			e := Get(1)
			defer e.Put()
			b.ReportAllocs()
			b.ReportMetric(float64(len(text)), "json-bytes")
			for b.Loop() {
				e.Reset(1)
				e.SetObject(0, obj)
				e.Bytes()
			}
			b.ReportMetric(float64(len(e.Bytes())), "record-bytes")
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	attrs := attributes("", "web", "team-a", &metav1.CreateOptions{FieldManager: "kubectl"}, false,
		&user.DefaultInfo{Name: "alice", Groups: []string{"system:authenticated"}})
	e := Get(1)
	defer e.Put()
	b.ReportAllocs()
	for b.Loop() {
		e.Reset(1)
		e.SetRequest(attrs)
		e.Bytes()
	}
}

func BenchmarkToUnstructured(b *testing.B) {
	obj := pod()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshalJSON(b *testing.B) {
	obj := pod()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(obj); err != nil {
			b.Fatal(err)
		}
	}
}
