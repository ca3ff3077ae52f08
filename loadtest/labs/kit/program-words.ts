import { spawn } from 'node:child_process';
import { hostname, tmpdir } from 'node:os';
import { basename, resolve } from 'node:path';
import { plainText } from './plain-text.ts';

/** How a program is asked, where it does not know `--version`. */
const ASKED: Readonly<Record<string, string>> = { nginx: '-v', varnishd: '-V', searchd: '--help' };
/** What its own words for itself are not. */
const NAMES: Readonly<Record<string, string>> = { nginx: 'nginx', varnishd: 'Varnish', node: 'Node' };
/** Numbers with a point, but no addresses and no times. */
const VERSION = /(?<![\d.:])(?!(?:\d+\.){3}\d)\d+\.\d\w*(?:\.\w+)*/;
/** `Redis server v=7.0.15`, `git version 2.39.5`, `dragonfly v1.27.1` */
const BETWEEN = /(?:[\s:=,(/-]|\b(?:server|version|v)\b|(?<=\s)v)+$/i;
const [LIMIT_MS, MOST_CHARACTERS, LONGEST] = [3000, 4000, 40];
/** Where Debian keeps servers that only root starts. */
const FOLDERS = '/usr/local/sbin:/usr/sbin';

/** `Redis 7.0.15`; undefined: missing, or it does not say. @param program a name, or the path of any program. */
export async function programWords(program: string): Promise<string | undefined> {
  // What runs this runs the rest as well, whatever another one in PATH may be.
  if (program === 'node') return `Node ${process.versions.node}`;
  const said = await answerOf(program, ASKED[basename(program)] ?? '--version');
  return versionWords(program, said);
}

/** The first line with a version in it, shortened; no path, no address and no name of a machine is in it. */
export function versionWords(program: string, said: string): string | undefined {
  const line =
    said
      .split('\n')
      .map(plainText)
      .find((one) => VERSION.test(one)) ?? '';
  const [version] = VERSION.exec(line) ?? [];
  if (version === undefined) return undefined;
  const before = line.slice(0, line.indexOf(version)).replace(BETWEEN, '');
  const isName = /^[a-z][\w+ -]*$/i.test(before) && !before.includes(hostname());
  const words = NAMES[basename(program)] ?? (isName ? before : basename(program));
  return `${words.slice(0, LONGEST)} ${version.slice(0, LONGEST)}`;
}

/** Whatever it says to one option within three seconds, on either stream, however it ends; '' when there is none. */
function answerOf(program: string, option: string): Promise<string> {
  return new Promise((answer) => {
    const path = program.includes('/') ? resolve(program) : program;
    let said = '';
    const child = spawn(path, [option], {
      // One that takes no notice of the option and starts leaves its files there.
      cwd: tmpdir(),
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${FOLDERS}`, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(0, MOST_CHARACTERS);
      });
    }
    child.once('error', () => answer(''));
    child.once('close', () => answer(said));
  });
}
