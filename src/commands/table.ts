import type { Command, CommandGroup } from './command.ts';
import { config } from './config.ts';
import { drill } from './drill.ts';
import { explain } from './explain.ts';
import { flush } from './flush.ts';
import { halt } from './halt.ts';
import { indexCatalogue } from './index-catalogue.ts';
import { parity } from './parity.ts';
import { popular } from './popular.ts';
import { purge } from './purge.ts';
import { sphinxSource } from './sphinx-source.ts';
import { suppress } from './suppress.ts';
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
