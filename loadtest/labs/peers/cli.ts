/** `npm run peers`: the same page and the same stampede, served by what people use instead of serpcache. See README.md. */
import { join } from 'node:path';
import { labCommand } from '../kit/command.ts';
import { peers } from './peers.ts';

// When it is stopped while a server starts, it does not wait: the server ends with this process.
const status = await labCommand({
  program: 'peers',
  about: 'The same cached page, the same stampede and the same dead engine, served by each.',
  experiments: { peers },
  comparing: [],
  page: join(import.meta.dirname, 'README.md'),
  programs: ['node', 'nginx', 'varnishd', 'redis-server', 'searchd'],
});
process.exit(status);
