// One PartiQL statement as an UpdateItem: the form that Rollcall writes, and no other.
//
//   UPDATE "table" SET "a"=? SET "b"=? REMOVE "c" WHERE "pk"=? AND "sk"=? AND "d"<?
//
// PartiQL is a language; what is not this form is refused by name, never guessed. An UPDATE changes an item that is there,
// where UpdateItem would make one: hence attribute_exists. That pk and sk are the whole key is what both tables have.
import type { WireValue } from './values.ts';

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
  Statement,
  Parameters: given = [],
}: Statement): UpdateInput | undefined {
  const parts = partsOf(Statement ?? '');
  if (parts === undefined) return undefined;
  const { tableName, set, removed, where } = parts;
  const values = given.slice(0, set.length);
  const [pk, sk, ...wanted] = given.slice(set.length);
  if (pk === undefined || sk === undefined || wanted.length !== where.length) return undefined;
  const sets = set.map((_, index) => `#n${index} = :n${index}`);
  const removes = removed.map((_, index) => `#n${set.length + index}`);
  const compared = where.map(({ operator }) => ` AND #where ${operator} :where`);
  const names = [...set, ...removed].map((name, index) => [`#n${index}`, name] as const);
  return {
    TableName: tableName,
    Key: { pk, sk },
    UpdateExpression: [clause('SET', sets), clause('REMOVE', removes)].join(' '),
    ConditionExpression: `attribute_exists(pk)${compared.join('')}`,
    ExpressionAttributeNames: Object.fromEntries([
      ...names,
      ...where.map(({ attribute }) => ['#where', attribute] as const),
    ]),
    ExpressionAttributeValues: Object.fromEntries([
      ...values.map((value, index) => [`:n${index}`, value] as const),
      ...wanted.map((value) => [':where', value] as const),
    ]),
  };
}

interface Parts {
  readonly tableName: string;
  readonly set: readonly string[];
  readonly removed: readonly string[];
  /** One at most. */
  readonly where: readonly { readonly attribute: string; readonly operator: string }[];
}

function partsOf(text: string): Parts | undefined {
  const [, tableName = '', clauses = '', condition = ''] = WHOLE.exec(text) ?? [];
  const found = CONDITION.exec(condition);
  if (found === null) return undefined;
  const [, attribute, operator = ''] = found;
  const names = (wanted: string): readonly string[] =>
    [...clauses.matchAll(CLAUSE)].flatMap(([, verb, name = '']) => (verb === wanted ? [name] : []));
  const where = attribute === undefined ? [] : [{ attribute, operator }];
  return { tableName, set: names('SET'), removed: names('REMOVE'), where };
}

function clause(verb: string, parts: readonly string[]): string {
  return parts.length === 0 ? '' : `${verb} ${parts.join(', ')}`;
}
