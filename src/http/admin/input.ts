import type { FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { OperationRefused } from '../../control/operation-error.ts';
import type { DomainOperations, Operations } from '../../operations/operations.ts';
import { type Problem, Refusal, unknownField } from '../transport/problem.ts';
import { parseQueryString } from '../transport/request-target.ts';

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

/** Fields that several bodies and answers share. */

export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Enum([...values] as T[], description === undefined ? {} : { description });

export const Domain = Type.String({ minLength: 1, maxLength: 64, description: 'A configured domain.' });

const MAX_REASON = 500;
export const Reason = Type.String({
  minLength: 1,
  maxLength: MAX_REASON,
  description: `Why, for the audit: 1 to ${MAX_REASON} characters.`,
});
export const OptionalReason = Type.Optional(
  Type.String({ maxLength: MAX_REASON, description: `Why, for the audit: at most ${MAX_REASON} characters.` }),
);

export const DomainQuery = Type.Object({ domain: Domain });

export const IdParams = (description: string): TSchema => Type.Object({ id: Type.String({ description }) });

/** Wall time in milliseconds since the epoch. */
export const AtMs = Type.Number({ description: 'Milliseconds since 1970-01-01T00:00Z.' });

export const BucketRange = Type.Object({ from: Type.Integer(), to: Type.Integer() });

export interface Query {
  /** @throws Refusal when it is missing or empty. */
  readonly text: (name: string) => string;
  /** Undefined when it is missing. */
  readonly optional: (name: string) => string | undefined;
  /** A whole number within bounds; @throws Refusal. */
  readonly count: (name: string, bounds: CountBounds) => number;
}

export interface CountBounds {
  readonly min: number;
  readonly max: number;
  /** When it is not given. */
  readonly otherwise: number;
}

/** The query of an operator's request. Unlike a search's, a parameter nobody knows is refused: it is a slip of the pen. */
export function queryOf(request: FastifyRequest, schema: { readonly properties: object }): Query {
  const known = Object.keys(schema.properties);
  const target = request.raw.url ?? '';
  const mark = target.indexOf('?');
  const pairs = mark < 0 ? [] : parseQueryString(target.slice(mark + 1));
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!known.includes(name)) {
      const allowed = known.length === 0 ? 'it takes none' : `known are ${known.join(', ')}`;
      throw invalid(name.slice(0, 64), `There is no such parameter; ${allowed}.`);
    }
    if (values.has(name)) throw invalid(name, 'It is given twice.');
    values.set(name, value);
  }
  return {
    text: (name) => {
      const value = values.get(name)?.trim() ?? '';
      if (value === '') throw invalid(name, `The parameter ${name} is required.`);
      return value;
    },
    optional: (name) => values.get(name),
    count: (name, { min, max, otherwise }) => {
      const value = values.get(name);
      if (value === undefined) return otherwise;
      const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      if (count >= min && count <= max) return count;
      throw invalid(name, `The parameter ${name} is a whole number from ${min} to ${max}.`);
    },
  };
}

/** @throws Refusal `unknown-domain` that names the parameter as a query has it. */
export function queriedDomain(operations: Pick<Operations, 'domain'>, name: string): DomainOperations {
  try {
    return operations.domain(name);
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    throw new Refusal({ code: error.code, detail: error.message, parameter: 'domain' });
  }
}

function invalid(parameter: string, detail: string): Refusal {
  return new Refusal({ code: 'invalid-request', detail, parameter });
}
