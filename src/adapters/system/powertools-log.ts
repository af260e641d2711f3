/**
 * Log over the Powertools logger, for deployed functions.
 *
 * Fields of `with` are kept here and passed with each line, never appended to the logger: its state is
 * shared by everything in a warm process, and a frozen invocation must not lend its cluster's name to
 * the next one (faults 30). No credential passes (S11).
 */
import type { Logger } from '@aws-lambda-powertools/logger';
import { logOf } from '@rollcall/base/log-of.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { causeFields, safeFields, safeText } from './log-line.ts';
import { createRedactor } from './redact.ts';
import type { Redactor } from './redact.ts';

/** A log over a Powertools logger. */
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
