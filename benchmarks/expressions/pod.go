package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a Pod of about 4 KiB of JSON that satisfies the restricted Pod Security Standard.
func pod() *corev1.Pod {
	yes, no, id := true, false, int64(1000)
	container := func(name string, k int) corev1.Container {
		var env []corev1.EnvVar
		for e := range 8 {
			env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d_%d", k, e), Value: fmt.Sprintf("value-%d-%d", k, e)})
		}
		return corev1.Container{
			Name: name, Image: fmt.Sprintf("registry.example.com/team/%s:1.4.%d", name, k), Command: []string{"/bin/server"},
			Args: []string{"--listen=:8080", "--shard=1"}, Env: env, ImagePullPolicy: corev1.PullIfNotPresent,
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("128Mi")},
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
			Name: "server-1", Namespace: "team-1",
			Labels:      map[string]string{"app": "server-1", "owner": "me", "tier": "backend", "app.kubernetes.io/name": "server"},
			Annotations: map[string]string{"example.com/revision": "1", "example.com/contact": "team@example.com"},
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
