/**
 * The JSON text of what the API server answers, made once for each stored object however many ask.
 *
 * Stored objects never change, so their texts are kept as long as they are and there is room: what was not asked for
 * lately leaves first. Differs in form only: as Go does, the items
 * of a list are written without their kind and apiVersion, which the list's own kind implies.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** Texts by object, in two halves: when the young one is full, the old one goes. */
export class RecentTexts {
  readonly #halfMax: number;
  #young = new WeakMap<JsonObject, string>();
  #old = new WeakMap<JsonObject, string>();
  #youngLength = 0;

  /** `lengthMax` bounds all texts together, in characters. */
  constructor(lengthMax: number) {
    this.#halfMax = lengthMax / 2;
  }

  /** The text of an object, made unless it is held. */
  get(object: JsonObject, make: () => string): string {
    const known = this.#young.get(object);
    if (known !== undefined) return known;
    const text = this.#old.get(object) ?? make();
    if (this.#youngLength + text.length > this.#halfMax) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#youngLength = 0;
    }
    if (text.length <= this.#halfMax) {
      this.#young.set(object, text);
      this.#youngLength += text.length;
    }
    return text;
  }
}

const TEXTS_LENGTH_MAX = 32 * 1024 * 1024;

const texts = new RecentTexts(TEXTS_LENGTH_MAX);
const itemTexts = new RecentTexts(TEXTS_LENGTH_MAX);

/** The text of an answer's body or of a watch frame's object. */
export function jsonText(body: JsonObject): string {
  const { items, ...rest } = body;
  if (isList(items) && isListBody(body)) return listText(rest, items);
  return isStored(body) ? texts.get(body, () => JSON.stringify(body)) : JSON.stringify(body);
}

function isListBody({ kind }: JsonObject): boolean {
  return typeof kind === 'string' && kind.endsWith('List');
}

function listText(rest: JsonObject, items: readonly Json[]): string {
  const head = JSON.stringify(rest);
  const body = items.map((item) => itemText(item, rest['kind'])).join(',');
  return `${head.slice(0, -1)},"items":[${body}]}`;
}

function itemText(item: Json, listKind: Json | undefined): string {
  if (!isJsonObject(item)) return JSON.stringify(item);
  const make = (): string => {
    const { kind, apiVersion, ...rest } = item;
    // Items of a PartialObjectMetadataList do name their kind.
    const isImplied =
      apiVersion !== undefined &&
      typeof kind === 'string' &&
      kind !== 'PartialObjectMetadata' &&
      `${kind}List` === listKind;
    return JSON.stringify(isImplied ? rest : item);
  };
  return isStored(item) ? itemTexts.get(item, make) : make();
}

/** Has it been stored? Only then is it worth keeping its text. */
function isStored({ metadata }: JsonObject): boolean {
  return (
    isJsonObject(metadata) &&
    metadata['uid'] !== undefined &&
    metadata['resourceVersion'] !== undefined
  );
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
