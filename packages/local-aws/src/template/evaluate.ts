/**
 * Evaluates a CloudFormation template with its parameters, so that it can be said in another language.
 *
 * Known are Ref, Fn::Sub, Fn::GetAtt, Fn::If and conditions of Fn::Equals, Fn::Not and Fn::And; anything else throws:
 * what comes out must be what CloudFormation would make. Values that only the account knows stay expressions. A text
 * of Fn::Sub that is a JSON document is read as one. conditions.ts is for templates whose variables are resolved.
 */
import { parse } from 'yaml';
import * as v from 'valibot';

/** Values of parameters, by name. */
type Parameters = Readonly<Record<string, string>>;

/** An attribute of a resource, or a fact of the account: known when it is deployed. */
export class Expression {
  readonly target: string;
  readonly attribute: string;

  constructor(target: string, attribute: string) {
    this.target = target;
    this.attribute = attribute;
  }
}

/** Text with expressions in it, in order. */
export class TextParts {
  readonly parts: readonly (string | Expression)[];

  constructor(parts: readonly (string | Expression)[]) {
    this.parts = parts;
  }
}

/** A JSON value with expressions. */
export type Evaluated =
  | string
  | number
  | boolean
  | null
  | Expression
  | TextParts
  | readonly Evaluated[]
  | { readonly [key: string]: Evaluated };

/** A resource of the template that its parameters call for. */
export interface EvaluatedResource {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, Evaluated>>;
}

/** What the template makes, with its parameters. */
export interface EvaluatedTemplate {
  readonly resources: readonly EvaluatedResource[];
  readonly outputs: Readonly<Record<string, Evaluated>>;
}

/** Stands for the account in expressions. */
export const ACCOUNT = 'AWS';

const entrySchema = v.looseObject({ Condition: v.optional(v.string()) });
const templateSchema = v.looseObject({
  Parameters: v.record(v.string(), v.looseObject({ Default: v.optional(v.string()) })),
  Conditions: v.record(v.string(), v.unknown()),
  Resources: v.record(
    v.string(),
    v.looseObject({
      ...entrySchema.entries,
      Type: v.string(),
      Properties: v.record(v.string(), v.unknown()),
    }),
  ),
  Outputs: v.record(v.string(), v.looseObject({ ...entrySchema.entries, Value: v.unknown() })),
});

type Template = v.InferOutput<typeof templateSchema>;

/** Evaluates the template. Throws when a parameter is missing or a form is not known. */
export function evaluateTemplate(source: string, parameters: Parameters): EvaluatedTemplate {
  const template = v.parse(templateSchema, parse(source));
  const evaluator = new Evaluator(template, parameters);
  const isCalledFor = ({ Condition: name }: { readonly Condition?: string | undefined }): boolean =>
    name === undefined || evaluator.isTrue(name);
  return {
    resources: Object.entries(template.Resources)
      .filter(([, resource]) => isCalledFor(resource))
      .map(([id, { Type: type, Properties }]) => ({
        id,
        type,
        properties: evaluator.evaluateRecord(Properties),
      })),
    outputs: Object.fromEntries(
      Object.entries(template.Outputs)
        .filter(([, output]) => isCalledFor(output))
        .map(([name, { Value: value }]) => [name, evaluator.evaluate(value)]),
    ),
  };
}

/** `Ref: AWS::NoValue`: the member is as if it were not written. */
function isNoValue(value: Evaluated): boolean {
  return value instanceof Expression && value.target === ACCOUNT && value.attribute === 'NoValue';
}

class Evaluator {
  readonly #template: Template;
  readonly #parameters: Parameters;

  constructor(template: Template, parameters: Parameters) {
    this.#template = template;
    this.#parameters = parameters;
  }

  isTrue(name: string): boolean {
    const condition = this.#template.Conditions[name];
    if (condition === undefined) throw new Error(`the template has no condition ${name}`);
    return this.#judge(condition);
  }

  evaluateRecord(record: Readonly<Record<string, unknown>>): Record<string, Evaluated> {
    return Object.fromEntries(
      Object.entries(record)
        .map(([key, value]) => [this.#text(key), this.evaluate(value)] as const)
        .filter(([, value]) => !isNoValue(value)),
    );
  }

  evaluate(value: unknown): Evaluated {
    if (Array.isArray(value)) return value.map((item) => this.evaluate(item));
    if (typeof value === 'object' && value !== null) {
      const [[form, argument] = ['', undefined], ...others] = Object.entries(value);
      const isIntrinsic = others.length === 0 && (form === 'Ref' || form.startsWith('Fn::'));
      return isIntrinsic
        ? this.#intrinsic(form, argument)
        : this.evaluateRecord(value as Readonly<Record<string, unknown>>);
    }
    if (typeof value === 'string' || typeof value === 'number') return value;
    if (typeof value === 'boolean' || value === null) return value;
    throw new Error('the template holds what is no JSON');
  }

  #intrinsic(form: string, argument: unknown): Evaluated {
    switch (form) {
      case 'Ref':
        return this.#reference(String(argument));
      case 'Fn::GetAtt': {
        const [target, attribute] = v.parse(v.tuple([v.string(), v.string()]), argument);
        return new Expression(target, attribute);
      }
      case 'Fn::If': {
        const pattern = v.tuple([v.string(), v.unknown(), v.unknown()]);
        const [name, whenTrue, whenFalse] = v.parse(pattern, argument);
        return this.evaluate(this.isTrue(name) ? whenTrue : whenFalse);
      }
      case 'Fn::Sub':
        return this.#substitute(v.parse(v.string(), argument));
      default:
        throw new Error(`the template uses ${form}, which is not known here`);
    }
  }

  /** A document as text is read first: its keys and values are substituted one by one. */
  #substitute(text: string): Evaluated {
    if (!text.startsWith('{"')) return this.#expand(text);
    const document = JSON.parse(text) as unknown;
    const walk = (value: unknown): Evaluated => {
      if (typeof value === 'string') return this.#expand(value);
      if (Array.isArray(value)) return value.map(walk);
      const entries = Object.entries(value as object);
      return Object.fromEntries(entries.map(([key, item]) => [this.#text(key), walk(item)]));
    };
    return walk(document);
  }

  #text(source: string): string {
    const expanded = this.#expand(source);
    if (typeof expanded !== 'string') throw new Error(`${source} cannot be the name of a member`);
    return expanded;
  }

  #expand(source: string): string | TextParts {
    const parts: (string | Expression)[] = [];
    // Odd places of the split hold what stood in braces.
    for (const [place, piece] of source.split(/\$\{([^}]+)\}/).entries()) {
      const part = place % 2 === 0 ? piece : this.#reference(piece);
      const last = parts.at(-1);
      if (typeof part === 'string' && typeof last === 'string') {
        parts.splice(-1, 1, last + part);
      } else if (part !== '') parts.push(part);
    }
    const [only = '', ...others] = parts;
    return others.length === 0 && typeof only === 'string' ? only : new TextParts(parts);
  }

  #reference(name: string): string | Expression {
    if (name.startsWith('AWS::')) return new Expression(ACCOUNT, name.slice('AWS::'.length));
    const parameter = this.#template.Parameters[name];
    if (parameter === undefined) throw new Error(`the template refers to ${name}`);
    const value = this.#parameters[name] ?? parameter.Default;
    if (value === undefined) throw new Error(`the template needs a value for ${name}`);
    return value;
  }

  #judge(condition: unknown): boolean {
    const [[form, argument] = ['', undefined]] = Object.entries(condition as object);
    if (form === 'Condition') return this.isTrue(String(argument));
    const members = v.parse(v.array(v.unknown()), argument);
    switch (form) {
      case 'Fn::Equals':
        return this.evaluate(members[0]) === this.evaluate(members[1]);
      case 'Fn::Not':
        return !members.some((member) => this.#judge(member));
      case 'Fn::And':
        return members.every((member) => this.#judge(member));
      default:
        throw new Error(`the template judges by ${form}, which is not known here`);
    }
  }
}
