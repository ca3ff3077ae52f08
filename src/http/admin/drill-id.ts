import type { FastifyRequest } from 'fastify';
import { Refusal } from '../problem.ts';
import { IdParams } from './fields.ts';

/** The drill a path names. Ids become file names, so nothing else than what one consists of goes any further. */
export const drillId = {
  IdParams: IdParams('Of a drill, such as `20261121-064348-goods-canary-x7`.'),
  /** @throws Refusal `unknown-drill` */
  of: (request: FastifyRequest): string => {
    const { params } = request;
    const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
    if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
    throw new Refusal({ code: 'unknown-drill', detail: 'There is no such drill.' });
  },
};
