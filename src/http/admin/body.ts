import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Problem, Refusal, unknownField } from '../problem.ts';

/** Characters of a pointer that an answer shows; a client's own member name may be as long as its body. */
const MAX_POINTER = 128;

/** Of an error as TypeBox lists it. */
interface Fault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * Checks bodies against a closed schema: what is unknown, missing or out of bounds is refused by name, and told what is
 * allowed. A request without a body counts as `{}`, so that whoever has nothing to say may say nothing.
 */
export function bodyReader<const S extends TSchema>(schema: S): (body: unknown) => Static<S> {
  const shape = Compile(schema);
  return (given) => {
    const body = given ?? {};
    if (shape.Check(body)) return body;
    throw new Refusal(problemOfFaults(shape.Errors(body), schema));
  };
}

function problemOfFaults(faults: readonly Fault[], schema: TSchema): Problem {
  // An unknown field is listed thrice, most plainly as what no schema is for.
  const fault = faults[0];
  if (fault === undefined) return { code: 'invalid-body', detail: 'The body is not as described.' };
  const { message, keyword, schemaPath } = fault;
  const instancePath = fault.instancePath.slice(0, MAX_POINTER);
  if (keyword === 'boolean') {
    const known = Object.keys(at(schema, schemaPath.replace(/\/additionalProperties$/, '/properties')));
    return { code: codeOf(instancePath, false), detail: unknownField(instancePath, known), parameter: instancePath };
  }
  if (keyword === 'required') {
    const [missing = ''] = 'requiredProperties' in fault.params ? [fault.params.requiredProperties].flat() : [];
    const parameter = `${instancePath}/${missing}`;
    const allowed = descriptionOf(at(schema, `${schemaPath}/properties/${missing}`));
    return { code: codeOf(parameter, true), detail: `The field ${parameter} is missing.${allowed}`, parameter };
  }
  const allowed = descriptionOf(at(schema, schemaPath));
  const detail = `${instancePath === '' ? 'The body' : instancePath} ${inWords(fault, message)}.${allowed}`;
  const isEmpty = keyword === 'minLength';
  return {
    code: codeOf(instancePath, isEmpty),
    detail,
    ...(instancePath === '' ? {} : { parameter: instancePath }),
  };
}

function inWords({ keyword, params }: Fault, message: string): string {
  if (keyword === 'enum' && 'allowedValues' in params)
    return `must be one of ${[params.allowedValues].flat().join(', ')}`;
  if (keyword !== 'type' || !('type' in params)) return message;
  const types = [params.type].flat().map((type) => (/^[aeio]/.test(String(type)) ? `an ${type}` : `a ${type}`));
  return `must be ${types.join(' or ')}`;
}

/** Faults that have a name of their own, wherever they are found. */
function codeOf(pointer: string, isMissing: boolean): Problem['code'] {
  if (pointer === '/fraction') return 'invalid-fraction';
  if (pointer === '/reason' && isMissing) return 'reason-required';
  if (pointer === '/plan' || pointer.startsWith('/plan/')) return 'invalid-plan';
  return 'invalid-body';
}

/** The part of a schema at a path such as `#/properties/fraction`. */
function at(schema: TSchema, path: string): object {
  let part: unknown = schema;
  for (const step of path.split('/').slice(1)) {
    if (typeof part !== 'object' || part === null) return {};
    part = Object.entries(part).find(([name]) => name === step)?.[1];
  }
  return typeof part === 'object' && part !== null ? part : {};
}

function descriptionOf(part: object): string {
  return 'description' in part && typeof part.description === 'string' ? ` ${part.description}` : '';
}
