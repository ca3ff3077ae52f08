import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { wrkReport } from '../http-driver/wrk.ts';
import type { HeadFields } from '../traffic/proxy-heads.ts';
import type { BenchCores } from './processes.ts';

const run = promisify(execFile);

/**
 * The requests of a closed loop. In headers, body and targets `{n}` is a number of this request alone in 16 hexadecimal digits, `{d}`
 * the same in decimal digits, `{ip}` the same as an address.
 */
export interface Load {
  /** Asked for in turn. */
  readonly targets: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields, in turn: one list for each request. */
  readonly heads?: readonly HeadFields[];
  /** Makes every request a POST of this JSON. */
  readonly body?: string;
  /** One in `every` requests is for another target: `{ target: '/healthz', every: 100 }`. */
  readonly others?: { readonly target: string; readonly every: number };
  /** 64 when absent. */
  readonly connections?: number;
  /** The index of the target that comes first; any when absent. */
  readonly from?: number;
}

export interface Generator {
  /** For scripts. */
  readonly folder: string;
  readonly cores: BenchCores;
}

const CONNECTIONS = 64;
/** A number of a load is used once in all runs. No price of the demo reaches the first, and 2,000 runs stay below 2³². */
const FIRST_NUMBER = 90_000_000;
const NUMBERS_PER_RUN = 2_000_000;
let runs = 0;

/**
 * One bounded run of wrk, pinned. @returns the number of requests. @throws when one failed: figures with errors are void.
 */
export async function drive(url: string, load: Load, seconds: number, generator: Generator): Promise<number> {
  const { folder, cores } = generator;
  const [script, list] = [join(folder, 'load.lua'), join(folder, 'targets.txt')];
  const firstNumber = FIRST_NUMBER + runs * NUMBERS_PER_RUN;
  runs += 1;
  writeFileSync(list, `${load.targets.join('\n')}\n`);
  writeFileSync(script, scriptOf(load, { host: new URL(url).host, list, firstNumber, random: Math.random }));
  const options = ['-t1', `-c${load.connections ?? CONNECTIONS}`, `-d${seconds}s`, '-s', script, url];
  const timeout = (seconds + 20) * 1000;
  const { stdout } = await run('taskset', ['-c', `${cores.client}`, 'wrk', ...options], { timeout });
  const { requests, errors } = wrkReport(stdout);
  if (requests === 0) throw new Error(`${url} answered nothing`);
  if (errors > 0) throw new Error(`${errors} errors of ${requests} requests to ${url}`);
  return requests;
}

interface ScriptOptions {
  readonly host: string;
  /** A file with a target in each line: a Lua function holds at most 65,536 constants. */
  readonly list: string;
  readonly firstNumber: number;
  readonly random: () => number;
}

/**
 * Requests that are written once and kept. LuaJIT hashes a long string by a dozen of its bytes: to keep 10⁵ requests that
 * differ elsewhere takes a client longer than its servers need to answer them.
 */
const MAX_KEPT = 1000;

export function scriptOf(load: Load, options: ScriptOptions): string {
  const { targets, headers = {}, heads = [[]], body, others, from } = load;
  const { host, list, firstNumber, random } = options;
  const textOf = (target: string, head: HeadFields = []): string => {
    const method = body === undefined ? 'GET' : 'POST';
    const type =
      body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` };
    const fields = [...Object.entries({ Host: host, ...type, ...headers }), ...head];
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
  };
  const isWrittenEachTime = targets.length > MAX_KEPT || /\{(?:n|d|ip)\}/.test([textOf(''), ...targets].join(''));
  const start = from ?? Math.floor(random() * targets.length);
  const next = isWrittenEachTime ? 'texts[kind]()' : 'made[kind * count + at] or keep(texts[kind]())';
  // Strings that are no longer used slow the next ones down, too.
  const collect = targets.length > MAX_KEPT ? '  if n % 4096 == 0 then collectgarbage() end\n' : '';
  const other = others === undefined ? '' : `  if n % ${others.every} == 0 then return other() end\n`;
  // A target with a number is part of the expression, since the list holds plain text.
  const target = isWrittenEachTime && targets.length === 1 ? (targets[0] ?? '') : '{t}';
  const texts = heads.map((head) => `  function() return ${expressionOf(textOf(target, head))} end,\n`);
  return `local targets, made, count = {}, {}, 0
for line in io.lines(${quoted(list)}) do count = count + 1; targets[count] = line end
local at, n, kind = ${start}, ${firstNumber}, 0
local function hex() return string.format("%016x", n) end
local function address()
  return string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
end
local texts = {
${texts.join('')}}
local function other() return ${expressionOf(textOf(others?.target ?? ''))} end
local function keep(one) made[kind * count + at] = one; return one end
function request()
  at = at % count + 1
  kind = kind % ${heads.length} + 1
  n = n + 1
${collect}${other}  return ${next}
end
`;
}

const PARTS: Readonly<Record<string, string>> = { n: 'hex()', d: 'n', ip: 'address()', t: 'targets[at]' };

function expressionOf(text: string): string {
  const parts = text.split(/\{(n|d|ip|t)\}/);
  return parts.map((part, at) => (at % 2 === 1 ? (PARTS[part] ?? '') : quoted(part))).join(' .. ');
}

/** A Lua string of the text as UTF-8, in which special characters are escapes. */
function quoted(text: string): string {
  const bytes = Array.from(Buffer.from(text), (byte) => {
    const one = String.fromCharCode(byte);
    return /[\w ./:;,=&?%+{}()[\]-]/.test(one) ? one : `\\${String(byte).padStart(3, '0')}`;
  });
  return `"${bytes.join('')}"`;
}
