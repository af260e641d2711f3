/** Schemas of the fields that messages share, within the bounds of core/projections/wire-bounds.ts. */
import * as v from 'valibot';
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import {
  isLabels,
  isNamespace,
  isObjectName,
  isToken,
} from '../../../core/projections/wire-bounds.ts';

/** Text of this form. One check, not a pipe of two: a message may hold 100,000 such fields. */
export function textSchema(pattern: RegExp): v.GenericSchema<string> {
  return v.custom<string>((value) => typeof value === 'string' && pattern.test(value));
}

/** A cluster's registered id: also the message group and a part of deduplication ids. */
export const clusterIdSchema = textSchema(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

export const uidSchema = v.custom<string>(isToken);

export const objectNameSchema = v.custom<string>(isObjectName);

export const namespaceSchema = v.custom<string>(isNamespace);

export const versionSchema = v.custom<string>(isResourceVersion);

/** A watcher's incarnation, a request id, a timer id. */
export const tokenSchema = v.custom<string>(isToken);

export function countSchema(bounds: {
  readonly min: number;
  readonly max: number;
}): v.GenericSchema<number> {
  const { min, max } = bounds;
  return v.custom<number>(
    (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

/** The last moment that a Date can tell; a later one would throw where it is formatted. */
const TIME_MAX = 8_640_000_000_000_000;

/** Milliseconds since 1970. */
export const timeSchema = countSchema({ min: 0, max: TIME_MAX });

export const labelsSchema = v.custom<Readonly<Record<string, string>>>(isLabels);

/** A short word for a machine, such as a reason: printable. */
export const wordSchema = textSchema(/^[\x20-\x7e]{0,256}$/);
