/**
 * How old what a message says was when it was sent: a message attribute, set anew at each try (ADR 0032).
 *
 * A body is frozen once it was tried, and may be taken an hour later; SentTimestamp says only when it was taken. So the
 * age travels beside the body, which stays the same bytes under the same id. SQS keeps the attribute of the try that it
 * took, which is the right one. What is missing (a watcher of an earlier release) or no number counts as unknown.
 */
/** Name of the attribute; its value is a whole number of milliseconds. */
export declare const CUT_AGE_ATTRIBUTE = "rollcall-cut-age-ms";
/** Bytes that the attribute takes from a message at most: SQS counts name, type and value (aws-rules). */
export declare const CUT_AGE_BYTES_MAX = 64;
/** The attributes of one try; `ageMs` is bounded, never negative. */
export declare function cutAgeAttributes(ageMs: number): Record<string, {
    readonly DataType: 'Number';
    readonly StringValue: string;
}>;
/** The age of what a received message says, milliseconds; undefined: unknown. */
export declare function readCutAgeMs(value: string | undefined): number | undefined;
