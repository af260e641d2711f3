/**
 * Puts the frames of a watch in an order that does not depend on chance.
 *
 * What exists when a watch begins may be sent in any order: the leading additions are sorted by name. Only the very
 * first frame of a watch as tables names the columns; it keeps them whichever row comes first.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';

/** The frames with the leading additions sorted by namespace and name. */
export function inOrder(frames: readonly Json[]): readonly Json[] {
  const isAddition = (frame: Json): boolean => isJsonObject(frame) && frame['type'] === 'ADDED';
  const end = frames.findIndex((frame) => !isAddition(frame));
  const count = end === -1 ? frames.length : end;
  const columns = frames.slice(0, count).map(columnsOf);
  const sorted = frames
    .slice(0, count)
    .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    .map((frame, index) => withColumns(frame, columns[index]));
  return [...sorted, ...frames.slice(count)];
}

function objectOf(frame: Json): JsonObject {
  const object = isJsonObject(frame) ? frame['object'] : undefined;
  return isJsonObject(object) ? object : {};
}

function columnsOf(frame: Json): Json | undefined {
  return objectOf(frame)['columnDefinitions'];
}

function withColumns(frame: Json, columnDefinitions: Json | undefined): Json {
  const object = objectOf(frame);
  if (object['kind'] !== 'Table' || !isJsonObject(frame)) return frame;
  const { columnDefinitions: _former, ...rest } = object;
  return {
    ...frame,
    object: { ...rest, ...(columnDefinitions === undefined ? {} : { columnDefinitions }) },
  };
}

/** `namespace/name` of the object in a frame, or of the row of a table in it. */
function placeOf(frame: Json): string {
  const object = objectOf(frame);
  const { rows } = object;
  const row = Array.isArray(rows) ? (rows as readonly Json[])[0] : undefined;
  const shown = isJsonObject(row) ? row['object'] : object;
  const metadata = isJsonObject(shown) ? shown['metadata'] : undefined;
  if (!isJsonObject(metadata)) return '';
  return JSON.stringify([metadata['namespace'] ?? '', metadata['name'] ?? '']);
}
