/**
 * Effects and outcomes: one request each to an API server, and what came of it.
 *
 * An effect carries everything that its request needs, including its precondition; the adapter adds
 * nothing but transport. Expected outcomes are values of a closed union; exceptions are for bugs.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';
import type { NodeName, ResourceVersion, Uid } from './identifiers.ts';

interface Target {
  readonly namespace: string;
  readonly name: string;
}

/** Creates one pod under its slot or successor name. The name is the fence (S1). */
export interface CreatePodEffect extends Target {
  readonly kind: 'create-pod';
  readonly node: NodeName;
  readonly body: JsonObject;
}

/** Deletes one pod; UID and version are preconditions (S4). */
export interface DeletePodEffect extends Target {
  readonly kind: 'delete-pod';
  readonly node?: NodeName;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/**
 * Changes metadata (or a revision's number) of an object; the UID in the patch is the precondition,
 * with `renumber` the resourceVersion too. Merge patches keep a revision's data byte for byte.
 */
export interface PatchEffect extends Target {
  readonly kind: 'patch';
  readonly resource: 'pods' | 'controllerrevisions';
  readonly uid: Uid;
  readonly purpose: 'adopt' | 'release' | 'relabel' | 'renumber';
  readonly contentType: 'application/strategic-merge-patch+json' | 'application/merge-patch+json';
  readonly body: JsonObject;
}

export interface CreateRevisionEffect extends Target {
  readonly kind: 'create-revision';
  readonly body: JsonObject;
}

/** Deletes one ControllerRevision; UID and version are preconditions. */
export interface DeleteRevisionEffect extends Target {
  readonly kind: 'delete-revision';
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/**
 * A DaemonSet's status over one version of it. An object is PUT, with metadata.resourceVersion as its precondition; a list
 * is a JSON Patch, whose preconditions are `test`s of the UID and of the version (ADR 0031).
 */
export interface UpdateStatusEffect extends Target {
  readonly kind: 'update-status';
  readonly uid: Uid;
  readonly body: JsonObject | readonly JsonPatchOperation[];
}

/**
 * Gives a DaemonSet the template of a former revision: the rollback of copilot, where the built-in controller makes every
 * pod of the template (issue 17). A JSON Patch whose tests are UID and version; nothing but spec.template is written.
 */
export interface RestoreTemplateEffect extends Target {
  readonly kind: 'restore-template';
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
  readonly template: JsonObject;
}

/** Creates the PodTemplate that holds a copy of the present template, under its fixed name (ADR 0063). */
export interface CreateCopyEffect extends Target {
  readonly kind: 'create-copy';
  readonly body: JsonObject;
}

/** Writes another copy over one version of it: UID and version are in the object that is PUT. */
export interface ReplaceCopyEffect extends Target {
  readonly kind: 'replace-copy';
  readonly body: JsonObject;
}

/** One operation of a JSON Patch (RFC 6902), of those that are sent. */
export interface JsonPatchOperation {
  readonly op: 'test' | 'add';
  readonly path: string;
  readonly value: Json;
}

/** Creates an Event on the DaemonSet. Failing to does not fail the run. */
export interface CreateEventEffect extends Target {
  readonly kind: 'create-event';
  readonly body: JsonObject;
}

/** Raises the count of an Event that was written before (merge patch); gone: it is made anew. */
export interface PatchEventEffect extends Target {
  readonly kind: 'patch-event';
  readonly body: JsonObject;
}

/**
 * Removes one taint from a node: a JSON Patch whose tests are the node's UID and the taint where it was seen, so that nothing
 * else of the node is written, nor another taint that stands there by now (ADR 0089).
 */
export interface RemoveTaintEffect extends Target {
  readonly kind: 'remove-taint';
  /** A node is in no namespace. */
  readonly namespace: '';
  readonly name: NodeName;
  readonly uid: Uid;
  readonly index: number;
  readonly taint: Taint;
}

/**
 * Writes one condition of a node as True: a strategic merge of its status that names the node's UID, so that nothing else of the node
 * is written. The time comes from the pods: the same write again changes nothing (ADR 0089).
 */
export interface SetConditionEffect extends Target {
  readonly kind: 'set-condition';
  /** A node is in no namespace. */
  readonly namespace: '';
  readonly name: NodeName;
  readonly uid: Uid;
  readonly condition: string;
  /** Since when the last of its daemons is Ready. */
  readonly sinceMs: number;
}

/** The changes of a node that a run may send. */
export type NodeEffect = RemoveTaintEffect | SetConditionEffect;

/** True of what changes a node, which is in no namespace. */
export function isOfNode(effect: Effect): effect is NodeEffect {
  return effect.kind === 'remove-taint' || effect.kind === 'set-condition';
}

/** One request to an API server. */
export type Effect =
  | CreatePodEffect
  | DeletePodEffect
  | PatchEffect
  | CreateRevisionEffect
  | DeleteRevisionEffect
  | UpdateStatusEffect
  | RestoreTemplateEffect
  | CreateCopyEffect
  | ReplaceCopyEffect
  | CreateEventEffect
  | PatchEventEffect
  | NodeEffect;

/** Why an API server refused for good (until something changes). */
export type RefusalCode =
  /** The functions lack a right. Apply `infra/functions/rbac.yaml`. */
  | 'forbidden'
  /** The API server does not accept the credential. Register the cluster again with a valid one. */
  | 'unauthorized'
  /** The object breaks a rule of the API. Repair the pod template. */
  | 'invalid'
  /** A quota, a webhook or a policy refuses it. The message names which. */
  | 'admission'
  /** A quota is used up, where a server tells it apart; Kubernetes gives `admission`. Raise the quota. */
  | 'quota'
  /** The namespace is being deleted. The DaemonSet goes with it. */
  | 'namespace-terminating'
  /** The namespace does not exist. Create it. */
  | 'namespace-missing'
  /** The object is larger than the server takes. Make the template smaller. */
  | 'too-large'
  /** The server does not know the request, or a proxy answered. Check the server address. */
  | 'unsupported'
  /** Anything else. Status 0: it lacked a precondition and was not sent, which is a bug. Report it. */
  | 'other';

/**
 * The outcome of one effect.
 *
 * done: applied, as the API server said. exists: a create met an object of that name. conflict: the
 * precondition failed. gone: no such object. refused: the request will not pass as it is.
 * unsent: certainly not applied (throttled, refused connection, not sent any more). ambiguous: it may
 * or may not have been applied.
 */
export type Outcome =
  | {
      readonly kind: 'done';
      readonly object: JsonObject;
      /** By the API server's clock; absent: it did not say. */
      readonly answeredAtMs?: number;
    }
  | { readonly kind: 'exists' }
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly status: number;
      readonly message: string;
      readonly said?: string;
    }
  | { readonly kind: 'unsent'; readonly message: string; readonly retryAfterMs?: number }
  | { readonly kind: 'ambiguous'; readonly message: string; readonly said?: string };
