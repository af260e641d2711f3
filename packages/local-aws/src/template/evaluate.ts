/**
 * Evaluates a CloudFormation template with its parameters, so that it can be said in another language.
 *
 * Known are Ref, Fn::Sub and Fn::GetAtt, and what conditions.ts decides before; anything else throws: what comes out
 * must be what CloudFormation would make. Values that only the account knows stay expressions. A text of Fn::Sub that
 * is a JSON document is read as one.
 */
import { parse } from 'yaml';
import * as v from 'valibot';
import { decideResources } from './conditions.ts';
import type { Json } from './yaml-file.ts';

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

const jsonSchema = v.custom<Json>(() => true);
const membersSchema = v.record(v.string(), jsonSchema);
const templateSchema = v.looseObject({
  Parameters: v.record(v.string(), v.looseObject({ Default: v.optional(v.string()) })),
  Conditions: membersSchema,
  Resources: membersSchema,
  Outputs: membersSchema,
});
const resourceSchema = v.looseObject({ Type: v.string(), Properties: membersSchema });
const outputSchema = v.looseObject({ Value: jsonSchema });

type ParameterDeclarations = v.InferOutput<typeof templateSchema>['Parameters'];

/** Evaluates the template. Throws when a parameter is missing or a form is not known. */
export function evaluateTemplate(source: string, parameters: Parameters): EvaluatedTemplate {
  const template = v.parse(templateSchema, parse(source));
  const evaluator = new Evaluator(template.Parameters, parameters);
  const conditions = Object.fromEntries(
    Object.entries(template.Conditions).map(([name, one]) => [name, evaluator.withValues(one)]),
  );
  const calledFor = (members: Readonly<Record<string, Json>>): [string, Json][] =>
    Object.entries(decideResources(members, conditions));
  return {
    resources: calledFor(template.Resources).map(([id, resource]) => {
      const { Type: type, Properties } = v.parse(resourceSchema, resource);
      return { id, type, properties: evaluator.evaluateRecord(Properties) };
    }),
    outputs: Object.fromEntries(
      calledFor(template.Outputs).map(([name, output]) => [
        name,
        evaluator.evaluate(v.parse(outputSchema, output).Value),
      ]),
    ),
  };
}

class Evaluator {
  readonly #declared: ParameterDeclarations;
  readonly #parameters: Parameters;

  constructor(declared: ParameterDeclarations, parameters: Parameters) {
    this.#declared = declared;
    this.#parameters = parameters;
  }

  /** A condition, with values in place of parameters. */
  withValues(condition: Json): Json {
    if (Array.isArray(condition)) return condition.map((one) => this.withValues(one));
    if (condition === null || typeof condition !== 'object') return condition;
    const { Ref: name } = condition;
    if (typeof name === 'string') return this.#valueOf(name);
    return Object.fromEntries(
      Object.entries(condition).map(([key, one]) => [key, this.withValues(one)]),
    );
  }

  evaluateRecord(record: Readonly<Record<string, unknown>>): Record<string, Evaluated> {
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => [this.#text(key), this.evaluate(value)]),
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
    return this.#valueOf(name);
  }

  #valueOf(name: string): string {
    const declared = this.#declared[name];
    if (declared === undefined) throw new Error(`the template refers to ${name}`);
    const value = this.#parameters[name] ?? declared.Default;
    if (value === undefined) throw new Error(`the template needs a value for ${name}`);
    return value;
  }
}
