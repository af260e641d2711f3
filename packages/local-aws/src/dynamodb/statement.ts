// One PartiQL statement as an UpdateItem: the form that Rollcall writes, and no other.
//
//   UPDATE "table" SET "a"=? SET "b"=? REMOVE "c" WHERE "pk"=? AND "sk"=? AND "d"<?
//
// PartiQL is a language; what is not this form is refused by name, never guessed. An UPDATE changes an item that is there,
// where UpdateItem would make one: hence attribute_exists. That pk and sk are the whole key is what both tables have.
/** An attribute as the wire has it. */
export type WireValue = Readonly<Record<string, unknown>>;

/** A statement of a batch. */
export interface Statement {
  readonly Statement?: string;
  readonly Parameters?: readonly WireValue[];
}

/** UpdateItem's input. */
export interface UpdateInput {
  readonly TableName: string;
  readonly Key: { readonly pk: WireValue; readonly sk: WireValue };
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues: Readonly<Record<string, WireValue>>;
}

const WHOLE = /^UPDATE "([\w.-]+)" ((?:(?:SET "\w+"=\?|REMOVE "\w+") )+)WHERE (.+)$/;
const CLAUSE = /(SET|REMOVE) "(\w+)"/g;
const CONDITION = /^"pk"=\? AND "sk"=\?(?: AND "(\w+)"(=|<)\?)?$/;

/** The update that a statement asks for; undefined: a form that is not known here. */
export function updateOf({
  Statement: text = '',
  Parameters: given = [],
}: Statement): UpdateInput | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const { tableName, changes, attribute, operator } = parts;
  const setCount = changes.filter(({ verb }) => verb === 'SET').length;
  const [pk, sk, wanted] = given.slice(setCount);
  const isCounted = given.length === setCount + (attribute === undefined ? 2 : 3);
  if (pk === undefined || sk === undefined || !isCounted) return undefined;
  const update = changesOf(changes, given);
  const base = { TableName: tableName, Key: { pk, sk }, ...update, ConditionExpression: EXISTS };
  if (attribute === undefined || wanted === undefined) return base;
  return {
    ...base,
    ConditionExpression: `${EXISTS} AND #where ${operator} :where`,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#where': attribute },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':where': wanted },
  };
}

interface Change {
  readonly verb: string | undefined;
  readonly name: string;
}

interface Parts {
  readonly tableName: string;
  readonly changes: readonly Change[];
  readonly attribute: string | undefined;
  readonly operator: string;
}

function partsOf(text: string): Parts | undefined {
  const [, tableName = '', clauses = '', where = ''] = WHOLE.exec(text) ?? [];
  const condition = CONDITION.exec(where);
  if (condition === null) return undefined;
  const [, attribute, operator = ''] = condition;
  const changes = [...clauses.matchAll(CLAUSE)].map(([, verb, name = '']) => ({ verb, name }));
  return { tableName, changes, attribute, operator };
}

const EXISTS = 'attribute_exists(#pk)';

function changesOf(
  changes: readonly Change[],
  given: readonly WireValue[],
): Pick<
  UpdateInput,
  'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
> {
  const names: Record<string, string> = { '#pk': 'pk' };
  const values: Record<string, WireValue> = {};
  const [sets, removes]: [string[], string[]] = [[], []];
  for (const [index, { verb, name }] of changes.entries()) {
    names[`#n${index}`] = name;
    const value = verb === 'SET' ? given[sets.length] : undefined;
    if (value === undefined) {
      removes.push(`#n${index}`);
      continue;
    }
    values[`:n${index}`] = value;
    sets.push(`#n${index} = :n${index}`);
  }
  const parts = [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
    ...(removes.length === 0 ? [] : [`REMOVE ${removes.join(', ')}`]),
  ];
  return {
    UpdateExpression: parts.join(' '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
