import { configSchema } from '../config/json-schema.ts';
import { configReference } from '../config/reference.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';

/** Everything about the configuration comes from one table; this prints its faces. */
export const config: Command = {
  name: 'config',
  usage: 'check | schema | reference',
  summary: 'check the configuration, print its JSON Schema (for editors) or its reference page',
  options: [],
  takes: { min: 1, max: 1 },
  run: async ({ positionals: [what] }, { stdout, settings }) => {
    switch (what) {
      case 'check': {
        const names = settings().domains.map(({ name }) => name);
        stdout.write(`the configuration is right; domains: ${names.join(', ')}\n`);
        return;
      }
      case 'schema':
        stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
        return;
      case 'reference':
        stdout.write(configReference());
        return;
      default:
        throw new UsageError(`config takes check, schema or reference, not "${what}"`);
    }
  },
};
