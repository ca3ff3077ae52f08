import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { columns } from '../../src/commands/terminal.ts';
import { MAX_REPLICAS, type PartPlan, partsOf, readPlan, type StackPlan, TOKEN_FILE } from './plan.ts';
import { ageMs, findOwned, signalOwned } from './process.ts';
import { processFile, residentBytesIn } from './processors.ts';
import { down, endReplicas, startPart, stopPart, up } from './stack.ts';

/**
 * `npm run stack -- up|status|down|start|stop|kill|pause|resume|restart`: every part of a deployment on loopback. The
 * parts outlive this command; plan.ts describes them, and `findOwned` of process.ts finds them again.
 */

const ENGINES = ['sphinx', 'manticore'];
const COMMANDS = ['up', 'status', 'down', 'start', 'stop', 'restart', 'kill', 'pause', 'resume'];
const LOCKED = '--locked';

const PROGRAM: Program = {
  command: 'npm run stack --',
  usage: `${COMMANDS.join('|')} [part…]`,
  about: [
    '',
    '  up              start what is not running: a Redis and a Valkey cluster of three, a control store, searchd with its',
    '                  indexes (of Sphinx, or as before), and processes of serpcache (one, or as many as before)',
    '  status          every part, whether it runs, and where; exit status 1 when one does not',
    '  down            end everything and remove what it wrote',
    '  start <part>…   goods-1, searchd, serpcache, …; also restart, stop (SIGTERM), kill (SIGKILL),',
    '                  pause (SIGSTOP: accepts connections, answers nothing) and resume',
    '',
    'Ports: deploy/local.yaml (deploy/local-demo.yaml without the corpora); PORT and ADMIN_PORT for serpcache alone',
    '(further replicas listen 10, 20, … above); PROMETHEUS_PORT (9090).',
  ],
  options: [
    { name: 'replicas', takes: 'N', about: `with up: processes of serpcache, 1 to ${MAX_REPLICAS}` },
    { name: 'engine', takes: 'E', about: `with up: ${ENGINES.join(' or ')}` },
    { name: 'prometheus', about: 'with up: a Prometheus too, with the rules of deploy/prometheus' },
  ],
  takes: { min: 1, max: 64 },
};

const given = process.argv.slice(2);
const words = given.filter((argument) => argument !== LOCKED);
process.exitCode = await runProgram(PROGRAM, main, words.length === 0 ? ['--help'] : words);

async function main({ positionals: [command = '', ...names], number, text, has }: ParsedArguments): Promise<number> {
  if (!COMMANDS.includes(command)) throw new UsageError(`no command "${command}"; allowed: ${COMMANDS.join(', ')}`);
  const replicas = number('replicas', { least: 1, most: MAX_REPLICAS, whole: true });
  const engine = text('engine');
  if (command !== 'up') {
    if (replicas !== undefined) throw new UsageError('--replicas goes with up');
    if (engine !== undefined) throw new UsageError('--engine goes with up');
    if (has('prometheus')) throw new UsageError('--prometheus goes with up');
  }
  if (engine !== undefined && !ENGINES.includes(engine))
    throw new UsageError(`--engine takes ${ENGINES.join(' or ')}, not "${engine}"`);
  if (process.platform !== 'linux') throw new Error('the local stack needs Linux: it finds its servers in /proc');
  const plan = readPlan(process.env, replicas, engine, has('prometheus') || undefined);
  if (command === 'status') return status(plan);
  const parts = ['up', 'down'].includes(command) ? noParts(names) : chosenParts(plan, command, names);
  // Two commands at once would start the same part twice; flock is on every Linux, and is let go however it ends.
  if (!given.includes(LOCKED)) {
    const again = ['--close', import.meta.filename, process.execPath, import.meta.filename, LOCKED, ...given];
    return spawnSync('flock', again, { stdio: 'inherit' }).status ?? EXIT.notDone;
  }
  if (command === 'up') {
    if (replicas !== undefined) await endReplicas(readPlan(process.env, MAX_REPLICAS).replicas.slice(replicas));
    await up(plan, console.log);
    return status(plan);
  }
  if (command === 'down') await down(plan);
  for (const part of parts) await act(plan, command, part);
  return EXIT.passed;
}

async function act(plan: StackPlan, command: string, part: PartPlan): Promise<void> {
  if (command === 'stop' || command === 'restart') await stopPart(part);
  if (command === 'start' || command === 'restart') await startPart(plan, part, console.log);
  if (command === 'kill') await stopPart(part, 0);
  if (command === 'pause') signalOwned(findOwned(part), 'SIGSTOP');
  if (command === 'resume') signalOwned(findOwned(part), 'SIGCONT');
}

function noParts(names: readonly string[]): readonly PartPlan[] {
  if (names.length > 0) throw new UsageError(`"${names[0]}" is too much: up and down take no part`);
  return [];
}

function chosenParts(plan: StackPlan, command: string, names: readonly string[]): readonly PartPlan[] {
  const parts = partsOf(plan);
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (names.length === 0 || unknown.length > 0) {
    const known = parts.map((part) => part.name).join(', ');
    throw new UsageError(
      `${command} what? ${unknown.length > 0 ? `No part is called ${unknown.join(', ')}. ` : ''}There are ${known}.`,
    );
  }
  return names.flatMap((name) => parts.filter((part) => part.name === name));
}

/** Prints a line per part, columns aligned, and the addresses when all parts run. */
function status(plan: StackPlan): number {
  const rows = partsOf(plan).map((part) => {
    const [first, ...more] = findOwned(part);
    const log = relative(process.cwd(), part.logFile);
    if (first === undefined) return [part.name, 'stopped', '', String(part.port), '', '', log];
    const pids = [first, ...more].map(({ pid }) => pid).join(',');
    const memory = `${Math.round((residentBytesIn(processFile(first.pid, 'status')) ?? 0) / 2 ** 20)} MiB`;
    return [part.name, 'running', pids, String(part.port), shownAge(ageMs(first)), memory, log];
  });
  const head = ['PART', 'STATE', 'PID', 'PORT', 'AGE', 'MEMORY', 'LOG'];
  console.log(columns(rows, head));
  if (rows.some(([, state]) => state !== 'running')) return EXIT.failed;
  console.log(`\n${urls(plan)}`);
  return EXIT.passed;
}

function urls({ replicas: [first, ...others], prometheus }: StackPlan): string {
  if (first === undefined) return '';
  const open = `http://127.0.0.1:${first.port}`;
  const admin = `http://127.0.0.1:${first.adminPort}`;
  return [
    `search page   ${open}/`,
    `API           ${open}/search?q=laptop   (described at ${open}/docs)`,
    `metrics       ${admin}/metrics`,
    `console       ${admin}/ops   (token: in ${relative(process.cwd(), TOKEN_FILE)}, which commands take as --token-file)`,
    ...(prometheus === undefined ? [] : [`prometheus    http://127.0.0.1:${prometheus.port}/`]),
    ...others.map(({ name, port, adminPort }) => `${name}   http://127.0.0.1:${port}/, admin ${adminPort}`),
  ].join('\n');
}

function shownAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  return seconds < 3600
    ? `${Math.floor(seconds / 60)}m`
    : `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
