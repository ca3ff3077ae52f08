import Type, { type Static } from 'typebox';
import type { Path } from './faults.ts';
import {
  choice,
  closed,
  DAY,
  duration,
  flag,
  fraction,
  GIB,
  HOUR,
  integer,
  KIB,
  MIB,
  MINUTE,
  optional,
  SECOND,
  section,
  size,
  text,
} from './fields.ts';
import { controlStore, counterStore, engine, lifeboat, store } from './schema-engine.ts';
import { adminListener, audit, compression, drills, log, memory, publicListener, signing } from './schema-process.ts';
import { DEFENCES } from './settings.ts';

const attribute = Type.Object(
  {
    type: choice(['string', 'integer', 'number', 'date'], 'What its values are; `date` is written YYYY-MM-DD.'),
    facet: flag('May be counted: `facet=name`.', { default: false }),
    sort: flag('May order results: `sort=name`, `sort=-name`.', { default: false }),
    label: optional(text('Its name on the search page, in place of one made from its own.', { maxLength: 80 })),
    currency: optional(
      text(
        'Currency of an amount of money, shown on the search page; a document’s own attribute `currency` takes precedence.',
        {
          pattern: '^[A-Z]{3}$',
          'x-allowed': 'an ISO 4217 code such as EUR or RUB',
        },
      ),
    ),
  },
  closed('One attribute of the documents of this domain.'),
);

const contextParameter = Type.Object(
  {
    source: choice(['query', 'header'], 'Where a request carries it.'),
    values: Type.Array(text('One value allowed.', { maxLength: 64 }), {
      minItems: 1,
      maxItems: 256,
      description: 'Every value allowed; the first is the default. Closed, so that no client can split the cache.',
    }),
  },
  closed('A parameter or header beside the query that changes the answer; part of the key.'),
);

const freshness = Type.Object(
  {
    ttl: duration('A page is fresh for so long. Shortened, it holds at once for stored pages too.', {
      default: '5m',
      min: 1 * SECOND,
      max: 30 * DAY,
    }),
    staleWhileRevalidate: duration('After that it is served while one refresh runs.', {
      default: '1m',
      min: 0,
      max: 30 * DAY,
    }),
    staleIfError: duration('After that it is served when the engine fails.', { default: '1h', min: 0, max: 30 * DAY }),
    emptyTtl: duration('Instead of `ttl` for pages without results.', { default: '30s', min: 0, max: DAY }),
    degradedTtl: duration('Instead of `ttl` for partial pages; in L1 only.', { default: '5s', min: 0, max: HOUR }),
    clientMaxAge: duration('`max-age` − `Age` sent downstream: a purged page lives on there no longer.', {
      default: '30s',
      min: 0,
      max: DAY,
    }),
    jitter: fraction('Each lifetime is spread by ± this share, so that a refill does not lapse all at once.', {
      default: 0.1,
      minimum: 0,
      maximum: 0.5,
    }),
  },
  section('How long pages live.'),
);

const domain = Type.Object(
  {
    memory: Type.Object(
      {
        maxBytes: optional(
          size("This domain's part of `memory.maxBytes`.", {
            min: 1 * MIB,
            max: 64 * GIB,
            words: 'an equal part of what the other domains leave',
          }),
        ),
        emptyMaxBytes: optional(
          size('Part of it kept for pages without results, so that they never evict an answer.', {
            min: 64 * KIB,
            max: 64 * GIB,
            words: 'a sixteenth of `maxBytes`',
          }),
        ),
      },
      section('L1 of this domain.'),
    ),
    store,
    engine,
    freshness,
    attributes: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$' }), attribute, {
      maxProperties: 64,
      default: {},
      description: 'Attributes requests may filter, count and sort by, by name.',
      'x-allowed': 'an attribute name: a lower-case letter, then letters, digits and _, 31 at most',
    }),
    context: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,62}$' }), contextParameter, {
      maxProperties: 8,
      default: {},
      description: 'Parameters and headers beside the query that change the answer, by name.',
      'x-allowed': 'a lower-case letter, then letters, digits, _ and -, 63 at most',
    }),
    patience: optional(
      duration('How long a client waits in all: a burst that the engine clears within it is answered, not refused.', {
        min: 1,
        max: MINUTE,
        words: "2s, or the engine's `deadline` where that is longer",
      }),
    ),
    maxLeaseWaiters: integer("Searches of this process that may wait for another process's page; more are shed.", {
      default: 256,
      minimum: 1,
      maximum: 10_000,
    }),
    popularity: Type.Object(
      {
        maxQueries: integer('Queries tracked.', { default: 1000, minimum: 10, maximum: 100_000 }),
        halfLife: duration('After so long without being asked, a query counts half.', {
          default: '10m',
          min: 1 * SECOND,
          max: 30 * DAY,
        }),
      },
      section('What is asked most: refreshed before it turns stale, and first to be written back to a lost store.'),
    ),
    reseedPerSecond: integer('Entries a second written from L1 to a store node that lost its own; 0: none.', {
      default: 2000,
      minimum: 0,
      maximum: 100_000,
    }),
    lifeboat: Type.Optional(lifeboat),
    without: Type.Array(choice([...DEFENCES], 'One defence.'), {
      default: [],
      uniqueItems: true,
      description: 'Defences left out, to measure what each is worth. Never in production.',
    }),
    maxEntryBytes: size('Larger entries are served, not stored, and counted; a larger value in the store is a miss.', {
      default: '512KiB',
      min: 1 * KIB,
      max: 64 * MIB,
    }),
  },
  closed('One domain: its engine, its store and its policy.'),
);

/**
 * The table: validation, defaults, the JSON Schema for editors and the reference page are all read from it.
 * A field with a `default` (or `x-default`, its words) may be left out; `Config` has it filled in all the same.
 */
export const configShape = Type.Object(
  {
    public: publicListener,
    admin: adminListener,
    log,
    memory,
    compression,
    control: controlStore,
    counters: counterStore,
    signing,
    drills,
    audit,
    domains: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' }), domain, {
      minProperties: 1,
      maxProperties: 64,
      description: 'The domains, by name; the first is the default of `/search`.',
      'x-default': 'four demo domains in embedded indexes under `data`, without stores',
      'x-allowed': 'a domain name: a lower-case letter, then letters, digits and -, 31 at most',
    }),
  },
  closed('Configuration of serpcache. Top-level names that start with x- are ignored: a place for YAML anchors.'),
);

/** The configuration with defaults applied and units read; only what has no fixed default is still optional. */
export type Config = Static<typeof configShape>;
export type DomainConfig = Config['domains'][string];

/**
 * `T` with holes where something was at fault: what checks across fields are given. A union keeps its `kind`, as its
 * member cannot be known without.
 */
export type Draft<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Draft<Item> | undefined)[]
    : string extends keyof T
      ? { readonly [Key in keyof T]: Draft<T[Key]> | undefined }
      : { readonly [Key in keyof T as Key extends 'kind' ? Key : never]: T[Key] } & {
          readonly [Key in keyof T as Key extends 'kind' ? never : Key]?: Draft<T[Key]> | undefined;
        };

type DraftStore = NonNullable<Draft<Config['domains'][string]['store']>>;

/** One store the configuration names, and where. */
export interface NamedStore {
  readonly path: Path;
  /** A domain's name, or `control`, `counters` in words. */
  readonly owner: string;
  readonly store: Exclude<DraftStore, { readonly kind: 'none' }>;
}

/** Every store that is to be connected to: the domains' own, and those of the process. */
export function namedStores(config: Draft<Config>): readonly NamedStore[] {
  const all = [
    ...Object.entries(config.domains ?? {}).map(([name, domain]) => ({
      path: ['domains', name, 'store'],
      owner: name,
      store: domain?.store,
    })),
    { path: ['control'], owner: 'control', store: config.control },
    { path: ['counters'], owner: 'counters', store: config.counters },
  ];
  return all.flatMap(({ path, owner, store }) =>
    store === undefined || store.kind === 'none' ? [] : [{ path, owner, store }],
  );
}
