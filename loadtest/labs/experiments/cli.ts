/** `npm run experiments -- <name…|all>`: each lesson behind serpcache, checked on this machine. See README.md. */
import { join } from 'node:path';
import { processorsHere } from '../../stack/processors.ts';
import { labCommand } from '../kit/command.ts';
import { EXPERIMENTS } from './registry.ts';

// Whoever stopped it waits for no server that was just being started: those end with this process.
const status = await labCommand(
  {
    program: 'experiments',
    about: 'What others learned about caches the hard way, measured here beside what they published.',
    experiments: EXPERIMENTS,
    comparing: ['engines'],
    page: join(import.meta.dirname, 'README.md'),
    programs: ['redis-server', 'valkey-server'],
  },
  process.argv.slice(2),
  processorsHere(),
);
process.exit(status);
