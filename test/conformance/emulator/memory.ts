/**
 * What one server has answered so far in an episode, to fill in references and to give masked values their symbols.
 *
 * Symbols count first appearances, so that two servers that behave alike use the same ones whatever values they
 * chose. A version's symbol also says between which earlier ones it lies: order must agree too, not only equality.
 */
import { isJsonObject as isObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { applyChanges } from './changes.ts';
import { objectKey, type Step } from './step.ts';

const UNKNOWN_UID = '00000000-0000-4000-8000-000000000000';
const UNKNOWN_VERSION = '1';
/** What the API server appends: neither vowels nor look-alikes. */
const SUFFIX = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;

interface Known {
  readonly object: JsonObject;
  readonly uid: string;
  readonly versions: readonly string[];
}

export class ServerMemory {
  readonly #objects = new Map<string, Known>();
  readonly #uidSymbols = new Map<string, string>();
  readonly #versionSymbols = new Map<string, string>();
  readonly #sortedVersions: bigint[] = [];
  readonly #generatedPrefixes = new Set<string>();
  readonly #nameSymbols = new Map<string, string>();
  readonly #namesByStep = new Map<number, string>();
  readonly #lists = new Map<number, { readonly version: string; readonly token: string }>();

  /** Remembers what an answer to a step (2xx) showed. */
  learn(step: Step, body: Json): void {
    if (!isObject(body)) return;
    const { items, metadata } = body;
    if (Array.isArray(items) && isObject(metadata)) {
      this.#lists.set(step.id, {
        version: text(metadata['resourceVersion']),
        token: text(metadata['continue']),
      });
      for (const item of items) if (isObject(item)) this.#learnObject(step, item);
      return;
    }
    this.#learnGeneratedName(step, body);
    if (!step.path.includes('dryRun')) this.#learnObject(step, body);
  }

  /** Fills in the references of a text. */
  resolveText(template: string): string {
    return template.replaceAll(/\{\{(\w+) ([^}]*)\}\}/g, (_match, kind: string, argument: string) =>
      this.#resolve(kind, argument),
    );
  }

  /** Fills in the references of a body; undefined where there is none. */
  resolveBody(step: Step): Json | undefined {
    const { body } = step;
    if (body === undefined) return undefined;
    if (body.kind === 'literal') {
      this.#expectGeneratedName(body.value);
      return this.#resolveJson(body.value);
    }
    const known = this.#objects.get(this.resolveText(body.key))?.object;
    const base = known ?? this.#resolveJson(body.fallback);
    return this.#resolveJson(applyChanges(base, body.changes));
  }

  /** The symbol of a UID. */
  uidSymbol(uid: string): string {
    return symbolIn(this.#uidSymbols, uid, () => `uid#${this.#uidSymbols.size}`);
  }

  /** The symbol of an object's version. */
  versionSymbol(version: string): string {
    return symbolIn(this.#versionSymbols, version, () => {
      if (!/^\d+$/.test(version)) return version;
      const value = BigInt(version);
      const rank = this.#sortedVersions.findIndex((one) => one > value);
      const position = rank === -1 ? this.#sortedVersions.length : rank;
      this.#sortedVersions.splice(position, 0, value);
      return `version#${this.#versionSymbols.size} after ${position}`;
    });
  }

  /** The symbol of a name that the server generated, or the text itself. */
  nameSymbol(name: string): string {
    for (const prefix of this.#generatedPrefixes) {
      if (!name.startsWith(prefix) || !SUFFIX.test(name.slice(prefix.length))) continue;
      return symbolIn(this.#nameSymbols, name, () => `${prefix}<suffix ${this.#nameSymbols.size}>`);
    }
    return name;
  }

  #expectGeneratedName(body: Json): void {
    const metadata = isObject(body) ? body['metadata'] : undefined;
    const prefix = isObject(metadata) ? text(metadata['generateName']) : '';
    if (prefix !== '') this.#generatedPrefixes.add(prefix);
  }

  #resolve(kind: string, argument: string): string {
    const known = this.#objects.get(argument);
    const resolved = known === undefined ? undefined : resolveObject(kind, known);
    if (resolved !== undefined) return resolved;
    const step = Number(argument);
    if (kind === 'name') return this.#namesByStep.get(step) ?? 'never-generated';
    if (kind === 'continue') return encodeURIComponent(this.#lists.get(step)?.token ?? '');
    // Any version: what an early one would show depends on when etcd was compacted.
    if (kind === 'listed') return this.#lists.get(step)?.version ?? '0';
    return kind === 'uid' ? UNKNOWN_UID : UNKNOWN_VERSION;
  }

  #resolveJson(value: Json): Json {
    if (typeof value === 'string') return this.resolveText(value);
    if (Array.isArray(value)) return value.map((item: Json) => this.#resolveJson(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.#resolveJson(member ?? null)]),
    );
  }

  #learnGeneratedName(step: Step, body: JsonObject): void {
    const { metadata } = body;
    if (step.method !== 'POST' || !isObject(metadata)) return;
    if (metadata['generateName'] !== undefined) {
      this.#namesByStep.set(step.id, text(metadata['name']));
    }
  }

  #learnObject(step: Step, object: JsonObject): void {
    const { metadata } = object;
    if (!isObject(metadata) || typeof metadata['uid'] !== 'string') return;
    const isPartial = ['Status', 'PartialObjectMetadata', 'Table'].includes(text(object['kind']));
    if (step.resource === '' || isPartial) return;
    const key = objectKey({
      plural: step.resource,
      namespace: text(metadata['namespace']),
      name: text(metadata['name']),
    });
    this.#objects.set(key, follow(this.#objects.get(key), object, metadata['uid']));
  }
}

function follow(former: Known | undefined, object: JsonObject, uid: string): Known {
  const { metadata } = object;
  const version = isObject(metadata) ? text(metadata['resourceVersion']) : '';
  const versions = former?.uid === uid ? former.versions : [];
  const { apiVersion = null, kind = null } = former?.object ?? {};
  return {
    // Items of lists do not say their kind.
    object: 'kind' in object || kind === null ? object : { apiVersion, kind, ...object },
    uid,
    versions: versions.includes(version) ? versions : [...versions, version],
  };
}

function resolveObject(kind: string, { uid, versions }: Known): string | undefined {
  switch (kind) {
    case 'uid':
      return uid;
    case 'version':
      return versions.at(-1);
    case 'former':
      return versions.at(-2);
    default:
      return undefined;
  }
}

function symbolIn(symbols: Map<string, string>, value: string, make: () => string): string {
  const known = symbols.get(value);
  if (known !== undefined) return known;
  const symbol = make();
  symbols.set(value, symbol);
  return symbol;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
