/**
 * One log line as plain fields: redacted, bounded, without undefined members.
 *
 * Both sinks (console, Powertools) build their lines here, so that S11 has one gate. A cause is shown
 * as name, message and stack, with the names of the causes behind it.
 */
import type { LogFields } from '@rollcall/base/ports/log.ts';
import { REDACTED } from './redact.ts';
import type { Redactor } from './redact.ts';

/** Fields that are safe to print. */
export type SafeFields = Readonly<Record<string, string | number | boolean | null>>;

const TEXT_LENGTH_MAX = 2000;
const SEARCHED_LENGTH_MAX = 16_384;
const CAUSES_MAX = 5;

function bounded(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}…`;
}

/**
 * What is looked through at most: text from outside must not take a function's time (faults 67). The
 * last word is left out, because half a secret would not be recognised.
 */
function searchable(text: string): string {
  if (text.length <= SEARCHED_LENGTH_MAX) return text;
  const start = text.slice(0, SEARCHED_LENGTH_MAX);
  const lastBlank = Math.max(start.lastIndexOf(' '), start.lastIndexOf('\n'));
  return `${start.slice(0, lastBlank + 1)}…`;
}

/** Text that is safe to print. */
export function safeText(text: string, redactor: Redactor): string {
  // Bounded for the line only afterwards, for the same reason.
  return bounded(redactor.text(searchable(text)));
}

/** Fields that are safe to print; undefined ones are left out. */
export function safeFields(fields: LogFields, redactor: Redactor): SafeFields {
  const safe: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (typeof value === 'string') {
      safe[name] = redactor.isSecretName(name) ? REDACTED : safeText(value, redactor);
    } else safe[name] = value;
  }
  return safe;
}

function causeNames(error: Error): string[] {
  const names: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    names.push(`${cause.name}: ${cause.message}`);
    if (names.length === CAUSES_MAX) break;
  }
  return names;
}

/** A cause as fields; empty when there is none. */
export function causeFields(cause: unknown, redactor: Redactor): SafeFields {
  if (cause === undefined || cause === null) return {};
  if (!(cause instanceof Error)) {
    const text = typeof cause === 'string' ? cause : `thrown ${typeof cause}`;
    return { errorMessage: safeText(text, redactor) };
  }
  const behind = causeNames(cause);
  return {
    errorName: cause.name,
    errorMessage: safeText(cause.message, redactor),
    ...(cause.stack === undefined ? {} : { errorStack: safeText(cause.stack, redactor) }),
    ...(behind.length === 0 ? {} : { errorCauses: safeText(behind.join('; '), redactor) }),
  };
}
