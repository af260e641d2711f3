/**
 * Changes at dotted paths, applied to an object or turned into the three kinds of patches.
 *
 * A path that runs over something that is no object or list leaves the object as it is: generated changes meet
 * bodies of many shapes.
 */
import { isJsonObject as isObject, type Json } from '@rollcall/base/json.ts';
import type { Change } from './step.ts';

/** The object with the changes made, in order. */
export function applyChanges(base: Json, changes: readonly Change[]): Json {
  return changes.reduce((value, change) => put(value, splitPath(change.path), change.value), base);
}

/** As a JSON merge patch; a list is replaced by one that holds the changed item alone. */
export function asMergePatch(changes: readonly Change[]): Json {
  return changes.reduce<Json>(
    (patch, { path, value }) =>
      put(patch, splitPath(path.replaceAll(/\.\d+(?=\.|$)/g, '.0')), value ?? null),
    {},
  );
}

/** As a strategic merge patch: items of lists carry their merge key, as the base has it. */
export function asStrategicPatch(base: Json, changes: readonly Change[]): Json {
  return changes.reduce<Json>((patch, { path, value }) => {
    const names = splitPath(path);
    let next = patch;
    names.forEach((name, index) => {
      if (!/^\d+$/.test(name)) return;
      const item = at(base, names.slice(0, index + 1));
      for (const key of ['name', 'key', 'type', 'uid', 'containerPort', 'mountPath']) {
        const found = isObject(item) ? item[key] : undefined;
        if (found === undefined) continue;
        next = put(next, [...names.slice(0, index), '0', key], found);
        break;
      }
    });
    return put(
      next,
      names.map((name) => (/^\d+$/.test(name) ? '0' : name)),
      value ?? null,
    );
  }, {});
}

/** As a JSON patch; where the base has nothing at the path it is added. */
export function asJsonPatch(base: Json, changes: readonly Change[]): Json {
  return changes.map(({ path, value }): Json => {
    const names = splitPath(path);
    const pointer = names
      .map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
    if (value === undefined) return { op: 'remove', path: pointer };
    return { op: at(base, names) === undefined ? 'add' : 'replace', path: pointer, value };
  });
}

function at(value: Json, names: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const name of names) {
    if (Array.isArray(current)) current = current[Number(name)] as Json | undefined;
    else if (isObject(current)) current = current[name];
    else return undefined;
  }
  return current;
}

/** `metadata.labels.[a.b/c]` has a bracketed name with dots in it. */
function splitPath(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, bracketed, plain]) => bracketed ?? plain ?? '',
  );
}

function put(base: Json, names: readonly string[], value: Json | undefined): Json {
  const [name, ...rest] = names;
  if (name === undefined) return value ?? null;
  if (Array.isArray(base)) return putItem(base as readonly Json[], name, { rest, value });
  if (!isObject(base)) return base;
  const { [name]: former, ...others } = base;
  if (rest.length === 0 && value === undefined) return others;
  const empty: Json = /^\d+$/.test(rest[0] ?? '') ? [] : {};
  const member = rest.length === 0 ? (value ?? null) : put(former ?? empty, rest, value);
  return { ...base, [name]: member };
}

function putItem(
  base: readonly Json[],
  name: string,
  { rest, value }: { readonly rest: readonly string[]; readonly value: Json | undefined },
): Json {
  const items = [...base];
  const index = Math.min(Number(name), items.length);
  if (rest.length === 0 && value === undefined) items.splice(index, 1);
  else items[index] = put(items[index] ?? {}, rest, value);
  return items;
}
