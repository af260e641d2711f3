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

/** What a statement changes: of an item that is there, and that meets `where`. */
export interface ItemChange {
  readonly tableName: string;
  readonly key: { readonly pk: WireValue; readonly sk: WireValue };
  readonly set: Readonly<Record<string, WireValue>>;
  readonly removed: readonly string[];
  readonly where?: {
    readonly attribute: string;
    readonly operator: '=' | '<';
    readonly value: WireValue;
  };
}

/** The change that a statement asks for; undefined: a form that is not known here. */
export function changeOf({
  Statement: text = '',
  Parameters: given = [],
}: Statement): ItemChange | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const { tableName, setNames, removed, where } = parts;
  const [pk, sk, wanted] = given.slice(setNames.length);
  const isCounted = given.length === setNames.length + (where === undefined ? 2 : 3);
  if (pk === undefined || sk === undefined || !isCounted) return undefined;
  const set = Object.fromEntries(setNames.map((name, index) => [name, given[index] ?? {}]));
  const change = { tableName, key: { pk, sk }, set, removed };
  if (where === undefined || wanted === undefined) return change;
  return { ...change, where: { ...where, value: wanted } };
}

/** The update that a statement asks for; undefined: a form that is not known here. */
export function updateOf(statement: Statement): UpdateInput | undefined {
  const change = changeOf(statement);
  if (change === undefined) return undefined;
  const { tableName, key, where } = change;
  const update = expressionsOf(change);
  const base = { TableName: tableName, Key: key, ...update, ConditionExpression: EXISTS };
  if (where === undefined) return base;
  return {
    ...base,
    ConditionExpression: `${EXISTS} AND #where ${where.operator} :where`,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#where': where.attribute },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':where': where.value },
  };
}

interface Parts {
  readonly tableName: string;
  readonly setNames: readonly string[];
  readonly removed: readonly string[];
  readonly where: { readonly attribute: string; readonly operator: '=' | '<' } | undefined;
}

const KEPT_MAX = 500;
const kept = new Map<string, Parts | undefined>();

/** Texts come again and again with other values. */
function partsOf(text: string): Parts | undefined {
  if (!kept.has(text)) {
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(text, readParts(text));
  }
  return kept.get(text);
}

function readParts(text: string): Parts | undefined {
  const [, tableName = '', clauses = '', condition = ''] = WHOLE.exec(text) ?? [];
  const where = CONDITION.exec(condition);
  if (where === null) return undefined;
  const [, attribute, operator] = where;
  const names = (wanted: string): readonly string[] =>
    [...clauses.matchAll(CLAUSE)].flatMap(([, verb, name = '']) => (verb === wanted ? [name] : []));
  return {
    tableName,
    setNames: names('SET'),
    removed: names('REMOVE'),
    where:
      attribute === undefined ? undefined : { attribute, operator: operator === '<' ? '<' : '=' },
  };
}

const EXISTS = 'attribute_exists(#pk)';

function expressionsOf({
  set,
  removed,
}: ItemChange): Pick<
  UpdateInput,
  'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
> {
  const sets = Object.entries(set);
  const named = [...sets.map(([name]) => name), ...removed].map(
    (name, index) => [`#n${index}`, name] as const,
  );
  const parts = [
    ...(sets.length === 0
      ? []
      : [`SET ${sets.map((_, index) => `#n${index} = :n${index}`).join(', ')}`]),
    ...(removed.length === 0
      ? []
      : [`REMOVE ${removed.map((_, index) => `#n${sets.length + index}`).join(', ')}`]),
  ];
  return {
    UpdateExpression: parts.join(' '),
    ExpressionAttributeNames: { '#pk': 'pk', ...Object.fromEntries(named) },
    ExpressionAttributeValues: Object.fromEntries(
      sets.map(([, value], index) => [`:n${index}`, value]),
    ),
  };
}
