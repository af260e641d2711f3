// Command schema prints, as JSON, what the Go types of the Kubernetes API say about each field of every kind that the
// local API server serves: its JSON name, its type, when it is left out, and how patches merge it.
//
// A field is one line of words, the first of which is its type in Go's notation:
//
//	"containers": "[]core.v1.Container always merge=name"
//
// Words after the type: `always` (no omitempty), `zero` (omitzero); `merge`, `merge=KEY`, `replace`, `retainKeys` are the
// patch strategy. Types that write themselves are named by what they are: time, microTime, quantity, intOrString, raw.
// One struct is one line of the output.
// It panics over a type that it does not know, so that a new release cannot slip through.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// kinds maps apiVersion to values of the kinds served under it.
var kinds = map[string][]any{
	"v1": {
		corev1.Binding{}, corev1.ConfigMap{}, corev1.Endpoints{}, corev1.Event{}, corev1.LimitRange{},
		corev1.Namespace{}, corev1.Node{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.Pod{},
		corev1.PodTemplate{}, corev1.ReplicationController{}, corev1.ResourceQuota{}, corev1.Secret{},
		corev1.Service{}, corev1.ServiceAccount{}, metav1.DeleteOptions{}, metav1.Status{},
	},
	"admissionregistration.k8s.io/v1": {
		admissionv1.MutatingAdmissionPolicy{}, admissionv1.MutatingAdmissionPolicyBinding{},
		admissionv1.MutatingWebhookConfiguration{}, admissionv1.ValidatingAdmissionPolicy{},
		admissionv1.ValidatingAdmissionPolicyBinding{}, admissionv1.ValidatingWebhookConfiguration{},
	},
	"apiextensions.k8s.io/v1":   {apiextensionsv1.CustomResourceDefinition{}},
	"apiregistration.k8s.io/v1": {apiregistrationv1.APIService{}},
	"apps/v1": {
		appsv1.ControllerRevision{}, appsv1.DaemonSet{}, appsv1.Deployment{}, appsv1.ReplicaSet{},
		appsv1.StatefulSet{},
	},
	"authorization.k8s.io/v1": {
		authorizationv1.SelfSubjectAccessReview{}, authorizationv1.SubjectAccessReview{},
	},
	"autoscaling/v2":         {autoscalingv2.HorizontalPodAutoscaler{}},
	"batch/v1":               {batchv1.CronJob{}, batchv1.Job{}},
	"certificates.k8s.io/v1": {certificatesv1.CertificateSigningRequest{}},
	"coordination.k8s.io/v1": {coordinationv1.Lease{}},
	"discovery.k8s.io/v1":    {discoveryv1.EndpointSlice{}},
	"flowcontrol.apiserver.k8s.io/v1": {
		flowcontrolv1.FlowSchema{}, flowcontrolv1.PriorityLevelConfiguration{},
	},
	"networking.k8s.io/v1": {
		networkingv1.IPAddress{}, networkingv1.Ingress{}, networkingv1.IngressClass{}, networkingv1.NetworkPolicy{},
		networkingv1.ServiceCIDR{},
	},
	"node.k8s.io/v1":               {nodev1.RuntimeClass{}},
	"policy/v1":                    {policyv1.Eviction{}, policyv1.PodDisruptionBudget{}},
	"rbac.authorization.k8s.io/v1": {rbacv1.ClusterRole{}, rbacv1.ClusterRoleBinding{}, rbacv1.Role{}, rbacv1.RoleBinding{}},
	"resource.k8s.io/v1": {
		resourcev1.DeviceClass{}, resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{}, resourcev1.ResourceSlice{},
	},
	"scheduling.k8s.io/v1": {schedulingv1.PriorityClass{}},
	"storage.k8s.io/v1": {
		storagev1.CSIDriver{}, storagev1.CSINode{}, storagev1.CSIStorageCapacity{}, storagev1.StorageClass{},
		storagev1.VolumeAttachment{}, storagev1.VolumeAttributesClass{},
	},
}

// selfWritten are the types with JSON methods of their own.
var selfWritten = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microTime",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intOrString",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[metav1.FieldsV1]():      "raw",

	reflect.TypeFor[apiextensionsv1.JSON]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "raw",
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

type structs map[string]map[string]string

func main() {
	table := struct {
		Kinds   map[string]map[string]string `json:"kinds"`
		Structs structs                      `json:"structs"`
	}{map[string]map[string]string{}, structs{}}
	for apiVersion, values := range kinds {
		table.Kinds[apiVersion] = map[string]string{}
		for _, value := range values {
			goType := reflect.TypeOf(value)
			table.Kinds[apiVersion][goType.Name()] = table.Structs.describe(goType)
		}
	}
	fmt.Printf("{\n\"kinds\": {\n%s\n},\n\"structs\": {\n%s\n}\n}\n", linesOf(table.Kinds), linesOf(table.Structs))
}

// linesOf gives a line for each member, in order of their names.
func linesOf(table map[string]map[string]string) string {
	lines := []string{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		members, err := json.Marshal(table[name])
		if err != nil {
			panic(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", name, members))
	}
	return strings.Join(lines, ",\n")
}

// describe writes down a type and all that it refers to, and returns its name.
func (s structs) describe(goType reflect.Type) string {
	if name, known := selfWritten[goType]; known {
		return name
	}
	if reflect.PointerTo(goType).Implements(unmarshaler) && goType.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("%v has JSON methods that this program does not know", goType))
	}
	switch goType.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return goType.Kind().String()
	case reflect.Pointer:
		return "*" + s.describe(goType.Elem())
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + s.describe(goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("%v has keys that are no strings", goType))
		}
		return "map[]" + s.describe(goType.Elem())
	case reflect.Struct:
		return s.describeStruct(goType)
	}
	panic(fmt.Sprintf("%v is of a sort that this program does not know", goType))
}

func (s structs) describeStruct(goType reflect.Type) string {
	name := nameOf(goType)
	if _, known := s[name]; known {
		return name
	}
	fields := map[string]string{}
	s[name] = fields
	s.addFields(fields, goType)
	return name
}

func (s structs) addFields(fields map[string]string, goType reflect.Type) {
	for index := range goType.NumField() {
		field := goType.Field(index)
		jsonName, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || jsonName == "-" {
			continue
		}
		if field.Anonymous && jsonName == "" {
			s.addFields(fields, field.Type)
			continue
		}
		fields[jsonName] = strings.Join(s.words(field, strings.Split(options, ",")), " ")
	}
}

func (s structs) words(field reflect.StructField, options []string) []string {
	words := []string{s.describe(field.Type)}
	omitsEmpty := false
	for _, option := range options {
		switch option {
		case "omitempty":
			omitsEmpty = true
		case "omitzero":
			words = append(words, "zero")
		}
	}
	if !omitsEmpty {
		words = append(words, "always")
	}
	key := field.Tag.Get("patchMergeKey")
	for _, strategy := range strings.Split(field.Tag.Get("patchStrategy"), ",") {
		if strategy == "merge" && key != "" {
			strategy += "=" + key
		}
		if strategy != "" {
			words = append(words, strategy)
		}
	}
	return words
}

// nameOf gives `core.v1.Pod` for k8s.io/api/core/v1.Pod and `meta.v1.ObjectMeta` for the shared ones.
func nameOf(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(append(parts[len(parts)-2:], goType.Name()), ".")
}
