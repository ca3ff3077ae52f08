import type { Command, CommandGroup } from './command.ts';
import { config, sphinxSource } from './config.ts';
import { drill } from './drill.ts';
import { explain, popular } from './explain.ts';
import { flush, halt, purge, suppress } from './flush.ts';
import { indexCatalogue } from './index-catalogue.ts';
import { parity } from './parity.ts';
import { warm } from './warm.ts';

/** Every command, in the order of the help: what operators do to a running service, then what is done beside it. */
export const COMMANDS: readonly (Command | CommandGroup)[] = [
  flush,
  purge,
  suppress,
  drill,
  halt,
  warm,
  explain,
  popular,
  indexCatalogue,
  sphinxSource,
  parity,
  config,
];
