/**
 * Logs, and their lines: JSON on stderr for the watcher and the command line (stdout stays free for `--json`), the
 * Powertools logger for deployed functions.
 *
 * Both build a line here, redacted, bounded and without undefined members, so that S11 has one gate. A cause is shown
 * as name, message and stack, with the names of the causes behind it.
 */
import type { Logger } from '@aws-lambda-powertools/logger';
import { LOG_LEVELS, logOf, type LogLevel } from '@rollcall/base/log-of.ts';
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';

const REDACTED = '[redacted]';

const SECRET_FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
  /\bk8s-aws-v1\.[A-Za-z0-9_-]+/g,
  // The first part is bounded: every `eyJ` inside a long one would be tried to its end.
  /\beyJ[A-Za-z0-9_-]{6,2048}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\bX-Amz-(?:Signature|Security-Token|Credential)=[^&\s"']+/gi,
  /\b(?:token|password|secret|client[-_]key(?:-data)?)["']?\s*[:=]\s*["']?[^\s"',}]{8,}/gi,
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
];

/** Names of fields whose value is never shown, whatever it looks like. */
const SECRET_NAME = /token|secret|password|authorization|credential|privatekey|keypem|certificate/i;

/** Short literals would cut innocent words. */
const LITERAL_LENGTH_MIN = 8;

/**
 * The last guard of S11, after the first: that nothing passes credentials to a log. It takes out what has the form of a
 * credential, fields by their names, and the literal secrets it was given. An opaque token in an innocent field has no
 * form: adapters keep those out of messages themselves.
 */
export interface Redactor {
  text(value: string): string;
  /** True if a field of this name may not be shown at all. */
  isSecretName(name: string): boolean;
}

/** A redactor for known forms, and for these literal secrets. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const literals = secrets.filter((secret) => secret.length >= LITERAL_LENGTH_MIN);
  return {
    isSecretName: (name) => SECRET_NAME.test(name),
    text: (value) => {
      const withoutLiterals = literals.reduce(
        (text, secret) => text.replaceAll(secret, REDACTED),
        value,
      );
      return SECRET_FORMS.reduce((text, form) => text.replace(form, REDACTED), withoutLiterals);
    },
  };
}

type SafeFields = Readonly<Record<string, string | number | boolean | null>>;

const TEXT_LENGTH_MAX = 2000;
const SEARCHED_LENGTH_MAX = 16_384;
const CAUSES_MAX = 5;

function bounded(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}…`;
}

/**
 * The most text that is searched: text from outside must not take a function's time (faults 67). The
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
function safeFields(fields: LogFields, redactor: Redactor): SafeFields {
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
function causeFields(cause: unknown, redactor: Redactor): SafeFields {
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

export interface ConsoleLogOptions {
  /** Lines below this are not written. Default `info`. */
  readonly level?: LogLevel;
  readonly redactor?: Redactor;
  /** Takes a line without its line break. Default: stderr. */
  readonly write?: (line: string) => void;
  /** Wall time for the field `time`; default the system's. */
  readonly nowMs?: () => number;
}

/** A log that writes JSON lines. */
export function createConsoleLog({
  level: least = 'info',
  redactor = createRedactor(),
  write = (line) => process.stderr.write(`${line}\n`),
  nowMs = () => Date.now(),
}: ConsoleLogOptions = {}): Log {
  return logOf(({ level, message, fields, cause }) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    write(
      JSON.stringify({
        time: new Date(nowMs()).toISOString(),
        level,
        message: safeText(message, redactor),
        ...safeFields(fields, redactor),
        ...causeFields(cause, redactor),
      }),
    );
  });
}

/**
 * A log over a Powertools logger. Fields of `with` are passed with each line, never appended to the logger: its state is
 * shared by everything in a warm process, and a frozen invocation must not lend its cluster's name to the next (faults 30).
 */
export function createPowertoolsLog({
  logger,
  redactor = createRedactor(),
}: {
  readonly logger: Logger;
  readonly redactor?: Redactor;
}): Log {
  return logOf(({ level, message, fields, cause }) => {
    const safe = { ...safeFields(fields, redactor), ...causeFields(cause, redactor) };
    logger[level](safeText(message, redactor), safe);
  });
}
