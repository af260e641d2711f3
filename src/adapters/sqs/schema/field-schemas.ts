/**
 * Schemas of the fields that messages share: identifiers, names, counts.
 *
 * Bounds are those of Kubernetes and SQS with some room, so that no legitimate object is refused and
 * no field can be used to write a second log line, a path or a prototype (faults 67).
 */
import * as v from 'valibot';
import { isResourceVersion } from '../../../core/model/identifiers.ts';

/** Text of this form. One check, not a pipe of two: a message may hold 100,000 such fields. */
export function textSchema(pattern: RegExp): v.GenericSchema<string> {
  return v.custom<string>((value) => typeof value === 'string' && pattern.test(value));
}

/** A cluster's registered id: also the message group and a part of deduplication ids. */
export const clusterIdSchema = textSchema(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

/** metadata.uid of an object: a UUID nearly always, but any token is legal. */
export const uidSchema = textSchema(/^[A-Za-z0-9._:-]{1,128}$/);

/** metadata.name, as far as the four watched kinds go: DNS-1123 subdomains. */
export const objectNameSchema = textSchema(/^[a-z0-9][a-z0-9.-]{0,252}$/);

/** metadata.namespace: a DNS-1123 label. */
export const namespaceSchema = textSchema(/^[a-z0-9][a-z0-9-]{0,62}$/);

/** A resourceVersion or an epoch. */
export const versionSchema = v.custom<string>(isResourceVersion);

/** A watcher's incarnation, a request id, a timer id. */
export const tokenSchema = textSchema(/^[A-Za-z0-9._:-]{1,128}$/);

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

const LABELS_MAX = 1000;
/** A prefix of 253 characters, a slash, a name of 63: Kubernetes' own bound. Printable, no blanks. */
const LABEL_KEY = /^[\x21-\x7e]{1,317}$/;
/** Also of a taint: Kubernetes' own bound. */
const LABEL_VALUE = /^[\x21-\x7e]{0,63}$/;

function isLabelMap(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= LABELS_MAX &&
    entries.every(
      ([key, text]) =>
        LABEL_KEY.test(key) &&
        key !== '__proto__' &&
        typeof text === 'string' &&
        LABEL_VALUE.test(text),
    )
  );
}

/** Labels. Checked in place: a copy would cost more than all the rest of a pod. */
export const labelsSchema = v.custom<Readonly<Record<string, string>>>(isLabelMap);

/** Key of a taint: that of a label, or none. */
export const taintKeySchema = textSchema(/^[\x21-\x7e]{0,317}$/);

/** Value of a taint. */
export const taintValueSchema = textSchema(LABEL_VALUE);

/** A short word for a machine, such as a reason: printable. */
export const wordSchema = textSchema(/^[\x20-\x7e]{0,256}$/);
