// Evaluates a template's conditions, as CloudFormation does: Fn::If chooses, a resource whose condition is false is not
// there, AWS::NoValue removes what holds it.
//
// Assumes that variables are resolved. Known are Fn::Equals of texts, Fn::Not, Fn::And, and conditions by name; anything
// else in a condition is an error, so that what runs here is never decided by a guess. Branches are resolved after they are
// chosen: what the other one refers to need not exist here.
import type { Json } from './yaml-file.ts';

/** Conditions by name, as a template declares them. */
export type ConditionDeclarations = Readonly<Record<string, Json>>;

type JsonObject = Readonly<Record<string, Json>>;

/** True for a condition that holds. Throws for what is not known. */
export function holds(name: string, conditions: ConditionDeclarations): boolean {
  const declared = conditions[name];
  if (declared === undefined) throw new Error(`no template declares the condition ${name}`);
  return evaluate(declared, conditions);
}

function evaluate(expression: Json, conditions: ConditionDeclarations): boolean {
  const [operator, operand] = onlyEntryOf(expression) ?? [];
  if (operator === 'Condition' && typeof operand === 'string') return holds(operand, conditions);
  const operands = Array.isArray(operand) ? operand : [];
  const [first] = operands;
  if (operator === 'Fn::Not' && first !== undefined) return !evaluate(first, conditions);
  if (operator === 'Fn::And' && first !== undefined) {
    return operands.every((one) => evaluate(one, conditions));
  }
  const areTwoTexts = operands.length === 2 && operands.every((one) => typeof one === 'string');
  if (operator === 'Fn::Equals' && areTwoTexts) return first === operands[1];
  throw new Error(`not known in a condition: ${JSON.stringify(expression)}`);
}

/** A value with every Fn::If decided; undefined where AWS::NoValue stands. */
export function decide(value: Json, conditions: ConditionDeclarations): Json | undefined {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const decided = decide(item, conditions);
      return decided === undefined ? [] : [decided];
    });
  }
  const [operator, operand] = onlyEntryOf(value) ?? [];
  if (operator === 'Ref' && operand === 'AWS::NoValue') return undefined;
  if (operator === 'Fn::If') return decide(chosenOf(operand, conditions), conditions);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const decided = decide(item, conditions);
      return decided === undefined ? [] : [[key, decided]];
    }),
  );
}

/** The resources, or outputs, that exist under the conditions, with every Fn::If in them decided. */
export function decideResources(
  resources: JsonObject,
  conditions: ConditionDeclarations,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(resources).flatMap(([id, resource]) => {
      const condition = isObject(resource) ? resource['Condition'] : undefined;
      if (typeof condition === 'string' && !holds(condition, conditions)) return [];
      const decided = decide(resource, conditions);
      return decided === undefined ? [] : [[id, decided]];
    }),
  );
}

function chosenOf(operand: Json | undefined, conditions: ConditionDeclarations): Json {
  if (!Array.isArray(operand) || operand.length !== 3 || typeof operand[0] !== 'string') {
    throw new Error(`Fn::If takes a condition and two values: ${JSON.stringify(operand)}`);
  }
  const [name, whenTrue, whenFalse] = operand as [string, Json, Json];
  return holds(name, conditions) ? whenTrue : whenFalse;
}

function onlyEntryOf(value: Json): readonly [string, Json] | undefined {
  if (!isObject(value)) return undefined;
  const [entry, ...others] = Object.entries(value);
  return others.length === 0 ? entry : undefined;
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
