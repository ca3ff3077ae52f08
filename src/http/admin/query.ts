import type { FastifyRequest } from 'fastify';
import { OperationRefused } from '../../control/refusal.ts';
import { Refusal } from '../problem.ts';
import { parseQueryString } from '../query-string.ts';
import type { DomainOperations, Operations } from './operations.ts';

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
