/** Server-sent events out of a stream of text: what is complete, and the rest that is still under way. */

/** One event. */
export interface StreamEvent {
  readonly name: string;
  readonly id?: string;
  readonly data: string;
}

/** Events of a text, and what remains of it. */
export function parseStream(text: string): {
  readonly events: readonly StreamEvent[];
  readonly rest: string;
} {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n');
  const rest = blocks.pop() ?? '';
  return { events: blocks.flatMap((block) => eventOf(block) ?? []), rest };
}

/** Undefined: a comment, which is there to keep the connection. */
function eventOf(block: string): StreamEvent | undefined {
  const fields = block.split('\n').map((line) => {
    const [, field = '', value = ''] = /^([a-z]*): ?(.*)$/s.exec(line) ?? [];
    return { field, value };
  });
  const valuesOf = (name: string): readonly string[] =>
    fields.filter(({ field }) => field === name).map(({ value }) => value);
  const data = valuesOf('data');
  if (data.length === 0) return undefined;
  const id = valuesOf('id').at(-1);
  const name = valuesOf('event').at(-1) ?? 'message';
  return { name, data: data.join('\n'), ...(id === undefined ? {} : { id }) };
}
