import { systemClock } from './clock.ts';
import { type Command, type CommandContext, UsageError } from './commands/command.ts';
import { config } from './commands/config.ts';
import { indexCatalogue } from './commands/index-catalogue.ts';
import { parity } from './commands/parity.ts';
import { sphinxSource } from './commands/sphinx-source.ts';
import { CONFIG_EXIT_CODE, ConfigError } from './config/faults.ts';
import { loadSettings } from './config/load.ts';

/** `serpcache <command> …`. Exit status: 0 done, 1 could not be done, 2 wrong words, 78 wrong configuration. */
const COMMANDS: readonly Command[] = [indexCatalogue, sphinxSource, parity, config];

async function main([name, ...args]: readonly string[]): Promise<number> {
  const asksHelp = name === undefined || ['help', '--help', '-h'].includes(name);
  const command = COMMANDS.find((each) => each.name === name);
  if (asksHelp || command === undefined || args.includes('--help')) {
    (asksHelp || command !== undefined ? process.stdout : process.stderr).write(help(command));
    return asksHelp || command !== undefined ? 0 : 2;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  const context: CommandContext = {
    clock: systemClock,
    stdout: process.stdout,
    stderr: process.stderr,
    settings: () => loadSettings({ env: process.env, cwd: process.cwd() }),
    signal: stop.signal,
  };
  try {
    await command.run(args, context);
    return 0;
  } catch (error) {
    return complain(error, command);
  }
}

function complain(error: unknown, command: Command): number {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return CONFIG_EXIT_CODE;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`serpcache ${command.name}: ${message}\n`);
  if (!(error instanceof UsageError || isUnknownOption(error))) return 1;
  process.stderr.write(`usage: serpcache ${command.name} ${command.usage}\n`);
  return 2;
}

/** node:util's parseArgs says so in its codes. */
function isUnknownOption(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function help(command: Command | undefined): string {
  const shown = command === undefined ? COMMANDS : [command];
  const lines = shown.map((each) => `  serpcache ${each.name} ${each.usage}\n      ${each.summary}\n`);
  return `usage:\n${lines.join('')}\nThe configuration is the file named by SERPCACHE_CONFIG, or the embedded demo.\n`;
}

process.exitCode = await main(process.argv.slice(2));
