/**
 * A management cluster in memory, as far as mirrors go: versions, generations and preconditions as an API server keeps them.
 *
 * Can be told to refuse or not to answer.
 */
import assert from 'node:assert/strict';
import { canonicalJson, isJsonObject, jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import type { LiveRead } from '../../src/ports/cluster/cluster-access.ts';
import type { MirrorAccess, MirrorWrite } from '../../src/ports/cluster/cluster-access.ts';

/** What is asked of it. */
export interface MirrorCall {
  readonly verb: 'read' | 'object' | 'status' | 'remove';
  readonly name: string;
}

/** How it answers in place of doing what is asked; undefined: it does it. */
export type MirrorFault = (
  call: MirrorCall,
) => Extract<MirrorWrite, { readonly message: string }> | undefined;

/** Mirrors in memory. */
export class MemoryMirrors implements MirrorAccess {
  readonly objects = new Map<string, JsonObject>();
  readonly calls: MirrorCall[] = [];
  fault: MirrorFault = () => undefined;
  /** Called before each write is done: for somebody who writes in between. */
  beforeWrite: () => void = () => undefined;
  #version = 0;

  get writes(): readonly string[] {
    return this.calls.filter(({ verb }) => verb !== 'read').map(({ verb }) => verb);
  }

  readMirror(key: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<LiveRead<JsonObject>> {
    const name = `${key.namespace}/${key.name}`;
    const fault = this.#call({ verb: 'read', name });
    if (fault !== undefined) {
      const isRefused = fault.kind === 'refused';
      return Promise.resolve({ kind: 'unavailable', message: fault.message, isRefused });
    }
    const object = this.objects.get(name);
    return Promise.resolve(object === undefined ? { kind: 'missing' } : { kind: 'found', object });
  }

  applyMirror(object: JsonObject, part: 'object' | 'status'): Promise<MirrorWrite> {
    const name = nameOf(object);
    const fault = this.#call({ verb: part, name });
    if (fault !== undefined) return Promise.resolve(fault);
    this.beforeWrite();
    const live = this.objects.get(name);
    if (!isStill(object, live)) return Promise.resolve({ kind: 'changed' });
    assert.ok(part === 'object' || live !== undefined, 'a status of nothing');
    return Promise.resolve({ kind: 'written', object: this.put(object, part) });
  }

  removeMirror(object: JsonObject): Promise<MirrorWrite> {
    const name = nameOf(object);
    const fault = this.#call({ verb: 'remove', name });
    if (fault !== undefined) return Promise.resolve(fault);
    if (!isStill(object, this.objects.get(name))) return Promise.resolve({ kind: 'changed' });
    this.objects.delete(name);
    return Promise.resolve({ kind: 'written', object });
  }

  /** Writes as an API server does: another spec is another generation. */
  put(object: JsonObject, part: 'object' | 'status'): JsonObject {
    const name = nameOf(object);
    const known = this.objects.get(name);
    const field = part === 'object' ? 'spec' : 'status';
    const isOther = canonicalJson(known?.['spec']) !== canonicalJson(object['spec']);
    const isNew = known === undefined || (part === 'object' && isOther);
    this.#version += 1;
    const former = metadataOf(known);
    const written: JsonObject = {
      ...known,
      ...object,
      metadata: {
        ...former,
        ...metadataOf(object),
        uid: former['uid'] ?? `uid-of-${name}`,
        generation: Number(former['generation'] ?? 0) + (isNew ? 1 : 0),
        resourceVersion: String(this.#version),
      },
      [field]: object[field] ?? {},
    };
    this.objects.set(name, written);
    return written;
  }

  #call(call: MirrorCall): ReturnType<MirrorFault> {
    this.calls.push(call);
    return this.fault(call);
  }
}

function metadataOf(object: JsonObject | undefined): JsonObject {
  const metadata = object?.['metadata'];
  return isJsonObject(metadata) ? metadata : {};
}

function nameOf(object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  assert.ok(typeof namespace === 'string' && typeof name === 'string');
  return `${namespace}/${name}`;
}

function isStill(object: JsonObject, live: JsonObject | undefined): boolean {
  const asked = jsonMember(object['metadata'], 'resourceVersion');
  return asked === undefined || asked === jsonMember(live?.['metadata'], 'resourceVersion');
}
