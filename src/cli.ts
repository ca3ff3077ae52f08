import { hostname } from 'node:os';
import { addAbortSignal } from 'node:stream';
import { askAt, call } from './commands/call.ts';
import { settingsOf } from './commands/demo.ts';
import { withHints } from './commands/terminal.ts';
import { CONFIG_VARIABLE } from './config/document.ts';
import { systemClock } from './runtime.ts';

/** `serpcache <command> …`. The exit statuses are in commands/arguments.ts. */
const { stdin, stdout, stderr, env } = process;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // `once`: a second signal ends the process at once.
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
}
// When the reader of the output is gone (`| head`, a closed terminal), the command is stopped too.
for (const output of [stdout, stderr]) output.on('error', (error) => stop.abort(error));

// The arguments are taken away, because `start` and `--serve` go on as the service, which has its own.
process.exitCode = await call(process.argv.splice(2), {
  clock: systemClock,
  input: () => addAbortSignal(stop.signal, stdin),
  stdout: stdout.isTTY ? withHints(stdout) : stdout,
  stderr: withHints(stderr),
  settings: (named) => settingsOf(env, { named }).settings,
  signal: stop.signal,
  serve: async (config) => {
    if (config !== undefined) env[CONFIG_VARIABLE] = config;
    await import('./main.ts');
  },
  operator: `${env['USER'] || 'operator'}@${hostname()}`,
  adminToken: env['ADMIN_TOKEN'] || undefined,
  storePassword: env['STORE_PASSWORD'] || undefined,
  ask:
    stdin.isTTY && stderr.isTTY
      ? (question: string) => askAt({ input: stdin, output: stderr }, question, stop.signal)
      : undefined,
});
