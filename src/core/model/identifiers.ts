/**
 * Branded identifiers, so that a name can never stand where a UID is meant.
 *
 * The constructors here do not validate: they name the meaning of a string that an adapter has
 * already parsed. Resource versions are compared as whole numbers (KEP-5504: no leading zeros, up to
 * 128 bits, so by length, then digits); zero is never an object's version.
 */
import { jsonMember, type Json } from '@rollcall/base/json.ts';

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** The name under which a cluster is registered, chosen by its operator. */
export type ClusterId = Brand<'ClusterId'>;
/** UID of the namespace kube-system: the identity of a cluster's etcd history. */
export type ClusterUid = Brand<'ClusterUid'>;
/** metadata.uid of a Kubernetes object. */
export type Uid = Brand<'Uid'>;
/** metadata.name of a Node. */
export type NodeName = Brand<'NodeName'>;
/** metadata.resourceVersion: a positive decimal integer of up to 39 digits. */
export type ResourceVersion = Brand<'ResourceVersion'>;
/** The resourceVersion of the Lease write with which a watcher took its Lease: orders watchers. */
export type Epoch = Brand<'Epoch'>;
/** Random name of one start of a watcher process. */
export type Incarnation = Brand<'Incarnation'>;

/** Names a text that is the id of a registered cluster. */
export const clusterId = (value: string): ClusterId => value as ClusterId;
/** Names a text that is the UID of a kube-system namespace. */
export const clusterUid = (value: string): ClusterUid => value as ClusterUid;
/** Names a text that is the UID of an object. */
export const uid = (value: string): Uid => value as Uid;
/** Names a text that is the name of a Node. */
export const nodeName = (value: string): NodeName => value as NodeName;
/** Names a text that is a resourceVersion; see `isResourceVersion` for a check. */
export const resourceVersion = (value: string): ResourceVersion => value as ResourceVersion;
/** Names a text that is the version of a Lease write. */
export const epoch = (value: string): Epoch => value as Epoch;
/** Names a text that is the random name of a watcher process. */
export const incarnation = (value: string): Incarnation => value as Incarnation;

/** One DaemonSet of one cluster, by name: the key of the work queue. */
export interface DaemonSetKey {
  readonly cluster: ClusterId;
  readonly namespace: string;
  readonly name: string;
}

/** `cluster/namespace/name`, as logs, metrics and the CLI print a key. */
export function formatKey(key: DaemonSetKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}

/** The form of a UID of Kubernetes, with room. */
export const UID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

/** Where an API server shows the namespace whose UID is the cluster's. */
export const CLUSTER_UID_PATH = '/api/v1/namespaces/kube-system';

/** The cluster's UID, in the namespace kube-system; undefined: the body is no namespace. */
export function clusterUidIn(namespace: Json | undefined): ClusterUid | undefined {
  const found = jsonMember(jsonMember(namespace, 'metadata'), 'uid');
  return typeof found === 'string' && UID_PATTERN.test(found) ? clusterUid(found) : undefined;
}

const VERSION_PATTERN = /^[1-9][0-9]{0,38}$/;

/** True for text that can be a resourceVersion of an object (KEP-5504). */
export function isResourceVersion(value: unknown): value is ResourceVersion {
  return typeof value === 'string' && VERSION_PATTERN.test(value);
}

/** Negative, zero or positive as `left` is older than, equal to or newer than `right`. */
export function compareResourceVersions(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The newer of two versions; undefined counts as older than everything. */
export function newerVersion(
  left: ResourceVersion | undefined,
  right: ResourceVersion | undefined,
): ResourceVersion | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  // Stryker disable next-line EqualityOperator: of two equal texts either is the newer one
  return compareResourceVersions(left, right) >= 0 ? left : right;
}
