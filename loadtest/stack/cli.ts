/**
 * `npm run stack -- up|status|down|start|stop|kill|pause|resume|restart`: every part of a deployment on loopback. The
 * parts outlive this command; see plan.ts for what they are and owned.ts for how they are found again.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ConfigError } from '../../src/config/faults.ts';
import { signalOwned } from './owned.ts';
import { MAX_REPLICAS, type PartPlan, partsOf, readPlan, type StackPlan } from './plan.ts';
import { down, endReplicas, processesOf, startPart, stopPart, up } from './stack.ts';
import { statusTable, urls } from './status.ts';

const USAGE = `npm run stack -- <command>
  up [--replicas n] [--engine e]
                  start what is not running: a Redis and a Valkey cluster of three, a control store, searchd with its
                  indexes (of sphinx or manticore; as before, or sphinx), and n processes of serpcache (one, or as many
                  as before)
  status          every part, whether it runs, and where; exit status 1 when one does not
  down            end everything and remove what it wrote
  start <part>…   goods-1, searchd, serpcache, …; also restart, stop (SIGTERM), kill (SIGKILL),
                  pause (SIGSTOP: accepts connections, answers nothing) and resume
Ports: deploy/local.yaml (deploy/local-demo.yaml without the corpora); PORT and ADMIN_PORT for serpcache alone
(further replicas listen 10, 20, … above).`;

const COMMANDS = ['up', 'status', 'down', 'start', 'stop', 'restart', 'kill', 'pause', 'resume'];
const LOCKED = '--locked';

const given = process.argv.slice(2);
const { values, positionals } = parseArgs({
  args: given.filter((argument) => argument !== LOCKED),
  options: { replicas: { type: 'string' }, engine: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
  strict: false,
});
const [command = '', ...names] = positionals;

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof Error;
  console.error(known ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  if (!COMMANDS.includes(command)) {
    console.error(USAGE);
    return command === '' || command === 'help' ? 0 : 64;
  }
  if (process.platform !== 'linux') throw new Error('the local stack needs Linux: it finds its servers in /proc');
  const replicas = wantedReplicas(values.replicas);
  const plan = readPlan(process.env, replicas, wantedEngine(values.engine));
  if (command === 'status') return status(plan);
  // Two commands at once would start the same part twice; flock is on every Linux, and is let go however it ends.
  if (!given.includes(LOCKED)) {
    const again = ['--close', import.meta.filename, process.execPath, import.meta.filename, LOCKED, ...given];
    return spawnSync('flock', again, { stdio: 'inherit' }).status ?? 1;
  }
  if (command === 'up') {
    if (replicas !== undefined) await endReplicas(readPlan(process.env, MAX_REPLICAS).replicas.slice(replicas));
    await up(plan, say);
    return status(plan);
  }
  if (command === 'down') {
    await down(plan);
    return 0;
  }
  for (const part of chosenParts(plan)) await act(plan, part);
  return 0;
}

async function act(plan: StackPlan, part: PartPlan): Promise<void> {
  if (command === 'stop' || command === 'restart') await stopPart(part);
  if (command === 'start' || command === 'restart') await startPart(plan, part, say);
  if (command === 'kill') await stopPart(part, 0);
  if (command === 'pause') signalOwned(processesOf(part), 'SIGSTOP');
  if (command === 'resume') signalOwned(processesOf(part), 'SIGCONT');
}

function wantedReplicas(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (command === 'up' && Number.isInteger(count) && count >= 1 && count <= MAX_REPLICAS) return count;
  throw new Error(`--replicas goes with \`up\` and takes a number from 1 to ${MAX_REPLICAS}, not ${text}`);
}

function wantedEngine(text: unknown): string | undefined {
  if (text === undefined || (command === 'up' && (text === 'sphinx' || text === 'manticore'))) return text;
  throw new Error(`--engine goes with \`up\` and takes sphinx or manticore, not ${text}`);
}

function chosenParts(plan: StackPlan): readonly PartPlan[] {
  const parts = partsOf(plan);
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (names.length === 0 || unknown.length > 0) {
    const known = parts.map((part) => part.name).join(', ');
    throw new Error(
      `${command} what? ${unknown.length > 0 ? `No part is called ${unknown.join(', ')}. ` : ''}There are ${known}.`,
    );
  }
  return names.flatMap((name) => parts.filter((part) => part.name === name));
}

function status(plan: StackPlan): number {
  const { text, allRunning } = statusTable(plan);
  console.log(text);
  if (allRunning) console.log(`\n${urls(plan)}`);
  return allRunning ? 0 : 1;
}

function say(text: string): void {
  console.log(text);
}
