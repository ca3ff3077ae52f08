/**
 * `npm run experiments -- <name…|all>`: published statements about caches, checked on this machine. See README.md. Each
 * file of this folder that exports an experiment is one, called as the file.
 */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { labCommand } from '../kit/command.ts';
import type { Experiment } from '../kit/lab.ts';

const files = readdirSync(import.meta.dirname).filter(
  (file) => file.endsWith('.ts') && file !== basename(import.meta.filename),
);
const found = files.map(async (file): Promise<[string, Experiment][]> => {
  const exported: unknown[] = Object.values(await import(join(import.meta.dirname, file)));
  return exported.filter(isExperiment).map((experiment) => [basename(file, '.ts'), experiment]);
});

// Stopped while a server starts: the server ends with this process, so nothing waits for it.
const status = await labCommand({
  program: 'experiments',
  about: 'Published statements about caches, measured here beside the published figures.',
  experiments: Object.fromEntries((await Promise.all(found)).flat()),
  comparing: ['engines'],
  page: join(import.meta.dirname, 'README.md'),
  programs: ['redis-server', 'valkey-server'],
});
process.exit(status);

function isExperiment(value: unknown): value is Experiment {
  return typeof value === 'object' && value !== null && 'varies' in value && 'run' in value;
}
