/**
 * What a pod template means, whatever text it stands in: the comparison behind history (spec 2.10).
 *
 * An API server prints what it stores from Go structures, another release with other bytes. So key order, number
 * format, nulls, and empty values that Go reads as absent do not count. Emptiness that Go keeps (a pointer: `emptyDir:
 * {}`) does: the empty objects and texts that are ignored are named one by one.
 */
import { canonicalJson, isJsonObject, type Json } from '@rollcall/base/json.ts';

/** Members that are maps of free keys: an empty value in them is a value. */
const FREE_MAPS: ReadonlySet<string> = wordsOf(`
  annotations labels limits matchLabels nodeSelector options requests volumeAttributes
`);

/** Members that are structures in Go, not pointers to them: empty is the same as absent. */
const PLAIN_OBJECTS: ReadonlySet<string> = new Set([
  ...FREE_MAPS,
  ...['metadata', 'podAffinityTerm', 'preference', 'resources', 'spec'],
]);

/** Members that are texts in Go, not pointers to texts: empty is the same as absent. */
const PLAIN_TEXTS: ReadonlySet<string> = wordsOf(`
  apiVersion containerName devicePath dnsPolicy effect fieldPath fsType generateName host hostIP
  hostname image imagePullPolicy key medium mountPath name namespace nodeName operator path
  prefix priorityClassName protocol resource schedulerName scheme serviceAccount
  serviceAccountName subPath subPathExpr subdomain terminationMessagePath
  terminationMessagePolicy topologyKey value whenUnsatisfiable workingDir
`);

/** Canonical text of a template or of a revision's data: equal exactly when both mean the same. */
export function meaningOf(value: Json | undefined): string {
  return canonicalJson(strip(value, isIgnored));
}

/**
 * True if one of the two only has members that the other lacks, at any depth; lists have equal
 * length. This is how one template looks to two releases of an API server, one of which knows (and
 * fills in) a field that the other does not: no member that both have differs.
 */
export function isExtension(left: Json | undefined, right: Json | undefined): boolean {
  const [one, other] = [strip(left, isEmpty), strip(right, isEmpty)];
  return isWithin(one, other) || isWithin(other, one);
}

type Ignoring = (member: Json, key: string) => boolean;

function isIgnored(member: Json, key: string): boolean {
  if (member === null) return true;
  if (Array.isArray(member)) return member.length === 0;
  if (isJsonObject(member)) return PLAIN_OBJECTS.has(key) && Object.keys(member).length === 0;
  return member === '' && PLAIN_TEXTS.has(key);
}

function isEmpty(member: Json): boolean {
  if (member === null || member === '') return true;
  if (Array.isArray(member)) return member.length === 0;
  return isJsonObject(member) && Object.keys(member).length === 0;
}

/** Without the members that are to be ignored, from the inside out; items of lists keep their places. */
function strip(value: Json | undefined, ignores: Ignoring): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => strip(item, ignores) ?? null);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value)
    .map(([key, given]): readonly [string, Json | undefined] => [
      key,
      FREE_MAPS.has(key) ? withoutNulls(given) : strip(given, ignores),
    ])
    .filter(([key, member]) => member !== undefined && !ignores(member, key));
  return Object.fromEntries(members);
}

function withoutNulls(map: Json | undefined): Json | undefined {
  if (!isJsonObject(map)) return map;
  return Object.fromEntries(Object.entries(map).filter(([, member]) => member !== null));
}

function isWithin(part: Json | undefined, whole: Json | undefined): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || whole.length !== part.length) return false;
    return part.every((item: Json, index) => isWithin(item, whole[index] as Json));
  }
  if (isJsonObject(part)) {
    if (!isJsonObject(whole)) return false;
    return Object.entries(part).every(([key, member]) => isWithin(member, whole[key]));
  }
  return part === whole;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
