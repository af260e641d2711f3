/**
 * Changes one value of a YAML file by its path, in which steps may be left out: `DelayQueue > VisibilityTimeout`.
 *
 * A step is a name, `Name=value` for an item with such a member, or `=value` for an item itself. The whole path must
 * lead to one place. The rest of the text stays as it is, tags and anchors included.
 */
import { isCollection, isMap, isPair, isScalar, parseAllDocuments } from 'yaml';
import type { Document, Node, Pair } from 'yaml';

type Range = readonly [number, number];

/** A value, and the pair that holds it, if one does. */
interface Place {
  readonly node: Node;
  readonly key: Node | undefined;
}

function textOf(node: unknown): string | undefined {
  return isScalar(node) ? String(node.value) : undefined;
}

function placesIn(node: Node): readonly Place[] {
  if (!isCollection(node)) return [];
  return node.items.flatMap((item): Place[] => {
    if (!isPair(item)) return [{ node: item as Node, key: undefined }];
    const { key, value } = item as Pair<Node, Node | null>;
    return value === null ? [] : [{ node: value, key }];
  });
}

function isStep({ node, key }: Place, step: string): boolean {
  const at = step.indexOf('=');
  if (at < 0) return textOf(key) === step;
  if (at === 0) return textOf(node) === step.slice(1);
  if (!isMap(node)) return false;
  return textOf(node.get(step.slice(0, at), true)) === step.slice(at + 1);
}

/** All places below one, at whatever depth, that a step names. */
function below(place: Place, step: string): readonly Place[] {
  return placesIn(place.node).flatMap((inner) => [
    ...(isStep(inner, step) ? [inner] : []),
    ...below(inner, step),
  ]);
}

function find(documents: readonly Document[], path: string): readonly Place[] {
  const roots = documents.flatMap(({ contents }) =>
    contents === null ? [] : [{ node: contents, key: undefined }],
  );
  const [first = '', ...others] = path.split(' > ');
  const begun = roots.flatMap((root) => [
    ...(first.includes('=') && isStep(root, first) ? [root] : []),
    ...below(root, first),
  ]);
  const found = others.reduce<readonly Place[]>(
    (places, step) => places.flatMap((place) => below(place, step)),
    begun,
  );
  return found;
}

function rangeOf({ range }: Node): Range {
  if (range === null || range === undefined) throw new Error('a node without a range');
  return [range[0], range[1]];
}

function wholeOf({ node, key }: Place): Range {
  const [from, end] = rangeOf(node);
  return [key === undefined ? from : rangeOf(key)[0], end];
}

/** The text with `from` to `end` replaced; a line that ended there still does. */
function splice(source: string, [from, end]: Range, to: string): string {
  const isLineEnded = source[end - 1] === '\n' && to !== '' && !to.endsWith('\n');
  return source.slice(0, from) + to + (isLineEnded ? '\n' : '') + source.slice(end);
}

/** Where `code` stands, whatever white space is in it. */
function placesOf(code: string, source: string, [from, end]: Range): readonly Range[] {
  const words = code.trim().split(/\s+/).map(RegExp.escape);
  const found = source.slice(from, end).matchAll(new RegExp(words.join('\\s+'), 'g'));
  return [...found].map(({ index, 0: { length } }) => [from + index, from + index + length]);
}

/** The one range; throws if there is none, or another one. */
function only(ranges: readonly Range[], what: string): Range {
  const different = new Map(ranges.map((range) => [range.join(), range]));
  const [range] = different.values();
  if (range === undefined || different.size > 1) {
    throw new Error(`holds ${different.size} times, not once: ${what}`);
  }
  return range;
}

/** The source with the value at the path changed, or `code` in it; an empty text takes the value out with its name. */
export function changeYaml(
  source: string,
  { path, code, to }: { path: string; code: string | undefined; to: string },
): string {
  const places = find(parseAllDocuments(source, { logLevel: 'silent' }), path);
  if (code !== undefined) {
    const held = places.flatMap((place) => placesOf(code, source, wholeOf(place)));
    return splice(source, only(held, code), to);
  }
  const [start, end] = only(places.map(wholeOf), path);
  const key = places[0]?.key;
  if (to !== '') {
    const from = key === undefined ? start : rangeOf(key)[1];
    return splice(source, [from, end], key === undefined ? to : `: ${to}`);
  }
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = source[end - 1] === '\n' ? end : source.indexOf('\n', end) + 1;
  return splice(source, [lineStart, lineEnd], '');
}
