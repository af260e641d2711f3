/**
 * A log that keeps its lines, so that a test can demand exactly one of them.
 *
 * Children made by `with` write into the same lines. For tests only.
 */
import type { Log, LogFields } from '../ports/log.ts';

/** One line. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
  readonly cause?: unknown;
}

/** A log in memory; children made by `with` write into the same lines. */
export class MemoryLog implements Log {
  readonly lines: LogLine[];
  private readonly fields: LogFields;

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.add({ level: 'debug', message, fields: { ...this.fields, ...fields } });
  }

  info(message: string, fields?: LogFields): void {
    this.add({ level: 'info', message, fields: { ...this.fields, ...fields } });
  }

  warn(message: string, fields?: LogFields, cause?: unknown): void {
    this.add({ level: 'warn', message, fields: { ...this.fields, ...fields }, cause });
  }

  error(message: string, fields?: LogFields, cause?: unknown): void {
    this.add({ level: 'error', message, fields: { ...this.fields, ...fields }, cause });
  }

  with(fields: LogFields): Log {
    return new MemoryLog(this.lines, { ...this.fields, ...fields });
  }

  /** Lines of one level. */
  at(level: LogLine['level']): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  private add(line: LogLine): void {
    this.lines.push(line);
  }
}
