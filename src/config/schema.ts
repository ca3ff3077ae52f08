import Type from 'typebox';
import { PRESET_NAMES } from '../catalogue/presets.ts';
import { DAY_FORMATS, NUMBER_FORMATS } from '../catalogue/values.ts';
import {
  choice,
  closed,
  type Decoded,
  duration,
  flag,
  fraction,
  integer,
  section,
  size,
  text,
} from '../schema/fields.ts';
import { DAY, GIB, HOUR, KIB, MIB, MINUTE, SECOND } from '../schema/units.ts';
import { MAX_LIST_VALUES } from '../search/domain.ts';
import { candidates, controlStore, counterStore, engine, lifeboat, store } from './schema-connections.ts';
import {
  adminListener,
  audit,
  compression,
  doctorSection,
  drills,
  log,
  memory,
  publicListener,
  signing,
  tracing,
} from './schema-process.ts';

const attribute = Type.Object(
  {
    type: choice(['string', 'integer', 'number', 'date'], 'Type of its values; `date` is written YYYY-MM-DD.'),
    facet: flag('May be a facet: `facet=name`.', { default: false }),
    sort: flag('May order results: `sort=name`, `sort=-name`.', { default: false }),
    search: Type.Optional(flag('Its words find a document, as those of the description do. Only with type `string`.')),
    multiple: Type.Optional(
      flag(`May have up to ${MAX_LIST_VALUES} values: a filter looks for one of them, a facet counts each.`),
    ),
    separator: Type.Optional(text('With `multiple`: the text between the values in one cell.', { maxLength: 8 })),
    format: Type.Optional(
      choice(
        [...NUMBER_FORMATS, ...DAY_FORMATS],
        'How a catalogue file writes its numbers, or its days; without it, a value that two formats would read differently is refused.',
      ),
    ),
    label: Type.Optional(text('Label on the search page, instead of one made from the name.', { maxLength: 80 })),
    currency: Type.Optional(
      text(
        'Currency of the amount, shown on the search page; an attribute `currency` of the document takes precedence.',
        {
          pattern: '^[A-Z]{3}$',
          'x-allowed': 'an ISO 4217 code such as EUR or RUB',
        },
      ),
    ),
  },
  closed('An attribute of the documents of this domain.'),
);

const FIELD_PATTERN = '^[a-z][a-z0-9_]{0,30}$';

const catalogue = Type.Object(
  {
    preset: Type.Optional(
      choice(PRESET_NAMES, 'Form of the file, where neither its header nor its root element tells it.'),
    ),
    encoding: Type.Optional(
      text('Encoding of a file that does not name its own, such as windows-1251; UTF-8 without it.'),
    ),
    columns: Type.Record(Type.String({ pattern: FIELD_PATTERN }), text('A column, as the header has it.'), {
      default: {},
      description:
        'Columns by `id`, `title`, `description` or the attribute that they are, where their names do not tell.',
      'x-allowed': 'id, title, description, or an attribute name',
    }),
    raw: Type.Array(text('A field.', { pattern: FIELD_PATTERN }), {
      default: [],
      description: 'Fields whose HTML is kept as it is; in all others markup is removed and entities are decoded.',
    }),
  },
  section('How `serpcache index` reads a catalogue file.'),
);

const contextParameter = Type.Object(
  {
    source: choice(['query', 'header'], 'Part of the request that carries it.'),
    values: Type.Array(text('An allowed value.', { maxLength: 64 }), {
      minItems: 1,
      maxItems: 256,
      description:
        'All allowed values; the first is the default. The list is closed so that no client can split the cache.',
    }),
  },
  closed('A parameter or header that changes the answer; part of the cache key.'),
);

const freshness = Type.Object(
  {
    ttl: duration('Time for which a page is fresh. A shorter value applies to stored pages at once.', {
      default: '5m',
      min: 1 * SECOND,
      max: 30 * DAY,
    }),
    staleWhileRevalidate: duration('Time after `ttl` in which a page is served while one refresh runs.', {
      default: '1m',
      min: 0,
      max: 30 * DAY,
    }),
    staleIfError: duration('Time after `ttl` in which a page is served when the engine fails.', {
      default: '1h',
      min: 0,
      max: 30 * DAY,
    }),
    emptyTtl: duration('Replaces `ttl` for pages without results.', { default: '30s', min: 0, max: DAY }),
    degradedTtl: duration('Replaces `ttl` for partial pages, which are kept in L1 only.', {
      default: '5s',
      min: 0,
      max: HOUR,
    }),
    clientMaxAge: Type.Optional(
      duration(
        'Upper bound of `max-age` − `Age`, `stale-while-revalidate` and `stale-if-error` in answers: it bounds how long caches downstream keep a purged page.',
        { min: 0, max: DAY, words: '30s, with `changes` 1s' },
      ),
    ),
    jitter: fraction(
      'The fresh time of each page is varied at random by ± this share, so that pages stored together do not expire together.',
      { default: 0.1, minimum: 0, maximum: 0.5 },
    ),
  },
  section('Lifetimes of pages.'),
);

const changes = Type.Object(
  {
    memory: size(
      'Memory of the latest changes, about 800,000 documents in 16 MiB. Older pages than it knows count as changed.',
      {
        default: '16MiB',
        min: 1 * MIB,
        max: 1 * GIB,
      },
    ),
    onChange: choice(
      ['stale', 'miss'],
      'A page with a changed document: served once more while it is refreshed, or computed again first. One with a deleted document is never served.',
      { default: 'stale' },
    ),
    engineLag: duration(
      'Time after which the engine answers with a change at the latest; pages from within it are judged again.',
      {
        default: '0s',
        min: 0,
        max: 10 * MINUTE,
      },
    ),
    untilRotation: flag(
      'The engine answers with a change after its next rotation only: until then deleted documents are left out of its pages. `engineLag` is then the time in which its index is made.',
      { default: false },
    ),
    audit: integer('One hit in so many is compared with the engine, while it has permits to spare; 0 turns it off.', {
      default: 1000,
      minimum: 0,
      maximum: 1_000_000_000,
    }),
    stream: Type.Optional(
      Type.Object(
        {
          key: text('Name of the stream.', { maxLength: 512 }),
          from: Type.Optional(
            choice(['control', 'store'], 'The server of the stream: the control store, or the store of this domain.', {
              'x-default': 'the control store where there is one',
            }),
          ),
        },
        closed('A Redis Stream that another program fills with changes.'),
      ),
    ),
  },
  closed(
    'The feed of changes: pages are right within a second of a change of a document. Without this section it is off.',
  ),
);

const domain = Type.Object(
  {
    memory: Type.Object(
      {
        maxBytes: Type.Optional(
          size("This domain's share of `memory.maxBytes`.", {
            min: 1 * MIB,
            max: 64 * GIB,
            words: 'an equal share of what the other domains leave',
          }),
        ),
        emptyMaxBytes: Type.Optional(
          size('Part of it reserved for pages without results, so that they never evict pages with results.', {
            min: 64 * KIB,
            max: 64 * GIB,
            words: 'a sixteenth of `maxBytes`',
          }),
        ),
      },
      section('L1 of this domain.'),
    ),
    store,
    candidates,
    engine,
    freshness,
    changes: Type.Optional(changes),
    catalogue,
    attributes: Type.Record(Type.String({ pattern: FIELD_PATTERN }), attribute, {
      maxProperties: 64,
      default: {},
      description: 'Attributes for filters, facets and sort orders, by name.',
      'x-allowed': 'an attribute name: a lower-case letter, then letters, digits and _, 31 at most',
    }),
    context: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,62}$' }), contextParameter, {
      maxProperties: 8,
      default: {},
      description: 'Further parameters and headers that change the answer, by name.',
      'x-allowed': 'a lower-case letter, then letters, digits, _ and -, 63 at most',
    }),
    patience: Type.Optional(
      duration(
        'Maximum time that a client waits in all. A burst that the engine clears within it is answered, not refused.',
        { min: 1, max: MINUTE, words: "2s, or the engine's `deadline` where that is longer" },
      ),
    ),
    maxLeaseWaiters: integer(
      "Maximum number of searches of this process that wait for another process's page; further ones are shed.",
      { default: 256, minimum: 1, maximum: 10_000 },
    ),
    popularity: Type.Object(
      {
        maxQueries: integer('Number of queries tracked.', { default: 1000, minimum: 10, maximum: 100_000 }),
        halfLife: duration('Half-life of a count: after this time without a search, a query counts half.', {
          default: '10m',
          min: 1 * SECOND,
          max: 30 * DAY,
        }),
      },
      section(
        'The most frequent queries: refreshed before they turn stale, and written back first to a store that lost its data.',
      ),
    ),
    backfillPerSecond: integer(
      'Rate, in entries per second, at which L1 is written back to a store node that lost its data; 0 turns it off.',
      { default: 2000, minimum: 0, maximum: 100_000 },
    ),
    lifeboat: Type.Optional(lifeboat),
    maxEntryBytes: size(
      'Maximum size of an entry. A larger one is served, counted and not stored; a larger value in the store is a miss.',
      { default: '512KiB', min: 1 * KIB, max: 64 * MIB },
    ),
  },
  closed('A domain: its engine, its store and its policy.'),
);

/**
 * The schema of the configuration. Reading, defaults, the JSON Schema for editors and the reference page are all
 * derived from it. A field with a `default` (or an `x-default`, a default in words) may be left out; `Config` has it
 * filled in.
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
    doctor: doctorSection,
    tracing,
    domains: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' }), domain, {
      minProperties: 1,
      maxProperties: 64,
      description: 'The domains, by name; the first is the default of `/search`.',
      'x-default': 'four demo domains in embedded indexes under `data`, without stores',
      'x-allowed': 'a domain name: a lower-case letter, then letters, digits and -, 31 at most',
    }),
  },
  closed('Configuration of serpcache. Top-level names that start with x- are ignored; they are for YAML anchors.'),
);

/** The configuration with defaults applied and units converted; only settings without a fixed default are optional. */
export type Config = Decoded<typeof configShape>;
export type DomainConfig = Config['domains'][string];

/**
 * `T` with undefined in place of faulty values, for the checks across fields. A union keeps its `kind`, which tells its
 * member.
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

export type NamedStore = ReturnType<typeof namedStores>[number];

/** Every store that the process connects to, or may connect to. `owner`: a domain's name, `control` or `counters`. */
export function namedStores(config: Draft<Config>) {
  const all = [
    ...Object.entries(config.domains ?? {}).flatMap(([name, domain]) => [
      { path: ['domains', name, 'store'], owner: name, candidate: false, store: domain?.store },
      ...Object.entries(domain?.candidates ?? {}).map(([candidate, store]) => ({
        path: ['domains', name, 'candidates', candidate],
        owner: name,
        candidate: true,
        store,
      })),
    ]),
    { path: ['control'], owner: 'control', candidate: false, store: config.control },
    { path: ['counters'], owner: 'counters', candidate: false, store: config.counters },
  ];
  return all.flatMap(({ store, ...named }) =>
    store === undefined || store.kind === 'none' ? [] : [{ ...named, store }],
  );
}
