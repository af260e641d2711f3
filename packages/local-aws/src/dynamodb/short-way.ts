// The requests of which a busy engine makes hundreds a second, answered over dynalite's store without dynalite.
//
// GetItem, BatchGetItem, and writes of a form that dynalite accepted once (known-forms.ts): conditional PutItem and UpdateItem,
// and the statements of a batch (batch-statements.ts). dynalite checks every request anew, reads each expression anew, copies each item
// three times, and takes ten turns of the event loop for it: five times the processor time. Whatever is not understood here
// to the letter goes to dynalite, which then answers, or refuses in DynamoDB's words: a request is never half-done.
import { conditionOf, Undecided } from './condition.ts';
import { formOf, KnownForms } from './known-forms.ts';
import type { FormFields } from './known-forms.ts';
import { keyOf } from './store.ts';
import type { ItemChange } from './statement.ts';
import type { ItemStore, StoredItems, WireItem } from './store.ts';
import { assignmentsOf, parseUpdate } from './update.ts';

/** An answer: JSON text. */
export interface ShortAnswer {
  readonly status: 200 | 400;
  readonly text: string;
}

/** What becomes of a request here. */
export type ShortWay =
  | { readonly kind: 'answered'; readonly answer: ShortAnswer | Promise<ShortAnswer | undefined> }
  /** dynalite's; if it accepts it, `form` is known. */
  | { readonly kind: 'long'; readonly form?: string };

/** The body of a request, parsed. */
export type Fields = Readonly<Record<string, unknown>>;

interface ReadFields {
  readonly TableName?: string | undefined;
  readonly Key?: WireItem;
  readonly Keys?: readonly WireItem[];
  readonly ProjectionExpression?: string | undefined;
}

const LONG: ShortWay = { kind: 'long' };
/** Of the texts of all items of an answer: beyond, dynalite leaves keys unread, as DynamoDB does. */
const ANSWER_CHARACTERS_MAX = 900_000;
/** Of an item as text, of which a character has three bytes at most: beyond, dynalite measures it. */
const ITEM_CHARACTERS_MAX = 130_000;
const KEYS_MAX = 100;
const READ_FIELDS = new Set(['TableName', 'Key', 'Keys', 'ConsistentRead', 'ProjectionExpression']);
const WRITE_FIELDS = new Set([
  'TableName',
  'Key',
  'Item',
  'ConditionExpression',
  'UpdateExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
]);
const LOST: ShortAnswer = {
  status: 400,
  text: JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
    message: 'The conditional request failed',
  }),
};
const DONE: ShortAnswer = { status: 200, text: '{}' };

/** Answers what it can over a store. */
export class ShortWays {
  readonly #store: ItemStore;
  readonly #forms = new KnownForms();

  constructor(store: ItemStore) {
    this.#store = store;
  }

  /** What becomes of a request. */
  take(operation: string, fields: Fields): ShortWay {
    switch (operation) {
      case 'GetItem':
        return answered(this.#get(fields));
      case 'BatchGetItem':
        return answered(this.#getMany(fields));
      case 'PutItem':
      case 'UpdateItem':
        return this.#write(operation, fields);
      default:
        return LONG;
    }
  }

  /** dynalite accepted a request of this form. */
  accept(form: string): void {
    this.#forms.add(form);
  }

  /** Changes one item, as a statement asks; undefined: dynalite has to decide, and nothing was changed. */
  async change(change: ItemChange): Promise<'done' | 'lost' | undefined> {
    const { set, removed, where } = change;
    const items = this.#store.itemsOf(change.tableName);
    const key = keyOf(change.key);
    const touchesKey = [...Object.keys(set), ...removed].some(isKeyName);
    if (items === undefined || key === undefined || touchesKey) return undefined;
    const condition = where && conditionOf(`#where ${where.operator} :where`);
    const answer = await apply(items, key, {
      condition: (stored) =>
        stored !== undefined &&
        (where === undefined ||
          condition?.(stored, {
            names: { '#where': where.attribute },
            values: { ':where': where.value },
          }) === true),
      next: (stored) => without({ ...stored, ...set }, removed),
    });
    if (answer === undefined) return undefined;
    return answer === DONE ? 'done' : 'lost';
  }

  #get(fields: Fields): ShortAnswer | undefined {
    const { TableName, Key, ProjectionExpression } = fields as ReadFields;
    if (Key === undefined) return undefined;
    const read = { TableName, Keys: [Key], ProjectionExpression };
    const isPlain = hasOnly(fields, READ_FIELDS) && !('Keys' in fields);
    const texts = isPlain ? this.#texts(read) : undefined;
    if (texts === undefined) return undefined;
    const [text] = texts;
    return { status: 200, text: text === undefined ? '{}' : `{"Item":${text}}` };
  }

  #getMany({ RequestItems: asked, ...others }: Fields): ShortAnswer | undefined {
    if (typeof asked !== 'object' || asked === null || Object.keys(others).length > 0) {
      return undefined;
    }
    const answers: string[] = [];
    let characters = 0;
    let count = 0;
    for (const [TableName, fields] of Object.entries(asked as Record<string, ReadFields>)) {
      const isPlain = hasOnly(fields as Fields, READ_FIELDS) && fields.Key === undefined;
      const texts = isPlain ? this.#texts({ ...fields, TableName }) : undefined;
      if (texts === undefined) return undefined;
      count += texts.length;
      const found = texts.filter((text) => text !== undefined);
      for (const text of found) characters += text.length;
      answers.push(`${JSON.stringify(TableName)}:[${found.join(',')}]`);
    }
    if (count > KEYS_MAX || characters > ANSWER_CHARACTERS_MAX) return undefined;
    return { status: 200, text: `{"Responses":{${answers.join(',')}},"UnprocessedKeys":{}}` };
  }

  /** Of each key the item's text; undefined: not read here. */
  #texts({ TableName = '', Keys = [], ProjectionExpression }: ReadFields) {
    const items = this.#store.itemsOf(TableName);
    const pick = pickOf(ProjectionExpression);
    const keys = Keys.map(keyOf);
    const areDistinct = new Set(keys).size === keys.length && keys.length > 0;
    if (items === undefined || pick === undefined || !areDistinct) return undefined;
    const texts: (string | undefined)[] = [];
    for (const key of keys) {
      if (key === undefined) return undefined;
      const text = items.textOf(key);
      texts.push(text === undefined ? undefined : pick(text));
    }
    return texts;
  }

  #write(operation: 'PutItem' | 'UpdateItem', fields: Fields): ShortWay {
    if (!hasOnly(fields, WRITE_FIELDS)) return LONG;
    const write = fields as WriteFields;
    const form = formOf(operation, write);
    if (!this.#forms.has(form)) return { kind: 'long', form };
    const items = this.#store.itemsOf(write.TableName ?? '');
    const key = keyOf(keyIn(operation === 'PutItem' ? write.Item : write.Key));
    const next = nextOf(operation, write);
    const condition = conditionIn(write);
    if (items === undefined || key === undefined || next === undefined) return LONG;
    if (condition === undefined) return LONG;
    return { kind: 'answered', answer: apply(items, key, { condition, next }) };
  }
}

type WriteFields = FormFields & { readonly Key?: WireItem };

function answered(answer: ShortAnswer | undefined): ShortWay {
  return answer === undefined ? LONG : { kind: 'answered', answer };
}

function hasOnly(fields: Fields, known: ReadonlySet<string>): boolean {
  return Object.keys(fields).every((name) => known.has(name));
}

/** What is kept of an item's text; undefined: not told here. The names are those that the stores ask for. */
function pickOf(projection: string | undefined): ((text: string) => string) | undefined {
  if (projection === undefined) return (text) => text;
  if (!/^(?:pk|sk|stamp)(?:, (?:pk|sk|stamp))*$/.test(projection)) return undefined;
  const names = projection.split(', ');
  return (text) => {
    const item = JSON.parse(text) as WireItem;
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, item[name]])));
  };
}

function keyIn(item: WireItem | undefined): WireItem | undefined {
  const { pk, sk } = item ?? {};
  return pk === undefined || sk === undefined ? undefined : { pk, sk };
}

type Next = (stored: WireItem | undefined) => WireItem;

/** What a write makes of the item; undefined: not done here. */
function nextOf(operation: 'PutItem' | 'UpdateItem', write: WriteFields): Next | undefined {
  const { Item: item, Key: key, UpdateExpression: expression } = write;
  if (operation === 'PutItem') return item && (() => item);
  const update = parseUpdate(expression ?? '');
  const assigned = update && assignmentsOf(update, write);
  return assigned && ((stored) => ({ ...(stored ?? key), ...assigned }));
}

/** Whether a write may be done; undefined: a condition that is not known here. */
function conditionIn(write: WriteFields): ((stored: WireItem | undefined) => boolean) | undefined {
  const { ConditionExpression: text } = write;
  if (text === undefined) return () => true;
  const condition = conditionOf(text);
  if (condition === undefined) return undefined;
  const names = write.ExpressionAttributeNames ?? {};
  const values = write.ExpressionAttributeValues ?? {};
  return (stored) => condition(stored ?? {}, { names, values });
}

interface Applied {
  /** Throws Undecided. */
  readonly condition: (stored: WireItem | undefined) => boolean;
  readonly next: Next;
}

/** Undefined: dynalite has to decide, and nothing was changed. */
async function apply(
  items: StoredItems,
  key: string,
  { condition, next }: Applied,
): Promise<ShortAnswer | undefined> {
  let answer: ShortAnswer | undefined;
  await items.change(key, (text) => {
    const stored = text === undefined ? undefined : (JSON.parse(text) as WireItem);
    try {
      if (!condition(stored)) {
        answer = LOST;
        return undefined;
      }
    } catch (error) {
      if (error instanceof Undecided) return undefined;
      throw error;
    }
    const made = next(stored);
    if (charactersOf(made) > ITEM_CHARACTERS_MAX) return undefined;
    answer = DONE;
    return made;
  });
  return answer;
}

function charactersOf(item: WireItem): number {
  return JSON.stringify(item).length;
}

function isKeyName(name: string): boolean {
  return name === 'pk' || name === 'sk';
}

function without(item: WireItem, removed: readonly string[]): WireItem {
  if (removed.every((name) => item[name] === undefined)) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !removed.includes(name)));
}
