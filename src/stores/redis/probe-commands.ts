/**
 * The commands that the doctor may send. All are answered without a change of data or settings; the expensive ones among
 * them (KEYS, MONITOR, DEBUG, SORT, OBJECT FREQ …) are left out, and a name that is not here is never sent.
 */

/** The commands that need no subcommand, and those of which only some subcommands are read-only. */
export const READ_ONLY: ReadonlyMap<string, readonly string[] | 'whole'> = new Map<string, readonly string[] | 'whole'>(
  [
    ...['PING', 'INFO', 'TIME', 'ROLE', 'DBSIZE', 'SCAN', 'TYPE', 'PTTL'].map((name) => [name, 'whole'] as const),
    ...['STRLEN', 'HLEN', 'LLEN', 'SCARD', 'ZCARD'].map((name) => [name, 'whole'] as const),
    ['SLOWLOG', ['GET', 'LEN']],
    ['LATENCY', ['LATEST', 'DOCTOR', 'HISTORY']],
    ['CLIENT', ['LIST']],
    ['MEMORY', ['STATS', 'DOCTOR', 'USAGE']],
    ['CONFIG', ['GET']],
    ['CLUSTER', ['INFO', 'NODES', 'SHARDS', 'SLOTS']],
    ['SENTINEL', ['MASTER', 'REPLICAS', 'SENTINELS']],
    ['ACL', ['WHOAMI']],
    ['COMMAND', ['COUNT']],
  ],
);

/** Commands whose reply depends on the database that the connection has selected. */
const OF_A_DATABASE = new Set(['DBSIZE', 'SCAN', 'TYPE', 'PTTL', 'STRLEN', 'HLEN', 'LLEN', 'SCARD', 'ZCARD', 'MEMORY']);

/** The settings that `--enable` changes; their values are whole numbers. */
const DIAGNOSTIC_SETTINGS = ['slowlog-log-slower-than', 'slowlog-max-len', 'latency-monitor-threshold'];

type Parts = readonly string[];

/** The reason why the doctor does not send the command; undefined when it does. */
export function refusalToSend([name = '', sub = '', ...rest]: Parts): string | undefined {
  const allowed = READ_ONLY.get(name.toUpperCase());
  const subcommand = sub.toUpperCase();
  if (allowed === undefined) return `the doctor does not send ${name.toUpperCase()}`;
  if (allowed !== 'whole' && !allowed.includes(subcommand)) {
    return `the doctor does not send ${name.toUpperCase()} ${subcommand}`;
  }
  // CONFIG GET * and CONFIG GET masterauth tell passwords in plain text.
  const isSecret = name.toUpperCase() === 'CONFIG' && !rest.every((directive) => isPlainDirective(directive));
  return isSecret ? 'the doctor asks for directives by name, and for none that holds a secret' : undefined;
}

function isPlainDirective(directive: string): boolean {
  return /^[a-z0-9-]+$/i.test(directive) && !/pass|auth$|user$/i.test(directive);
}

/** The reason why the command is no permitted change; undefined when it is one. */
export function refusalOfChange(command: Parts): string | undefined {
  const [name = '', sub = '', directive = '', value = ''] = command;
  const words = `${name} ${sub}`.toUpperCase();
  const isReset = (words === 'SLOWLOG RESET' || words === 'LATENCY RESET') && command.length === 2;
  const isSetting =
    words === 'CONFIG SET' &&
    command.length === 4 &&
    DIAGNOSTIC_SETTINGS.includes(directive.toLowerCase()) &&
    /^(?:-1|\d{1,12})$/.test(value);
  return isReset || isSetting ? undefined : `the doctor does not change anything by ${words}`;
}

export function needsDatabase([name = '', sub = '']: Parts): boolean {
  const command = name.toUpperCase();
  return OF_A_DATABASE.has(command) && (command !== 'MEMORY' || sub.toUpperCase() === 'USAGE');
}
