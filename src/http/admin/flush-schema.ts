import { Type } from 'typebox';
import { BUCKET_RANGE, ERASE_METHOD, FLUSH_MODE } from '../../operations/flush/flush.ts';
import { oneOf } from '../../schema/fields.ts';
import { AtMs, DomainName, OptionalReason, strict } from './input.ts';

const NOTE = {
  note: Type.String({ description: 'The same as a sentence.' }),
  watch: Type.Array(Type.String(), { description: 'Metrics and routes that show the effect.' }),
};

const Memory = Type.Integer({
  description: 'Pages in the memory of the process that answered; each process has its own memory.',
});

export const AffectedBody = Type.Object({
  memory: Memory,
  store: Type.Optional(Type.Integer({ description: 'Pages in the store; absent when they were not counted.' })),
  exact: Type.Optional(Type.Boolean({ description: 'Whether `store` is exact; false: estimated from a sample.' })),
  ...NOTE,
});

export const PurgedBody = Type.Object({
  memory: Memory,
  firstPageInStore: Type.Optional(
    Type.Boolean({
      description: 'Whether the store holds the first page, without filters; absent when unknown.',
    }),
  ),
  known: Type.Boolean({ description: 'False: no page of this query was found.' }),
  ...NOTE,
});

const target = {
  domain: DomainName,
  mode: FLUSH_MODE,
  fraction: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      default: 1,
      description: 'The share of the keys: above 0, at most 1. Without it: 1.',
    }),
  ),
  from: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9999,
      description: 'The bucket, 0–9999, at which the range begins. Without it: random.',
    }),
  ),
  by: Type.Optional(ERASE_METHOD),
};

export const PreviewAsk = Type.Object(target, strict);

export const FlushAskBody = Type.Object(
  {
    ...target,
    indexVersion: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'The name that the indexing job gives its index: 1 to 128 characters.',
      }),
    ),
    reason: OptionalReason,
  },
  strict,
);

const ErasureBody = Type.Object({
  state: oneOf(['running', 'done', 'failed', 'stopped']),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      by: ERASE_METHOD,
      state: oneOf(['waiting', 'running', 'done', 'failed', 'stopped']),
      scanned: Type.Integer(),
      removed: Type.Integer(),
      detail: Type.Optional(Type.String()),
    }),
  ),
  seconds: Type.Number(),
});

export const FlushDoneBody = Type.Object({
  domain: Type.String(),
  mode: FLUSH_MODE,
  ranges: Type.Array(BUCKET_RANGE),
  revision: Type.Integer(),
  generation: Type.Integer(),
  affected: AffectedBody,
  erasure: Type.Optional(ErasureBody),
});

export const HaltNote = Type.Object({ reason: Type.String(), by: Type.String(), atMs: AtMs });

export const FlushStateBody = Type.Object({
  domain: Type.String(),
  document: Type.Object(
    {
      revision: Type.Integer(),
      generation: Type.Integer(),
      ranges: Type.Array(
        Type.Object({
          from: Type.Integer(),
          to: Type.Integer(),
          floor: Type.Integer({ description: 'Entries of a lower generation are misses.' }),
          freshFloor: Type.Integer({ description: 'Entries of a lower generation are stale.' }),
          atMs: AtMs,
        }),
      ),
      indexVersion: Type.Optional(Type.String()),
      purges: Type.Array(Type.Object({ text: Type.String(), generation: Type.Integer(), atMs: AtMs })),
      suppressed: Type.Integer({ description: 'Number of suppressed documents; `GET /admin/suppressed` lists them.' }),
      halted: Type.Optional(HaltNote),
      drill: Type.Optional(Type.String({ description: 'The running drill.' })),
      heardMsAgo: Type.Number({ description: 'Milliseconds since the control store last answered.' }),
      shared: Type.Boolean({ description: 'False: followed by this process only.' }),
    },
    { description: 'The decisions of operators about the domain, as this process follows them.' },
  ),
  erasure: Type.Optional(ErasureBody),
});
