/**
 * Log over the Powertools logger, for deployed functions.
 *
 * Fields of `with` are kept here and passed with each line, never appended to the logger: its state is
 * shared by everything in a warm process, and a frozen invocation must not lend its cluster's name to
 * the next one (faults 30). No credential passes (S11).
 */
import type { Logger } from '@aws-lambda-powertools/logger';
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';
import { causeFields, safeFields, safeText } from './log-line.ts';
import type { SafeFields } from './log-line.ts';
import { createRedactor } from './redact.ts';
import type { Redactor } from './redact.ts';

/** Options of a Powertools log. */
export interface PowertoolsLogOptions {
  readonly logger: Logger;
  readonly redactor?: Redactor;
}

class PowertoolsLog implements Log {
  readonly #logger: Logger;
  readonly #redactor: Redactor;
  readonly #fields: LogFields;

  constructor(logger: Logger, redactor: Redactor, fields: LogFields) {
    this.#logger = logger;
    this.#redactor = redactor;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#logger.debug(safeText(message, this.#redactor), this.#safe(fields));
  }

  info(message: string, fields?: LogFields): void {
    this.#logger.info(safeText(message, this.#redactor), this.#safe(fields));
  }

  warn(message: string, fields?: LogFields, cause?: unknown): void {
    this.#logger.warn(safeText(message, this.#redactor), this.#safe(fields, cause));
  }

  error(message: string, fields?: LogFields, cause?: unknown): void {
    this.#logger.error(safeText(message, this.#redactor), this.#safe(fields, cause));
  }

  with(fields: LogFields): Log {
    return new PowertoolsLog(this.#logger, this.#redactor, { ...this.#fields, ...fields });
  }

  #safe(fields: LogFields | undefined, cause?: unknown): SafeFields {
    return {
      ...safeFields({ ...this.#fields, ...fields }, this.#redactor),
      ...causeFields(cause, this.#redactor),
    };
  }
}

/** A log over a Powertools logger. */
export function createPowertoolsLog(options: PowertoolsLogOptions): Log {
  return new PowertoolsLog(options.logger, options.redactor ?? createRedactor(), {});
}
