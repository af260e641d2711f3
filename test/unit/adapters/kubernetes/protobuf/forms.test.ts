/** The forms name what is read of a pod, all of it, by upstream's numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STRUCTS } from '@rollcall/local-cluster/schema/field-table.ts';
import type { GoType } from '@rollcall/local-cluster/schema/field-table.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  API_STATUS,
  BOOKMARK,
  IDENTITY_AND_OWNERS,
  POD,
} from '../../../../../src/adapters/kubernetes/protobuf/forms.ts';
import type { MessageForm } from '../../../../../src/adapters/kubernetes/protobuf/message.ts';
import { strictProjector } from '../../../../support/strict-projector.ts';
import { FULL_POD } from '../../../../support/full-pod.ts';

/** A type without its pointers, and whether it is a list. */
function unwrapped(type: GoType): { readonly type: GoType; readonly isList: boolean } {
  if (type.kind === 'pointer') return unwrapped(type.to);
  if (type.kind === 'list') return { type: unwrapped(type.of).type, isList: true };
  return { type, isList: false };
}

function assertUpstream(form: MessageForm, struct: string): number {
  let checked = 0;
  for (const [number, field] of form.entries()) {
    if (field === undefined) continue;
    const where = `${struct}.${field.name}`;
    const definition = STRUCTS.get(struct)?.get(field.name);
    if (definition === undefined) return assert.fail(`${where} is no field of upstream`);
    assert.equal(definition.protobufNumber, number, where);
    const { type, isList } = unwrapped(definition.type);
    assert.equal(field.isList === true, isList, where);
    checked += 1;
    if (typeof field.as !== 'string') {
      assert.ok(type.kind === 'struct', where);
      checked += assertUpstream(field.as, type.struct);
      continue;
    }
    const told = type.kind === 'scalar' ? type.scalar : type.kind;
    const meant = { text: ['string'], integer: ['int32'], flag: ['bool'] };
    const known: Readonly<Record<string, readonly string[]>> = {
      ...meant,
      time: ['time'],
      texts: ['map'],
    };
    assert.ok(known[field.as]?.includes(told), `${where} is ${told}, and read as ${field.as}`);
  }
  return checked;
}

test('numbers and types are those of the generated code', () => {
  assert.ok(assertUpstream(POD, 'core.v1.Pod') > 40);
  assertUpstream(IDENTITY_AND_OWNERS, 'meta.v1.ObjectMeta');
  assertUpstream(BOOKMARK, 'core.v1.Pod');
  assertUpstream(API_STATUS, 'meta.v1.Status');
});

/** The same value; `onRead` hears of each path of members that is read of it. */
function watched<T extends object>(value: T, path: string, onRead: (path: string) => void): T {
  return new Proxy(value, {
    get: (target, key, receiver) => {
      const member: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== 'string' || (Array.isArray(target) && !/^\d+$/.test(key))) return member;
      const inner = Array.isArray(target) ? path : path === '' ? key : `${path}.${key}`;
      if (!Array.isArray(target)) onRead(inner);
      return typeof member === 'object' && member !== null
        ? watched(member, inner, onRead)
        : member;
    },
  });
}

/** True if a form reads this path, or the texts that it leads into. */
function isNamed(form: MessageForm, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  const field = form.find((one) => one?.name === name);
  if (field === undefined) return false;
  if (rest.length === 0 || field.as === 'texts') return true;
  return typeof field.as !== 'string' && isNamed(field.as, rest);
}

test('nothing is read of a pod that the form leaves out', () => {
  const read = new Set<string>();
  const { metadata } = FULL_POD as { metadata: object };
  const going = {
    ...FULL_POD,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:01:00Z' },
  };
  const unbound = { ...FULL_POD, spec: { ...(FULL_POD['spec'] as object), nodeName: '' } };
  const projector = strictProjector();
  for (const pod of [FULL_POD, going, unbound]) {
    const raw = watched(pod, '', (path) => read.add(path)) as unknown as KubernetesObject;
    assert.equal(projector.project('Pod', raw).kind, 'tracked');
  }
  // Who looks at nothing proves nothing.
  for (const path of [
    'metadata.managedFields.subresource',
    'metadata.deletionTimestamp',
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.matchFields.values',
    'status.initContainerStatuses.state.terminated.finishedAt',
    'status.conditions.lastTransitionTime',
  ]) {
    assert.ok(read.has(path), path);
  }
  const missing = [...read].filter((path) => !isNamed(POD, path.split('.')));
  assert.deepEqual(missing, []);
});
