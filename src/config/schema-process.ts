import Type from 'typebox';
import {
  choice,
  closed,
  duration,
  flag,
  fraction,
  GIB,
  host,
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
import { listenerTls } from './schema-engine.ts';

const port = (description: string, env: string, byDefault: number) =>
  integer(description, { minimum: 0, maximum: 65_535, default: byDefault, 'x-env': env });

export const publicListener = Type.Object(
  {
    host: host('Address the public listener binds.', { default: '127.0.0.1', 'x-env': 'HOST' }),
    port: port('Its port; 0 picks a free one.', 'PORT', 8080),
    // 256 four-byte characters percent-encoded are 3 KiB; as much again for filters, and still below the 8 KiB at
    // which proxies commonly stop.
    maxUrlBytes: size('Longest request target accepted.', { default: '6KiB', min: 1 * KIB, max: 16 * KIB }),
    // 50 searches of /msearch, each with the longest query and a few KiB of filters. Reading 1 MiB holds the event loop
    // for 7 ms at worst, 4 MiB for 28.
    maxBodyBytes: size('Largest request body accepted.', { default: '256KiB', min: 1 * KIB, max: 1 * MIB }),
    maxConnections: integer('Client connections held at once; more are refused.', {
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
    }),
    // Each holds a request, a timer and perhaps a place in a queue, about 5 KB.
    maxInFlight: integer('Searches waiting for a store or an engine at once; more are shed, pages in memory are not.', {
      default: 4000,
      minimum: 1,
      maximum: 1_000_000,
    }),
    maxLoopDelay: duration('While the event loop is later than this, only pages in memory are served, and as JSON.', {
      default: '250ms',
      min: 20,
      max: MINUTE,
    }),
    trustedProxies: Type.Array(
      text('An address or a network such as 10.0.0.0/8.', { maxLength: 64, 'x-allowed': 'an IP address or a CIDR' }),
      { default: [], maxItems: 64, description: 'Whose X-Forwarded-For is believed when clients are told apart.' },
    ),
    clientHeader: optional(
      text(
        'Header that names a client, such as x-api-key, believed from `trustedProxies` only; without it clients are told apart by address.',
        {
          pattern: '^[A-Za-z][A-Za-z0-9-]{0,62}$',
          'x-allowed': 'a header name',
        },
      ),
    ),
    missBudget: Type.Optional(
      Type.Object(
        {
          perMinute: integer('Engine calls one client may cause in a minute, in the long run.', {
            default: 600,
            minimum: 1,
            maximum: 1_000_000,
          }),
          burst: integer('And at once, after a quiet time.', { default: 200, minimum: 1, maximum: 1_000_000 }),
          maxClients: integer('Clients remembered; the longest quiet one is forgotten.', {
            default: 10_000,
            minimum: 1,
            maximum: 1_000_000,
          }),
        },
        closed('What one client may cost the engines. Hits are free. Behind a proxy, set `trustedProxies` first.'),
      ),
    ),
    drain: duration('From SIGTERM: how long requests in flight may take before their connections are cut.', {
      default: '4s',
      min: 0,
      max: MINUTE,
    }),
  },
  section('The listener clients use.'),
);

/** The command runs on every Node that can run this, and on those of older machines. */
export const TOKEN_ALLOWED =
  '20 to 512 printable ASCII characters without spaces, at least 8 different ones; this makes one: ' +
  `node -p "require('crypto').randomBytes(24).toString('base64url')"`;

export const adminListener = Type.Object(
  {
    host: host('Address the admin listener binds. Anything but loopback requires a token, and should have `tls`.', {
      default: '127.0.0.1',
      'x-env': 'ADMIN_HOST',
    }),
    port: port('Its port; 0 picks a free one.', 'ADMIN_PORT', 8081),
    token: optional(
      text('Bearer token of all but /metrics, /healthz, console and description. Without it changes answer 403.', {
        minLength: 20,
        maxLength: 512,
        pattern: '^[!-~]+$',
        'x-allowed': TOKEN_ALLOWED,
        'x-env': 'ADMIN_TOKEN',
        'x-secret': true,
      }),
    ),
    tls: Type.Optional(listenerTls),
    hosts: Type.Array(
      text('A host name without its port, such as serpcache.internal.', {
        maxLength: 253,
        pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$',
        'x-allowed': 'a host name',
      }),
      {
        default: [],
        maxItems: 64,
        description:
          'Names that may stand in Host beside addresses and localhost. Checked on every route, `/metrics` too, while there is no token, and with one once names are given.',
      },
    ),
  },
  section('The listener operators use.'),
);

export const log = Type.Object(
  {
    level: choice(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'Least severe level that is written.',
      { default: 'info', 'x-env': 'LOG_LEVEL' },
    ),
    hitSample: fraction('Share of hits that get a log line; everything else always does.', {
      default: 0.01,
      minimum: 0,
      maximum: 1,
    }),
  },
  section('What is written to standard output.'),
);

export const memory = Type.Object(
  {
    maxBytes: size('L1 of the whole process, all domains together.', {
      default: '256MiB',
      min: 1 * MIB,
      max: 64 * GIB,
    }),
  },
  section('The memory tier (L1).'),
);

export const compression = Type.Object(
  {
    coding: choice(['identity', 'gzip', 'zstd'], 'How pages are stored, and sent to clients that accept it.', {
      // Every client in use accepts gzip, so a stored page passes through untouched.
      default: 'gzip',
    }),
    // A body that fits one packet arrives no sooner for being smaller.
    minBytes: size('Smaller bodies are stored as they are.', { default: '1KiB', min: 0, max: 1 * MIB }),
  },
  section('Compression of stored pages.'),
);

const signingKey = (description: string, env: string) =>
  optional(
    text(description, {
      minLength: 32,
      maxLength: 512,
      pattern: '^[!-~]+$',
      'x-allowed': '32 to 512 printable ASCII characters without spaces; `openssl rand -hex 32` makes one',
      'x-env': env,
      'x-secret': true,
    }),
  );

export const signing = Type.Object(
  {
    key: signingKey(
      'Signs pages, control documents and reports in the stores; the same in every process. Without it nothing is signed.',
      'SIGNING_KEY',
    ),
    previousKey: signingKey(
      'Verifies only. To replace a key: set the new one here everywhere, then exchange the two, then leave the old one out once every page signed with it has lapsed.',
      'SIGNING_KEY_PREVIOUS',
    ),
    acceptUnsigned: flag(
      'Believes what carries no signature. To introduce a key: set it with `true` in every process, wait until the pages stored before have lapsed, then set `false`.',
      { default: false },
    ),
  },
  section(
    'Signatures, so that whoever can write to a store cannot plant what this service believes. For shared stores.',
  ),
);

export const drills = Type.Object(
  {
    directory: text('Where journals and reports of drills are kept; made at the first drill.', {
      default: 'data/drills',
    }),
    keep: integer('Reports kept; the oldest go.', { default: 200, minimum: 1, maximum: 10_000 }),
    lease: duration(
      'A drill whose owner has not been heard for so long is over in every process, and the cache back.',
      {
        default: '3s',
        min: 1 * SECOND,
        max: MINUTE,
      },
    ),
  },
  section('Drills.'),
);

export const audit = Type.Object(
  {
    file: text('Append-only file with one line per change an operator asked for.', { default: 'data/audit.ndjson' }),
    maxBytes: size('A file of this size is moved away, as `audit.ndjson.000001-…`, and a new one begun.', {
      default: '16MiB',
      min: 64 * KIB,
      max: 1 * GIB,
    }),
    keep: integer('Files moved away that are kept; the oldest go.', { default: 16, minimum: 1, maximum: 1000 }),
  },
  section('The audit.'),
);
