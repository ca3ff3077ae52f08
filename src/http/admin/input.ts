import type { FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { DomainOperations, Operations } from '../../operations/operations.ts';
import { namingParameter, unknownField } from '../problems.ts';
import { PROBLEM_ANSWERS } from '../search-api/openapi.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { parseQueryString } from '../transport/request-target.ts';

/** The OpenAPI description of one route of the operators' API. */
interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'state' | 'flush' | 'drills' | 'warm-up' | 'audit';
  readonly body?: TSchema;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly answer: TSchema;
  /** Absent: 200. */
  readonly status?: 201;
  /** The content type of the answer. Absent: `application/json`. */
  readonly type?: string;
}

export function described(route: Described): Record<string, unknown> {
  const { summary, description, tag, body, params, query, answer, status = 200, type = 'application/json' } = route;
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: [{ token: [] }],
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body, headers: Operator }),
    response: {
      [status]: { description: 'Done.', content: { [type]: { schema: answer } } },
      ...PROBLEM_ANSWERS,
    },
  };
}

const Operator = Type.Object({
  'x-operator': Type.Optional(
    Type.String({ maxLength: 64, description: 'The name of the operator, for the audit. Without it: `operator`.' }),
  ),
});

/** For bodies: unknown members are refused. Answers stay open, because later versions may add members. */
export const closed = { additionalProperties: false } as const;

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

/** Maximum number of characters of a pointer in an answer: a member name of a client may be as long as its body. */
const MAX_POINTER = 128;

/** The used part of an error of TypeBox. */
interface Fault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * Checks bodies against a closed schema. An unknown, missing or invalid field is refused by name, and the answer says what
 * is allowed. A request without a body counts as `{}`.
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
  // An unknown field is listed three times; the first entry is the clearest.
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

/** Some fields have a code of their own. */
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

interface Query {
  /** @throws Refusal when it is missing or empty. */
  readonly text: (name: string) => string;
  /** Undefined when it is missing. */
  readonly optional: (name: string) => string | undefined;
  /** A whole number. @throws Refusal when it is out of bounds. */
  readonly count: (name: string, bounds: CountBounds) => number;
}

interface CountBounds {
  readonly min: number;
  readonly max: number;
  /** The value when the parameter is missing. */
  readonly otherwise: number;
}

/** The query of an operator's request. Unlike in a search, an unknown parameter is refused, because it is a typing error. */
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

/** @throws Refusal `unknown-domain`, with the name of the query parameter. */
export function queriedDomain(operations: Pick<Operations, 'domain'>, name: string): DomainOperations {
  return namingParameter('domain', () => operations.domain(name));
}

function invalid(parameter: string, detail: string): Refusal {
  return new Refusal({ code: 'invalid-request', detail, parameter });
}
