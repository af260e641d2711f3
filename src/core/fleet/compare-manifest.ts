/**
 * In what a DaemonSet of a cluster differs from the manifest that it should be: field by field.
 * Pure. Whole templates are compared: `kubectl rollout restart` conflicts with no apply. What an
 * API server fills in by itself is no difference, nor are labels and annotations that others gave
 * the DaemonSet.
 */
import { isJsonObject, isSameJson, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { isSameQuantity } from '../daemon-set/resource-quantity.ts';
import { meaningOf } from '../history/history-meaning.ts';
import { DAEMON_SET_TYPES } from './daemon-set-types.ts';

/** One field that is not as it should be. */
export interface FieldDifference {
  /** As `spec.template.spec.containers[agent].image`. */
  readonly field: string;
  /** In the cluster; absent: it is not there. */
  readonly from?: Json;
  /** In the manifest; absent: it says nothing of it. */
  readonly to?: Json;
}

/** All differences, in the manifest's order. `live` may be anything: fields that are not there differ. */
export function compareManifest(wanted: JsonObject, live: JsonObject): readonly FieldDifference[] {
  const differences: FieldDifference[] = [];
  const { metadata, spec } = wanted;
  for (const name of ['labels', 'annotations']) {
    const stated = memberOf(metadata, name);
    const found = memberOf(live['metadata'], name);
    for (const [key, value] of Object.entries(stated)) {
      if (value !== undefined && found[key] !== value) {
        differences.push(difference(`metadata.${name}[${key}]`, found[key], value));
      }
    }
  }
  const compare = new Comparison(differences);
  compare.objects(object(spec), object(live['spec']), { field: 'spec', struct: 'DaemonSetSpec' });
  return differences;
}

interface Place {
  readonly field: string;
  readonly struct: string | undefined;
}

/** Maps whose keys are free: a client wrote a key that only one of them has. */
const FREE_MAPS: ReadonlySet<string> = new Set([
  'annotations',
  'labels',
  'limits',
  'matchLabels',
  'nodeSelector',
  'requests',
]);
const QUANTITY_MAPS: ReadonlySet<string> = new Set(['limits', 'requests']);

class Comparison {
  readonly #differences: FieldDifference[];

  constructor(differences: FieldDifference[]) {
    this.#differences = differences;
  }

  objects(wanted: JsonObject, live: JsonObject, { field, struct }: Place): void {
    const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
    for (const name of names) {
      const [to, from] = [wanted[name], live[name]];
      const place = { field: `${field}.${name}`, struct: undefined };
      if (isMeaningless(name, to)) {
        if (!isServers(name, from, { ...live, ...wanted }))
          this.#note(place.field, from, undefined);
      } else if (from === undefined) {
        if (to !== undefined && !isLeftOut(name, to)) this.#note(place.field, undefined, to);
      } else if (to !== undefined) this.#members(to, from, { name, field: place.field, struct });
    }
  }

  #members(to: Json, from: Json, at: Place & { readonly name: string }): void {
    const { name, field, struct } = at;
    const type = struct === undefined ? undefined : DAEMON_SET_TYPES.field(struct, name);
    const place = { field, struct: type?.struct };
    if (isJsonObject(to) && isJsonObject(from)) {
      if (FREE_MAPS.has(name)) this.#maps(to, from, at);
      else this.objects(to, from, place);
    } else if (isList(to) && isList(from)) {
      const key = type?.patchMergeKey;
      if (key === undefined) this.#lists(to, from, place);
      else this.#keyedLists(to, from, { ...place, key });
    } else if (!isSameValue(name, to, from)) this.#note(field, from, to);
  }

  #maps(to: JsonObject, from: JsonObject, { name, field }: { name: string; field: string }): void {
    for (const key of new Set([...Object.keys(to), ...Object.keys(from)])) {
      const [wanted, found] = [to[key], from[key]];
      if (wanted === found) continue;
      if (QUANTITY_MAPS.has(name) && isSameQuantity(wanted, found)) continue;
      this.#note(`${field}[${key}]`, found, wanted);
    }
  }

  #lists(to: readonly Json[], from: readonly Json[], { field, struct }: Place): void {
    if (to.length !== from.length) {
      this.#note(field, from, to);
      return;
    }
    for (const [index, wanted] of to.entries()) {
      this.#items(wanted, from[index] ?? null, { field: `${field}[${String(index)}]`, struct });
    }
  }

  #items(wanted: Json, found: Json, place: Place): void {
    if (isJsonObject(wanted) && isJsonObject(found)) this.objects(wanted, found, place);
    else if (!isSameJson(wanted, found)) this.#note(place.field, found, wanted);
  }

  #keyedLists(
    to: readonly Json[],
    from: readonly Json[],
    { field, struct, key }: Place & { readonly key: string },
  ): void {
    const found = byKey(from, key);
    const wanted = byKey(to, key);
    for (const name of new Set([...wanted.keys(), ...found.keys()])) {
      const place = { field: `${field}[${name}]`, struct };
      const [one, other] = [wanted.get(name), found.get(name)];
      if (one !== undefined && other !== undefined) this.#items(one, other, place);
      else this.#note(place.field, other, one);
    }
  }

  #note(field: string, from: Json | undefined, to: Json | undefined): void {
    this.#differences.push(difference(field, from, to));
  }
}

function isSameValue(name: string, to: Json, from: Json): boolean {
  return to === from || (name === 'sizeLimit' && isSameQuantity(to, from));
}

/** Absent, null, or empty where Go reads that as absent. */
function isMeaningless(name: string, value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return meaningOf({ [name]: value }) === '{}';
}

/** Whether what stands in the cluster alone is the server's own. */
function isServers(name: string, value: Json | undefined, beside: JsonObject): boolean {
  if (isMeaningless(name, value) || value === undefined || isLeftOut(name, value)) return true;
  if (isList(value)) return value.length === 0;
  if (!isJsonObject(value)) return isFilledIn(name, value, beside);
  const isOwn = Object.keys(value).length === 0 || DEFAULTED_OBJECTS.has(name);
  return isOwn && Object.entries(value).every(([key, one]) => isServers(key, one, value));
}

function byKey(list: readonly Json[], key: string): ReadonlyMap<string, Json> {
  return new Map(
    list.map((item, index) => {
      const value = isJsonObject(item) ? item[key] : undefined;
      const isName = typeof value === 'string' || typeof value === 'number';
      return [isName ? String(value) : `#${String(index)}`, item];
    }),
  );
}

function memberOf(value: Json | undefined, name: string): JsonObject {
  return object(object(value)[name]);
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function difference(field: string, from: Json | undefined, to: Json | undefined): FieldDifference {
  return {
    field,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

const DEFAULTS: Readonly<Record<string, readonly Json[]>> = {
  apiVersion: ['v1'],
  defaultMode: [420],
  dnsPolicy: ['ClusterFirst'],
  enableServiceLinks: [true],
  expirationSeconds: [3600],
  failureThreshold: [3],
  // Of the tag: latest is pulled anew.
  imagePullPolicy: ['Always', 'IfNotPresent'],
  maxSurge: [0],
  maxUnavailable: [1],
  periodSeconds: [10],
  protocol: ['TCP'],
  restartPolicy: ['Always'],
  revisionHistoryLimit: [10],
  schedulerName: ['default-scheduler'],
  scheme: ['HTTP'],
  successThreshold: [1],
  terminationGracePeriodSeconds: [30],
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
  timeoutSeconds: [1],
  type: ['', 'RollingUpdate'],
};

/** Filled in from another field of the same object. */
const COPIED: Readonly<Record<string, string>> = {
  hostPort: 'containerPort',
  serviceAccount: 'serviceAccountName',
};

const DEFAULTED_OBJECTS: ReadonlySet<string> = new Set(['updateStrategy', 'rollingUpdate']);

/** False and 0 of these are not written: in Go they are values, not pointers. */
const PLAIN_VALUES: ReadonlySet<string> = new Set([
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'hostPort',
  'initialDelaySeconds',
  'minReadySeconds',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
]);

/** Whether the server would have filled this in where nothing was written. */
function isFilledIn(name: string, value: Json, beside: Readonly<Record<string, unknown>>): boolean {
  const copied = Object.hasOwn(COPIED, name) ? COPIED[name] : undefined;
  if (copied !== undefined && beside[copied] === value) return true;
  return Object.hasOwn(DEFAULTS, name) && DEFAULTS[name]?.includes(value) === true;
}

/** Whether the server leaves this out when it writes what it was given. */
function isLeftOut(name: string, value: Json): boolean {
  return (value === false || value === 0) && PLAIN_VALUES.has(name);
}
