import type { HostPort } from '../../src/schema/units.ts';

type Section = Readonly<Record<string, unknown>>;

/** A row's changes to the configuration of both processes, by section. */
export interface Changes {
  readonly public?: Section;
  readonly admin?: Section;
  readonly memory?: Section;
  readonly compression?: Section;
  /** Fields of the domain itself. */
  readonly domain?: Section;
  readonly engine?: Section;
  readonly store?: Section;
  readonly freshness?: Section;
}

/** The name of the candidate store. */
export const CANDIDATE = 'valkey';

interface Endpoints {
  readonly store: { readonly kind: 'cluster' | 'standalone'; readonly nodes: readonly HostPort[] };
  /** A candidate of the store. */
  readonly candidate?: readonly HostPort[] | undefined;
  /** The store of the control document and of the feed of changes. */
  readonly control?: HostPort | undefined;
  /** `kind` is `sphinx` by default. */
  readonly engine: HostPort & { readonly kind?: 'sphinx' | 'manticore' };
}

export const INDEX = 'goods';

export const ENGINE_DEADLINE_MS = 800;

/** Extra time for a busy machine. */
export const BUSY_MS = 1000;

/** Maximum waiting time of a client: the default of the configuration. */
export const PATIENCE_MS = 2000;

/** A request without an answer after this time is hung: the service promises one within the patience. */
export const HUNG_MS = PATIENCE_MS + BUSY_MS;

/**
 * The configuration as JSON, which is valid YAML. L1 is small, so that the store matters: without compression it holds
 * about a fifth of the repeated searches. Pages live longer than any row, so that only the fault can remove them.
 */
export function configurationOf({ store, candidate, control, engine }: Endpoints, changes: Changes): string {
  return JSON.stringify({
    public: { drain: '3s', ...changes.public },
    admin: changes.admin,
    memory: { maxBytes: '1MiB', ...changes.memory },
    compression: { coding: 'identity', ...changes.compression },
    log: { hitSample: 0 },
    control: control && { kind: 'standalone', nodes: [addressOf(control)] },
    domains: {
      goods: {
        store: { kind: store.kind, nodes: store.nodes.map(addressOf), ...changes.store },
        candidates: candidate && {
          [CANDIDATE]: { kind: 'cluster', nodes: candidate.map(addressOf) },
        },
        engine: {
          kind: 'sphinx',
          ...engine,
          index: INDEX,
          idAttribute: 'doc_id',
          deadline: `${ENGINE_DEADLINE_MS}ms`,
          hardDeadline: '2s',
          maxConcurrent: 8,
          ...changes.engine,
        },
        freshness: { ttl: '1h', emptyTtl: '1h', ...changes.freshness },
        attributes: {
          category: { type: 'string', facet: true },
          city: { type: 'string', facet: true },
          price: { type: 'integer', sort: true },
        },
        patience: `${PATIENCE_MS}ms`,
        ...changes.domain,
      },
    },
  });
}

const addressOf = ({ host, port }: HostPort): string => `${host}:${port}`;
